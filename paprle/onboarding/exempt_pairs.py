"""Find links that bodies around their meshes should not keep apart.

A body around a mesh is thicker than the link. Where two joints lie between two links,
all postures can be tried with the meshes themselves. Links that never touch need not be
kept apart. Others may touch, but their bodies are so thick that they would hold the
robot back in much of what its meshes leave free: those are left to a person to decide.
With more joints between them too many postures remain to say anything.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import coal
import numpy as np
import pinocchio as pin

from paprle.robot.tree import Urdf, UrdfJoint, flat_mimics

_TURN = 2.0 * math.pi
_N_TURNS = 72  # chosen: 5° apart over a full turn
_N_SLIDES = 5  # chosen: a finger's way, over some cm
_BETWEEN = 2
_MARGIN = 0.02  # [m] chosen: twice what is kept by default
_TOO_MUCH = 0.25  # chosen: of the free postures; more is not worth what it protects

Pair = tuple[str, str]
Range = tuple[float, float]
Placed = list[tuple[coal.CollisionGeometry, pin.SE3]]
"""Geometries of a link, and where they are in it."""


class LinkShapes(NamedTuple):
    """What a link collides with.

    Attributes:
        meshes: As the URDF has them.
        bodies: What encloses them.
    """

    meshes: Placed
    bodies: Placed


class Unjudged(NamedTuple):
    """Pairs that are not to be kept apart.

    Attributes:
        never: Their meshes touch in no posture.
        thick: Their meshes may touch, but their bodies are too thick to tell when.
    """

    never: tuple[Pair, ...] = ()
    thick: tuple[Pair, ...] = ()


def find_unjudged(tree: Urdf, links: Mapping[str, LinkShapes]) -> Unjudged:
    """Compare meshes and bodies of all links with two moving joints between.

    Args:
        tree: The robot.
        links: Those that have nothing but meshes to collide with.

    Returns:
        The pairs that bodies should not keep apart.
    """
    never, thick, ranges = [], [], _find_ranges(tree)
    for link in links:
        for above, way in _climb(tree, link):
            if above not in links:
                continue
            touching, blocked = _compare(links[above], links[link], way, ranges)
            if not touching:
                never.append((above, link))
            elif blocked > _TOO_MUCH:
                thick.append((above, link))
    return Unjudged(tuple(never), tuple(thick))


def _climb(tree: Urdf, link: str) -> Iterator[tuple[str, list[UrdfJoint]]]:
    """Yield links above with two moving joints between, and all joints on the way."""
    way: list[UrdfJoint] = []
    while link in tree.parent_joint:
        way.insert(0, tree.parent_joint[link])
        link = way[0].parent
        n_moving = sum(joint.is_movable for joint in way)
        if n_moving > _BETWEEN:
            return
        if n_moving == _BETWEEN:
            yield link, list(way)


def _compare(
    above: LinkShapes,
    below: LinkShapes,
    way: Sequence[UrdfJoint],
    ranges: Mapping[str, Range],
) -> tuple[int, float]:
    """Return in how many postures meshes touch, and which share of others is lost."""
    n_free = n_touching = n_blocked = 0
    for q in itertools.product(*(_list_positions(joint, ranges) for joint in way)):
        T_above_below = pin.SE3.Identity()
        for joint, position in zip(way, q, strict=True):
            T_above_below *= joint.T_parent_child(position)
        # meshes within bodies: where these are apart, those are
        if not _is_near(above.bodies, below.bodies, T_above_below, _MARGIN):
            n_free += 1
        elif _is_near(above.meshes, below.meshes, T_above_below, 0.0):
            n_touching += 1
        else:
            n_free += 1
            n_blocked += 1
    return n_touching, n_blocked / max(n_free, 1)


def _is_near(
    above: Placed, below: Placed, T_above_below: pin.SE3, margin: float
) -> bool:
    request, result = coal.CollisionRequest(), coal.CollisionResult()
    request.security_margin = margin
    for (a, T_a), (b, T_b) in itertools.product(above, below):
        at = _place(T_a), _place(T_above_below * T_b)
        result.clear()
        if coal.collide(a, at[0], b, at[1], request, result):
            return True
    return False


def _find_ranges(tree: Urdf) -> dict[str, Range]:
    """Return what each joint goes through; one that mimics goes where it is taken."""
    ranges = {joint.name: (joint.lower, joint.upper) for joint in tree.joints}
    for mimic in flat_mimics(tree):
        if mimic.multiplier == 0.0:  # and infinity times that is no number
            ranges[mimic.joint] = mimic.offset, mimic.offset
            continue
        ends = [mimic.multiplier * q + mimic.offset for q in ranges[mimic.source]]
        ranges[mimic.joint] = min(ends), max(ends)
    return ranges


def _list_positions(joint: UrdfJoint, ranges: Mapping[str, Range]) -> Sequence[float]:
    if not joint.is_movable:
        return (0.0,)
    low, high = ranges[joint.name]
    if joint.kind == "prismatic":
        return [float(q) for q in np.linspace(low, high, _N_SLIDES)]
    if high - low > _TURN:
        low, high = -0.5 * _TURN, 0.5 * _TURN
    n = 1 + math.ceil(_N_TURNS * (high - low) / _TURN)
    return [float(q) for q in np.linspace(low, high, n)]


def _place(T: pin.SE3) -> coal.Transform3s:
    return coal.Transform3s(T.rotation, T.translation)
