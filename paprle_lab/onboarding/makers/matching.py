"""Correspondence of a robot's joints with those of its maker's URDF, by motion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec

_NEAR, _TURN = 1e-3, 0.01  # [m], [rad] chosen: no eye sees less
_FAR = 0.03  # [m] chosen: another version of the robot, whose links are a little longer
_N_POSTURES = 12  # chosen
_SEED = 7


class Match(NamedTuple):
    """Joints that move alike.

    Attributes:
        places: Their joint and T_joint_theirs of its frame in ours, by our joint.
        apart: Distance that T_joint_theirs moves by, by joints that are apart, [m].
        refused: Our joints whose namesake moves otherwise.
    """

    places: Mapping[str, tuple[str, pin.SE3]]
    apart: Mapping[str, float]
    refused: tuple[str, ...]


def match_joints(ours: pin.Model, theirs: pin.Model, base: str) -> Match:
    """Return the joints of two models that keep one transform in random postures.

    Args:
        ours: The robot.
        theirs: Its maker's description.
        base: The robot's link that is the root of theirs if no fixed link has the same
            name.
    """
    names = pair_names(list(ours.names)[1:], list(theirs.names)[1:])
    found: dict[str, list[pin.SE3]] = {mine: [] for mine in ("universe", *names)}
    rng = np.random.default_rng(_SEED)
    data, other = ours.createData(), theirs.createData()
    T_world_root = _find_root(ours, theirs, base)
    for _ in range(_N_POSTURES):
        shares = {mine: float(rng.uniform(0.1, 0.9)) for mine in names}
        q = _pose(ours, {mine: shares[mine] for mine in names}, ours)
        place = _pose(theirs, {names[m]: shares[m] for m in names}, ours, names)
        pin.forwardKinematics(ours, data, q)
        pin.forwardKinematics(theirs, other, place)
        for mine, places in found.items():
            their = names.get(mine, "universe")
            T_world_joint = data.oMi[ours.getJointId(mine)]
            T_root_theirs = other.oMi[theirs.getJointId(their)]
            places.append(T_world_joint.actInv(T_world_root * T_root_theirs))
    alike, apart = {}, {}
    for mine, places in found.items():
        distance, turn = _measure(places)
        if turn < _TURN and distance < _FAR:
            alike[mine] = names.get(mine, "universe"), _average(places)
            if distance > _NEAR:
                apart[mine] = distance
    return Match(alike, apart, tuple(mine for mine in found if mine not in alike))


def pair_names(ours: Sequence[str], theirs: Sequence[str]) -> dict[str, str]:
    """Return their name for each of ours; one prefix may differ, as ``panda_``."""
    pairs = [
        (mine, their)
        for mine in ours
        for their in theirs
        if mine == their or their.endswith(f"_{mine}") or mine.endswith(f"_{their}")
    ]
    prefixes = Counter(_find_prefix(mine, their) for mine, their in pairs)
    chosen: dict[str, str] = {}
    for prefix, _ in prefixes.most_common():
        for mine, their in pairs:
            if _find_prefix(mine, their) == prefix and their not in chosen.values():
                chosen.setdefault(mine, their)
    return chosen


def _find_prefix(mine: str, their: str) -> tuple[str, str]:
    return their.removesuffix(mine), mine.removesuffix(their)


def _pose(
    model: pin.Model,
    shares: Mapping[str, float],
    limits: pin.Model,
    names: Mapping[str, str] | None = None,
) -> Vec:
    """Return a posture with each joint at a share of our range, shape (nq,)."""
    q: Vec = pin.neutral(model)
    mine_of = {their: mine for mine, their in (names or {}).items()}
    for name, share in shares.items():
        limit = limits.joints[limits.getJointId(mine_of.get(name, name))]
        low, high = -1.0, 1.0  # a continuous joint
        if limit.nq == 1:
            low = max(float(limits.lowerPositionLimit[limit.idx_q]), -3.0)
            high = min(float(limits.upperPositionLimit[limit.idx_q]), 3.0)
        value = low + share * (high - low)
        joint = model.joints[model.getJointId(name)]
        if joint.nq == 2:
            q[joint.idx_q : joint.idx_q + 2] = np.cos(value), np.sin(value)
        elif joint.nq == 1:
            q[joint.idx_q] = value
    return q


def _find_root(ours: pin.Model, theirs: pin.Model, base: str) -> pin.SE3:
    """Return T_world_root of their root by a fixed link that both have, or our base."""
    mine, their = (
        {frame.name: frame.placement for frame in model.frames if _is_fixed(frame)}
        for model in (ours, theirs)
    )
    for name, namesake in pair_names(list(mine), list(their)).items():
        T_world_root: pin.SE3 = mine[name] * their[namesake].inverse()
        return T_world_root
    return mine.get(base, pin.SE3.Identity())


def _is_fixed(frame: pin.Frame) -> bool:
    return bool(frame.type == pin.BODY and frame.parentJoint == 0)


def _measure(places: Sequence[pin.SE3]) -> tuple[float, float]:
    """Return how far places are apart, [m] and [rad]."""
    offsets = np.array([T.translation for T in places])
    turns = [
        np.linalg.norm(pin.log3(places[0].rotation.T @ T.rotation)) for T in places
    ]
    return float(np.ptp(offsets, axis=0).max()), float(max(turns))


def _average(places: Sequence[pin.SE3]) -> pin.SE3:
    """Return the first place, with the mean origin of all."""
    return pin.SE3(places[0].rotation, np.mean([T.translation for T in places], axis=0))
