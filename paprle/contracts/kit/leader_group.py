"""Several leaders as one, with limbs named ``leader.limb``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from paprle.contracts.axes import merge_speeds
from paprle.contracts.types import LeaderInfo

ALONE = ""
"""Name of a leader that is the only one."""


def name_limb(leader: str, limb: str) -> str:
    """Return a limb's name in a group."""
    return f"{leader}.{limb}" if leader else limb


PER_PART = frozenset({"emits", "renders", "sampling", "robot", "reposture"})
"""Fields that only each leader alone can tell: ``split_leaders``, ``find_part``.

The merged info has the value that all parts share, or else the default.
"""
_BY_LIMB = ("joint_names", "axes", "arms", "motion", "path")
_OF_ANY = (
    "is_absolute",
    "is_human",
    "is_measured",
    "is_far",
    "is_stamped_on_arrival",
    "has_gripper",
    "has_buttons",
    "has_deadman",
    "has_trigger",
)
_LARGEST = ("rate", "look_ahead", "n_ahead")


def merge_leaders(infos: Mapping[str, LeaderInfo]) -> LeaderInfo:
    """Return one info with ``parts``; an only leader's as it is."""
    if set(infos) == {ALONE}:
        return infos[ALONE]
    parts = dict(infos)
    hints = {name: info.engage_hint for name, info in parts.items() if info.engage_hint}
    fields: dict[str, Any] = {
        "limbs": _name_limbs(parts, lambda info: info.limbs),
        "relative": frozenset(_name_limbs(parts, _list_relative)),
        "axis_speeds": merge_speeds(
            info.axis_speeds for info in parts.values() if info.axes
        ),
        "engage_hint": ", ".join(f"{name}: {hint}" for name, hint in hints.items()),
        "parts": parts,
    }
    fields |= {name: _merge_by_limb(name, parts) for name in _BY_LIMB}
    fields |= {name: any(_list_values(name, parts)) for name in _OF_ANY}
    fields |= {name: max(_list_values(name, parts)) for name in _LARGEST}
    for name in PER_PART:
        first, *others = _list_values(name, parts)
        if all(other == first for other in others):
            fields[name] = first
    return LeaderInfo(**fields)


def _list_values(field: str, parts: Mapping[str, LeaderInfo]) -> list[Any]:
    return [getattr(info, field) for info in parts.values()]


def _merge_by_limb(field: str, parts: Mapping[str, LeaderInfo]) -> dict[str, Any]:
    return {
        name_limb(name, limb): value
        for name, info in parts.items()
        for limb, value in getattr(info, field).items()
    }


def _name_limbs(
    parts: Mapping[str, LeaderInfo], choose: Callable[[LeaderInfo], Iterable[str]]
) -> tuple[str, ...]:
    return tuple(
        name_limb(name, limb) for name, info in parts.items() for limb in choose(info)
    )


def _list_relative(info: LeaderInfo) -> list[str]:
    return [limb for limb in info.limbs if not info.emits_places(limb)]


def list_rows(infos: Mapping[str, LeaderInfo]) -> dict[str, range]:
    """Return the range of each leader's limbs."""
    rows, first = dict[str, range](), 0
    for name, info in infos.items():
        rows[name] = range(first, first + len(info.limbs))
        first += len(info.limbs)
    return rows


def split_leaders(info: LeaderInfo) -> Iterator[tuple[str, LeaderInfo]]:
    """Yield each leader by name, an only one as ``ALONE``."""
    yield from info.parts.items() if info.parts else [(ALONE, info)]


def find_part(info: LeaderInfo, limb: str) -> tuple[str, LeaderInfo]:
    """Return a limb's leader by name and info."""
    for name, part in split_leaders(info):
        if limb in (name_limb(name, own) for own in part.limbs):
            return name, part
    raise KeyError(limb)
