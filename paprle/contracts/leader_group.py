"""Several leaders seen as one: their limbs side by side, named ``leader.limb``.

A session of one leader is the case of one part, whose limbs keep their own names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from paprle.contracts.axes import merge_speeds
from paprle.contracts.types import LeaderInfo

ALONE = ""
"""Name of a leader that is the only one."""


def name_limb(leader: str, limb: str) -> str:
    """Return the name of a leader's limb among those of all leaders."""
    return f"{leader}.{limb}" if leader else limb


def merge_leaders(infos: Mapping[str, LeaderInfo]) -> LeaderInfo:
    """Return what several leaders are together.

    Args:
        infos: What each says of itself, by name; ``ALONE`` for an only one.

    Returns:
        The only one itself; else one with the limbs of all. It is human if one of them
        is, and its ``parts`` tell what differs from limb to limb.
    """
    if set(infos) == {ALONE}:
        return infos[ALONE]
    parts = dict(infos)
    limbs = tuple(
        name_limb(name, limb) for name, info in parts.items() for limb in info.limbs
    )
    hints = {name: info.engage_hint for name, info in parts.items() if info.engage_hint}
    return LeaderInfo(
        limbs=limbs,
        joint_names={
            name_limb(name, limb): joints
            for name, info in parts.items()
            for limb, joints in info.joint_names.items()
        },
        axes={
            name_limb(name, limb): axes
            for name, info in parts.items()
            for limb, axes in info.axes.items()
        },
        axis_speeds=merge_speeds(
            info.axis_speeds for info in parts.values() if info.axes
        ),
        is_human=any(info.is_human for info in parts.values()),
        is_measured=any(info.is_measured for info in parts.values()),
        has_gripper=any(info.has_gripper for info in parts.values()),
        has_buttons=any(info.has_buttons for info in parts.values()),
        rate=max(info.rate for info in parts.values()),
        look_ahead=max(info.look_ahead for info in parts.values()),
        arms={
            name_limb(name, limb): arm
            for name, info in parts.items()
            for limb, arm in info.arms.items()
        },
        n_ahead=max(info.n_ahead for info in parts.values()),
        path={
            name_limb(name, limb): rows
            for name, info in parts.items()
            for limb, rows in info.path.items()
        },
        engage_hint=", ".join(f"{name}: {hint}" for name, hint in hints.items()),
        parts=parts,
    )


def list_rows(infos: Mapping[str, LeaderInfo]) -> dict[str, range]:
    """Return the places of each leader's limbs among those of all, by name."""
    rows, first = dict[str, range](), 0
    for name, info in infos.items():
        rows[name] = range(first, first + len(info.limbs))
        first += len(info.limbs)
    return rows


def split_leaders(info: LeaderInfo) -> Iterator[tuple[str, LeaderInfo]]:
    """Yield each leader of a group by name; the only one by ``ALONE``."""
    yield from info.parts.items() if info.parts else [(ALONE, info)]


def find_part(info: LeaderInfo, limb: str) -> tuple[str, LeaderInfo]:
    """Return which leader of a group a limb belongs to."""
    for name, part in split_leaders(info):
        if limb in (name_limb(name, own) for own in part.limbs):
            return name, part
    raise KeyError(limb)
