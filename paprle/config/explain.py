"""A resolved config as readable YAML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args, get_origin

from paprle.config import Resolved
from paprle.config.group import name_section
from paprle.config.layers import CORE, GROUP
from paprle.contracts.kit.leader_group import ALONE
from paprle.contracts.validation.fields import FieldInfo, read_item, to_plain, to_yaml
from paprle.contracts.validation.places import DEFAULT

WIDTH = 34  # chosen: keys and values of most lines fit before the notes


def explain(resolved: Resolved) -> str:
    """Return each key with value, unit, bounds, meaning and source."""
    titles = {
        "follower": resolved.follower_name,
        "env": _title(resolved.env_name, resolved.env_type),
    }
    sources = _Sources(resolved.sources)
    lines: list[str] = list(_explain_leaders(resolved, sources))
    for section in ("follower", "env", *CORE):
        title = f"  # {titles[section]}" if section in titles else ""
        lines += ["", f"{section}:{title}"]
        lines += _section(resolved.section(section), section, sources, 1)
    return "\n".join(lines).rstrip() + "\n"


def _explain_leaders(resolved: Resolved, sources: _Sources) -> Iterator[str]:
    if set(resolved.leaders) == {ALONE}:
        one = resolved.only_leader
        yield f"leader:  # {_title(one.name, one.type)}"
        yield from _section(one.config, name_section(ALONE), sources, 1)
        return
    yield f"{GROUP}:  # {resolved.leader_name}"
    for name, one in resolved.leaders.items():
        yield f"  {name}:  # {_title(one.name, one.type)}"
        yield f"    type: {one.name}"
        yield from _section(one.config, name_section(name), sources, 2)


def _section(settings: Any, key: str, sources: _Sources, depth: int) -> Iterator[str]:
    yield from _lines(
        FieldInfo(type(settings)), to_plain(settings), key, sources, depth
    )


class _Sources:
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
