"""Matching of a leader's limbs with a robot's by names.

Equal names come first, then joint names, then sides; the order of limbs is a doubt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from paprle.contracts.kit.leader_group import find_part
from paprle.contracts.types import LeaderInfo, LimbInfo
from paprle.retargeting.joint_sources import listed
from paprle.robot.discovery.limb_names import find_kind, find_side, find_sides


@dataclass(frozen=True, slots=True, kw_only=True)
class Namesakes:
    """Leader limbs by follower limb, with doubts and problems."""

    limbs: dict[str, str] = field(default_factory=dict)
    doubts: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def match_names(
    limbs: Sequence[LimbInfo], leader: LeaderInfo, by_joints: Mapping[str, str]
) -> Namesakes:
    """Match limbs by limb or joint names."""
    found, names = Namesakes(), [limb.name for limb in limbs]
    exact = {name: own for name in names if (own := _find_namesake(name, leader))}
    found.limbs.update({**by_joints, **exact})
    own_sides = _find_leader_sides(leader)
    sides = find_sides({limb.name: limb.joint_names for limb in limbs})
    for name, own in list(found.limbs.items()):
        contradiction = tell_contradiction(name, sides[name], own, own_sides[own])
        if contradiction and name in exact:  # a leader named by the operator
            found.doubts[name] = contradiction
        elif contradiction:
            del found.limbs[name]
            found.problems.append(f"{contradiction}; {_tell_map(name, own)}")
    kinds = {limb.name: find_kind(limb.name, limb.joint_names) for limb in limbs}
    own_kinds = {
        own: find_kind(own, leader.joint_names.get(own, ())) for own in leader.limbs
    }
    free = [name for name in names if name not in found.limbs]
    own_free = [own for own in leader.limbs if own not in found.limbs.values()]
    found.limbs.update(
        match_parts(
            {name: (sides[name], kinds[name]) for name in free},
            {own: (own_sides[own], own_kinds[own]) for own in own_free},
        )
    )
    return found


def match_first(limbs: Sequence[LimbInfo], leader: LeaderInfo) -> Namesakes:
    """Match a leader's only limb with the first of its side, no leg."""
    found, own = Namesakes(), leader.limbs[0]
    side = _find_leader_sides(leader)[own]
    sides = find_sides({limb.name: limb.joint_names for limb in limbs})
    kinds = {limb.name: find_kind(limb.name, limb.joint_names) for limb in limbs}
    free = [name for name in sides if kinds[name] == "arm"]
    free = free or [name for name in sides if kinds[name] != "leg"] or list(sides)
    allowed = [name for name in free if not side or sides[name] in {"", side}]
    if not allowed:
        first = free[0]
        told = tell_contradiction(first, sides[first], own, side)
        found.problems.append(f"{told}; {_tell_map(first, own)}")
        return found
    first = allowed[0]
    found.limbs[first] = own
    if len(allowed) > 1:
        others = listed(allowed[1:])
        found.doubts[first] = (
            f"'{own}' drives '{first}' because it is the first: their names do not "
            f"tell which limb is meant, {others} may be; {_tell_map(first, own)}"
        )
    return found


def match_parts(
    names: Mapping[str, tuple[str, str]], leaders: Mapping[str, tuple[str, str]]
) -> dict[str, str]:
    """Match limbs of a unique side and kind."""
    found: dict[str, str] = {}
    for name, (side, kind) in names.items():
        rivals = [other for other, own in names.items() if own == (side, kind)]
        own = [limb for limb, its in leaders.items() if its == (side, kind)]
        if side and len(rivals) == len(own) == 1:
            found[name] = own[0]
    return found


def tell_contradiction(name: str, side: str, own: str, own_side: str) -> str:
    """Return a warning if a limb and its leader differ in side."""
    if not side or not own_side or side == own_side:
        return ""
    return (
        f"leader limb '{own}' is a {own_side} one and follower limb '{name}' a {side} "
        "one, by their names"
    )


def tell_unused(leader: LeaderInfo, used: Iterable[str]) -> str:
    """Return a warning of leader limbs that drive nothing."""
    idle = [own for own in leader.limbs if own not in set(used)]
    drive = "drives" if len(idle) == 1 else "drive"
    return f"leader limb {listed(idle)} {drive} nothing" if idle else ""


def tell_crossed(
    limbs: Sequence[LimbInfo], leader: LeaderInfo, chosen: Mapping[str, Iterable[str]]
) -> Iterator[str]:
    """Yield warnings of leader limbs of the other side."""
    own_sides = _find_leader_sides(leader)
    sides = find_sides({limb.name: limb.joint_names for limb in limbs})
    for name, owns in chosen.items():
        for own in owns:
            yield from filter(
                None, [tell_contradiction(name, sides[name], own, own_sides[own])]
            )


def _tell_map(name: str, own: str) -> str:
    return f"if that is meant, say retarget.limb_map.{name}={own}"


def _find_leader_sides(leader: LeaderInfo) -> dict[str, str]:
    limbs = {own: leader.joint_names.get(own, ()) for own in leader.limbs}
    if not leader.parts:
        return find_sides(limbs)
    own_names = {own: find_part(leader, own)[0] for own in limbs}
    return {
        own: find_side(own.removeprefix(f"{part}.")) or find_side(part)
        for own, part in own_names.items()
    }


def _find_namesake(name: str, leader: LeaderInfo) -> str | None:
    if name in leader.limbs:
        return name
    of_leader = [own for own in leader.limbs if own.partition(".")[0] == name]
    of_limb = [own for own in leader.limbs if own.rpartition(".")[2] == name]
    for found in (of_leader, of_limb) if leader.parts else ():
        if len(found) == 1:
            return found[0]
    return None
