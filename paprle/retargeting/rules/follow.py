"""A limb follows an object: a marker in a hand, or one that is dragged (AdaptiX, X15).

In the world's axes p = p₀ + s (p_o − p_o0) and R = R_o R_o0ᵀ R₀, with bounded motion.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.kit.named_objects import find_told
from paprle.contracts.settings.retarget import LookSettings
from paprle.contracts.types import Vec
from paprle.retargeting.rules.base import LimbRule, LimbTarget, RuleInputs

FRESH = 0.25  # [s] chosen: as of a camera limb's advice; a blink of a detector is less
_LONGEST = 0.1  # [s] spec: safety.md A1: no sample says what was before that
_GAIN = 8.0  # [1/s] chosen: an eighth of a second behind a slow hand


class Chase(NamedTuple):
    """Scale of translations, longest way, [m], and bounds of motion."""

    scale: float
    max_travel: float
    motion: LookSettings


class ObjectAnchor(NamedTuple):
    """Poses in the base when the object was first seen, (4, 4)."""

    T_base_object: Vec
    T_base_eef: Vec


class FollowState(NamedTuple):
    """A target in motion.

    Attributes:
        T: T_base_eef, shape (4, 4).
        v: Its linear and angular velocity in the base, shape (6,).
        begin: Place of engagement, shape (3,), [m].
        seen: Anchor; None: no object is seen.
    """

    T: Vec
    v: Vec
    begin: Vec
    seen: ObjectAnchor | None
    stamp_ns: int


class FollowRule(LimbRule[FollowState]):
    """The limb follows a seen or placed object."""

    begins_at_command = True

    def __init__(self, name: str, T_world_base: Vec, chase: Chase) -> None:
        """Make it for an ``ADVISOR.ID``, or one of ``session.objects``."""
        self._name, self._chase = name, chase
        self._T_base_world = np.linalg.inv(T_world_base)

    def begin(self, inputs: RuleInputs) -> FollowState:
        """Begin at the command."""
        T = inputs.T_base_eef[inputs.limb].copy()
        return FollowState(T, np.zeros(6), T[:3, 3].copy(), None, _read_stamp(inputs))

    def apply(
        self, inputs: RuleInputs, state: FollowState
    ) -> tuple[LimbTarget, FollowState]:
        """Return a target nearer to the object."""
        stamp_ns = _read_stamp(inputs)
        dt = (stamp_ns - state.stamp_ns) * 1e-9
        dt = dt if 0.0 < dt <= _LONGEST else 0.0
        T_object = self._find(inputs)
        seen = (
            None if T_object is None else state.seen or ObjectAnchor(T_object, state.T)
        )
        goal = state.T
        if T_object is not None and seen is not None:
            goal = self._lead(T_object, seen, state.begin)
        T, v = self._step(state, goal, dt, is_seen=seen is not None)
        after = FollowState(T, v, state.begin, seen, max(stamp_ns, state.stamp_ns))
        return LimbTarget(T_base_eef=T), after

    def _find(self, inputs: RuleInputs) -> Vec | None:
        told = find_told(inputs.advice, self._name)
        is_seen = told is not None and told.age <= FRESH
        pose = told.pose if told and is_seen else inputs.placed.get(self._name)
        if pose is None or not np.isfinite(pose).all():
            return None
        T: Vec = self._T_base_world @ pin.XYZQUATToSE3(pose).homogeneous
        return T

    def _lead(self, T_object: Vec, seen: ObjectAnchor, begin: Vec) -> Vec:
        T_0, T_object0 = seen.T_base_eef, seen.T_base_object
        goal: Vec = np.eye(4)
        goal[:3, :3] = T_object[:3, :3] @ T_object0[:3, :3].T @ T_0[:3, :3]
        moved = self._chase.scale * (T_object[:3, 3] - T_object0[:3, 3])
        way = T_0[:3, 3] + moved - begin
        far = float(np.linalg.norm(way))
        goal[:3, 3] = begin + way * min(1.0, self._chase.max_travel / max(far, 1e-9))
        return goal

    def _step(
        self, state: FollowState, goal: Vec, dt: float, *, is_seen: bool
    ) -> tuple[Vec, Vec]:
        m, wanted = self._chase.motion, np.zeros(6)
        if is_seen:
            left = goal[:3, 3] - state.T[:3, 3]
            turn = pin.log3(goal[:3, :3] @ state.T[:3, :3].T)
            wanted[:3] = _approach(left, m.max_speed, m.max_acceleration)
            wanted[3:] = _approach(turn, m.max_turn, m.max_turn_acceleration)
        v = state.v.copy()
        v[:3] += _shorten(wanted[:3] - v[:3], m.max_acceleration * dt)
        v[3:] += _shorten(wanted[3:] - v[3:], m.max_turn_acceleration * dt)
        T = state.T.copy()
        T[:3, 3] += v[:3] * dt
        R = pin.exp3(v[3:] * dt) @ T[:3, :3]
        T[:3, :3] = 1.5 * R - 0.5 * R @ R.T @ R  # rounding does not add up
        return T, v


def _approach(left: Vec, fastest: float, a: float) -> Vec:
    far = float(np.linalg.norm(left))
    near = a / _GAIN**2  # within it the speed falls with the way, no faster than by a
    if far <= near:
        return _shorten(_GAIN * left, fastest)
    return left * (min(math.sqrt(a * (2.0 * far - near)), fastest) / far)


def _shorten(way: Vec, most: float) -> Vec:
    size = float(np.linalg.norm(way))
    return way if size <= most else way * (most / size)


def _read_stamp(inputs: RuleInputs) -> int:
    return int(inputs.sample.limb_ns[inputs.source])
