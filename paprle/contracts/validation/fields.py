"""Metadata of settings fields."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, Unit, doc

from paprle.contracts.validation.places import Tree

_DocInfo = type(doc(""))

BOUNDS: Mapping[type, tuple[str, str]] = {
    Gt: ("gt", ">"),
    Ge: ("ge", "≥"),
    Lt: ("lt", "<"),
    Le: ("le", "≤"),
}
"""Bounds, by class: the attribute that holds the number, and the sign."""


@dataclass(frozen=True)
class FieldInfo:
    """Metadata of an annotation.

    Attributes:
        unit: Unit or empty; ``path`` for paths.
        bounds: Such as ``("> 0", "≤ 1")``.
    """

    hint: Any
    unit: str = ""
    bounds: tuple[str, ...] = ()
    meaning: str = ""
    is_optional: bool = False

    @property
    def settings(self) -> type[Any] | None:
        """Settings class of the field, if any."""
        is_class = isinstance(self.hint, type) and dataclasses.is_dataclass(self.hint)
        return self.hint if is_class else None


def read_fields(cls: Any) -> Mapping[str, FieldInfo]:
    """Return field metadata by name."""
    return _read_fields(cls)


@lru_cache(maxsize=256)
def _read_fields(cls: Any) -> Mapping[str, FieldInfo]:
    hints = _resolve_hints(cls)
    fields = dataclasses.fields(cls)
    return {find_key(cls, f.name): read_hint(hints[f.name]) for f in fields}


def _resolve_hints(cls: Any) -> dict[str, Any]:
    names = {f.name for f in dataclasses.fields(cls)}
    hints: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        own = inspect.get_annotations(base)  # where they are kept differs by version
        fields = types.SimpleNamespace(
            __annotations__={name: own[name] for name in own if name in names}
        )
        scope = vars(sys.modules[base.__module__])
        hints |= typing.get_type_hints(fields, scope, include_extras=True)
    return hints


def read_hint(hint: Any) -> FieldInfo:
    """Return the metadata of an annotation."""
    notes: list[Any] = []
    is_optional = False
    while True:
        union = members(hint)
        if get_origin(hint) is Annotated:
            hint, *more = get_args(hint)
            notes += more
        elif type(None) in union and len(union) == 2:
            is_optional = True
            hint = union[0] if union[1] is type(None) else union[1]
        else:
            break
    bounds = [f"{BOUNDS[type(n)][1]} {_bound(n):g}" for n in notes if type(n) in BOUNDS]
    units = [note.unit for note in notes if isinstance(note, Unit)]
    meanings = [note.documentation for note in notes if isinstance(note, _DocInfo)]
    return FieldInfo(
        hint=hint,
        unit=units[0] if units else "",
        bounds=tuple(bounds),
        meaning=meanings[0] if meanings else "",
        is_optional=is_optional,
    )


def read_item(info: FieldInfo, part: str | int) -> FieldInfo | None:
    """Return an item's metadata, with inherited unit."""
    origin, args = get_origin(info.hint), get_args(info.hint)
    if info.settings is not None:
        return read_fields(info.settings).get(str(part))
    if isinstance(part, str) and origin in {Mapping, dict}:
        item = read_hint(args[1])
    elif isinstance(part, int) and origin in {tuple, list, Sequence}:
        is_uniform = origin is not tuple or args[-1] is Ellipsis
        if not is_uniform and part >= len(args):
            return None
        item = read_hint(args[0 if is_uniform else part])
    else:
        return None
    return dataclasses.replace(item, unit=item.unit or info.unit)


def read_defaults(cls: type[Any]) -> Tree:
    """Return plain default values."""
    defaults: Tree = {}
    for f in dataclasses.fields(cls):
        if f.default is not dataclasses.MISSING:
            defaults[find_key(cls, f.name)] = to_plain(f.default)
        elif f.default_factory is not dataclasses.MISSING:
            defaults[find_key(cls, f.name)] = to_plain(f.default_factory())
    return defaults


def to_yaml(value: Any) -> str:
    """Return a plain value as a line of YAML."""
    if isinstance(value, str) and re.fullmatch(r"[A-Za-z_/][\w/.+-]*", value):
        is_word = value.lower() not in {"true", "false", "null", "n"}
        return value if is_word else json.dumps(value)
    if isinstance(value, list):
        return f"[{', '.join(map(to_yaml, value))}]"
    if isinstance(value, dict):
        return (
            f"{{{', '.join(f'{to_yaml(k)}: {to_yaml(v)}' for k, v in value.items())}}}"
        )
    return json.dumps(value, ensure_ascii=False)


def to_plain(settings: Any, fallback: Callable[[Any], Any] | None = None) -> Any:
    """Return settings as JSON values by file keys."""
    if dataclasses.is_dataclass(settings) and not isinstance(settings, type):
        cls = type(settings)
        names = [f.name for f in dataclasses.fields(cls)]
        pairs = {find_key(cls, name): getattr(settings, name) for name in names}
        return {key: to_plain(value, fallback) for key, value in pairs.items()}
    if isinstance(settings, Mapping):
        return {str(k): to_plain(value, fallback) for k, value in settings.items()}
    if isinstance(settings, (tuple, list)):
        return [to_plain(value, fallback) for value in settings]
    from pydantic_core import to_jsonable_python  # noqa: PLC0415 - slow to load

    return to_jsonable_python(settings, fallback=fallback)


def find_key(cls: Any, name: str) -> str:
    """Return a field's key in files."""
    config = getattr(cls, "__pydantic_config__", {})
    rename: Callable[[str], str] | None = config.get("alias_generator")
    return name if rename is None else rename(name)


def members(hint: Any) -> tuple[Any, ...]:
    """Return a union's members, if any."""
    return get_args(hint) if get_origin(hint) in {Union, types.UnionType} else ()


def _bound(note: Any) -> float:
    return float(getattr(note, BOUNDS[type(note)][0]))
