"""A resolved config as text that people can read and paste back into a YAML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args, get_origin

from paprle.config import Resolved
from paprle.config.fields import FieldInfo, read_item, to_yaml
from paprle.config.layers import CORE, DEFAULT, TRIPLE

WIDTH = 34  # chosen: keys and values of most lines fit before the notes


def explain(resolved: Resolved) -> str:
    """Return every key with value, unit, bounds, meaning and where it came from."""
    titles = {
        "leader": _title(resolved.leader_name, resolved.leader_type),
        "follower": resolved.follower_name,
        "env": _title(resolved.env_name, resolved.env_type),
    }
    values = resolved.to_dict()
    lines: list[str] = []
    for section in (*TRIPLE, *CORE):
        cls = type(resolved.section(section))
        title = f"  # {titles[section]}" if section in titles else ""
        lines.append(f"{section}:{title}")
        sources = _Sources(resolved.sources)
        lines += _lines(FieldInfo(cls), values[section], section, sources, 1)
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


class _Sources:
    """Where a key came from; what no layer names is a default."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources

    def of(self, key: str) -> str:
        while key not in self._sources and "." in key:
            key = key.rpartition(".")[0]
        return self._sources.get(key, DEFAULT)


def _lines(
    info: FieldInfo, value: Any, key: str, sources: _Sources, depth: int
) -> Iterator[str]:
    for name, child in value.items():
        item = read_item(info, name) or FieldInfo(object)
        path, indent = f"{key}.{name}", "  " * depth
        if isinstance(child, dict) and child and _is_nested(item):
            yield f"{indent}{to_yaml(name)}:"
            yield from _lines(item, child, path, sources, depth + 1)
        else:
            head = f"{indent}{to_yaml(name)}: {to_yaml(child)}"
            notes = " · ".join(filter(None, (_notes(item), sources.of(path))))
            yield f"{head:<{WIDTH}}  # {notes}"


def _is_nested(info: FieldInfo) -> bool:
    """Return whether each key of it has a line: settings, and mappings."""
    return info.settings is not None or read_item(info, "") is not None


def _notes(info: FieldInfo) -> str:
    unit = f"[{info.unit}]" if info.unit else ""
    choices = get_args(info.hint) if get_origin(info.hint) is Literal else ()
    allowed = (*info.bounds, " | ".join(map(str, choices)))
    return " ".join(
        filter(None, (unit, ", ".join(filter(None, allowed)), info.meaning))
    )


def _title(name: str, plugin: str) -> str:
    return name if name == plugin else f"{name}, type {plugin}"
