"""Validation of plain data by pydantic in JSON's strict mode.

Lists stand for tuples and whole numbers for numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin

from paprle.contracts.errors import ConfigError, suggest
from paprle.contracts.validation.fields import (
    BOUNDS,
    FieldInfo,
    members,
    read_fields,
    read_item,
    to_plain,
)
from paprle.contracts.validation.places import Key, Layer, Places

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")

_TYPES: Mapping[str, str] = {
    "float_type": "a number",
    "finite_number": "a finite number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "string_type": "text",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping of keys to values",
    "mapping_type": "a mapping of keys to values",
    "dataclass_type": "a mapping of keys to values",
}


def validate(
    cls: type[T], data: Any, section: str, places: Places, problems: list[str]
) -> T | None:
    """Return a settings object, or None after reporting each mistake."""
    # a fifth of a second: a robot, an IK or a gate without settings needs none
    from pydantic import ValidationError  # noqa: PLC0415

    n_before = len(problems)
    root = FieldInfo(cls)
    problems += [
        f"{'.'.join(key)}: expected {_expected_literal(info)}, got {_show(value)} "
        f"({places.of(key)})"
        for key, info, value in walk_fields(root, data, (section,))
        if isinstance(value, bool) and _expected_literal(info)
    ]
    try:
        made: T = _make_adapter(root.hint).validate_json(json.dumps(data), strict=True)
    except ValidationError as err:
        problems += dict.fromkeys(
            _say(root, dict(error), section, places) for error in err.errors()
        )
        return None
    return made if len(problems) == n_before else None


def check_made(settings: Any, section: str) -> None:
    """Validate settings made in Python.

    Raises:
        ConfigError: With all mistakes.
    """
    data = to_plain(settings, _to_list)
    problems: list[str] = []
    places = Places([Layer("in Python", {section: {}})])
    validate(type(settings), data, section, places, problems)
    if problems:
        raise ConfigError(problems)


def _to_list(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)


@cache
def _make_adapter(cls: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter  # noqa: PLC0415 - as above

    return TypeAdapter(cls)


def walk_fields(
    info: FieldInfo, value: Any, key: Key
) -> Iterator[tuple[Key, FieldInfo, Any]]:
    """Yield key, metadata and value of each plain value."""
    children: Sequence[tuple[str | int, Any]]
    if isinstance(value, dict):
        children = list(value.items())
    elif isinstance(value, list):
        children = list(enumerate(value))
    else:
        yield key, info, value
        return
    for part, child in children:
        item = read_item(info, part)
        if item is not None:
            yield from walk_fields(item, child, (*key, str(part)))


def _say(root: FieldInfo, error: dict[str, Any], section: str, places: Places) -> str:
    key, info = _locate(root, error["loc"])
    where = ".".join((section, *map(str, key)))
    place = places.of((section, *key))
    kind, context = str(error["type"]), dict(error.get("ctx", {}))
    if kind == "unexpected_keyword_argument":
        parent = _locate(root, error["loc"][:-1])[1].settings
        tail = suggest(str(key[-1]), read_fields(parent) if parent else (), "keys")
        return f"{where}: unknown key ({place}); {tail}"
    if kind == "missing":
        meaning = f"; {info.meaning}" if info.meaning else ""
        return f"{where}: expected a value, got none ({place}){meaning}"
    expected = _expected(kind, context, info) or str(error["msg"])
    hint = "; put it in quotes" if kind == "string_type" else ""
    return f"{where}: expected {expected}, got {_show(error['input'])} ({place}){hint}"


def _expected(kind: str, context: Mapping[str, Any], info: FieldInfo) -> str:
    unit = f" [{info.unit}]" if info.unit not in {"", "path"} else ""
    if kind in _TYPES:
        is_number = kind in {"float_type", "int_type", "int_from_float"}
        bounds = " and ".join(info.bounds) if is_number else ""
        return f"{_TYPES[kind]}{bounds and ' ' + bounds}{unit}"
    for name, sign in BOUNDS.values():
        if kind in _BOUND_ERRORS and name in context:
            return f"a number {sign} {context[name]:g}{unit}"
    if kind == "literal_error":
        return str(context["expected"])
    if kind in {"too_long", "too_short"}:
        limit = context.get("max_length", context.get("min_length"))
        return f"{'at most' if kind == 'too_long' else 'at least'} {limit} values"
    return str(context.get("error", ""))


_BOUND_ERRORS = frozenset(
    {"greater_than", "greater_than_equal", "less_than", "less_than_equal"}
)


def _locate(
    root: FieldInfo, loc: Sequence[str | int]
) -> tuple[tuple[str | int, ...], FieldInfo]:
    key: list[str | int] = []
    info = root
    for part in loc:
        if len(members(info.hint)) > 1:  # the tag of a union's member, no key
            continue
        key.append(part)
        info = read_item(info, part) or FieldInfo(object)
    return tuple(key), info


def _expected_literal(info: FieldInfo) -> str:
    choices = get_args(info.hint) if get_origin(info.hint) is Literal else ()
    if any(isinstance(choice, bool) for choice in choices):
        return ""
    return " or ".join(repr(choice) for choice in choices)


def _show(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
