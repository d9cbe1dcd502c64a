"""Texts and paths of a config, before validation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paprle.config.folders import expand_home
from paprle.config.layers import CommandLine
from paprle.contracts.validation.check import walk_fields
from paprle.contracts.validation.fields import FieldInfo, read_item
from paprle.contracts.validation.places import COMMAND_LINE, Places, look_up, put


def keep_texts(classes: Mapping[str, type[Any]], line: CommandLine) -> None:
    """Restore typed text where expected: ``record.task=2024``."""
    for key, text in line.texts.items():
        info = FieldInfo(classes[key[0]]) if key[0] in classes else None
        for part in key[1:]:
            info = None if info is None else read_item(info, part)
        if info is None or info.hint is not str:
            continue
        _, value = look_up(line.layer.tree, key)
        if not isinstance(value, str) and not (value is None and info.is_optional):
            put(line.layer.tree, key, text)


def make_absolute(
    cls: type[Any], data: Any, section: str, root: Path, places: Places
) -> None:
    """Make paths absolute in place, without resolving links.

    ``root`` is the base of the workspace's files and defaults; other files use their
    folder, the command line the working directory.
    """
    for key, info, value in list(walk_fields(FieldInfo(cls), data, (section,))):
        if info.unit != "path" or not isinstance(value, str) or not value:
            continue
        base = _find_base(places.of(key), root)
        holder: Any = data
        for part in key[1:-1]:
            holder = holder[int(part) if isinstance(holder, list) else part]
        last = int(key[-1]) if isinstance(holder, list) else key[-1]
        path = base / expand_home(value)
        holder[last] = str(path.parent.resolve() / path.name)


def _find_base(place: str, root: Path) -> Path:
    if place == COMMAND_LINE:
        return Path.cwd()
    return Path(place).parent if Path(place).is_absolute() else root
