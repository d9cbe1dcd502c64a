"""A limb with a camera looks at the hand of another (camera-in-hand, HRI 2018)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from paprle.contracts.session_view import Advice
from paprle.contracts.types import Vec
from paprle.retargeting.rules.base import LimbRule, LimbTarget, RuleInputs
from paprle.retargeting.rules.look_step import (
    CAM,
    FARTHEST,
    HAND,
    N_STATE,
    NEAREST,
    SEEN,
    TURN,
    step_look,
)

FRESH = 0.25  # [s] chosen: a hand goes 0.1 m in that; an advisor speaks 100 times a s
_LONGEST = 0.1  # [s] spec: safety.md A1: no sample says what was before that
_LET_GO = 0.05  # chosen: less deflection is a stick at rest
_ZOOM_SPEED = 0.4  # [m/s] chosen: all the way in two seconds
_ZOOM_KEPT = 10.0  # [s] chosen: what the hand set wears off slower than it is noticed
_NOWHERE = np.full(3, np.nan)


class LookState(NamedTuple):
    """A camera in motion.

    Attributes:
        motion: See ``look_step``, shape (36,).
        zoom: Addition to the advised distance, [m].
    """

    motion: Vec
    stamp_ns: int
    zoom: float


class LookPlaces(NamedTuple):
    """Places of the camera and of the watched limb.

    Attributes:
        of: Place of the watched limb among the robot's.
        T_world_of: Its base, shape (4, 4).
        T_world_base: Base of the camera's limb, shape (4, 4).
        T_eef_cam: Shape (4, 4).
        zoom: Leader's limb and axis that zoom, if any.
    """

    of: int
    T_world_of: Vec
    T_world_base: Vec
    T_eef_cam: Vec
    zoom: tuple[int, int] | None = None

    def place_camera(self, T_base_eef: Vec) -> Vec:
        """Return T_world_cam, shape (4, 4)."""
        T: Vec = self.T_world_base @ T_base_eef @ self.T_eef_cam
        return T


class LookAtRule(LimbRule[LookState]):
    """The camera goes to its advised place, looking at the hand."""

    begins_at_command = True

    @property
    def p_eef_cam(self) -> Vec:
        """The camera's origin in the eef's axes, (3,), [m]."""
        return self._sight.T_eef_cam[:3, 3]

    def __init__(self, sight: LookPlaces, advisor: str, bounds: Vec) -> None:
        """Make it; ``bounds`` as in ``look_step``, shape (8,)."""
        self._sight, self._advisor, self._bounds = sight, advisor, bounds
        self._T_base_world = np.linalg.inv(sight.T_world_base)
        self._T_cam_eef = np.linalg.inv(sight.T_eef_cam)

    def begin(self, inputs: RuleInputs) -> LookState:
        """Begin at the command."""
        motion = np.zeros(N_STATE)
        T, hand = self._place(inputs), self._find_hand(inputs)
        motion[CAM : CAM + 3], motion[TURN : TURN + 9] = T[:3, 3], T[:3, :3].ravel()
        motion[SEEN : SEEN + 3] = motion[HAND : HAND + 3] = hand
        return LookState(motion, _read_stamp(inputs), 0.0)

    def apply(
        self, inputs: RuleInputs, state: LookState
    ) -> tuple[LimbTarget, LookState]:
        """Return the camera's next target."""
        stamp_ns = _read_stamp(inputs)
        dt = (stamp_ns - state.stamp_ns) * 1e-9
        dt = dt if 0.0 < dt <= _LONGEST else 0.0
        zoom = self._zoom(inputs, state.zoom, dt)
        motion, T_cmd = state.motion.copy(), self._place(inputs)
        goal = read_goal(inputs.advice, self._advisor)
        hand = self._find_hand(inputs)
        step_look(motion, hand, goal, zoom, T_cmd, self._bounds, dt)
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = (
            motion[TURN : TURN + 9].reshape(3, 3),
            motion[CAM : CAM + 3],
        )
        asked = self._T_base_world @ T @ self._T_cam_eef
        after = LookState(motion, max(stamp_ns, state.stamp_ns), zoom)
        return LimbTarget(T_base_eef=asked), after

    def _place(self, inputs: RuleInputs) -> Vec:
        return self._sight.place_camera(inputs.T_base_eef[inputs.limb])

    def _find_hand(self, inputs: RuleInputs) -> Vec:
        sight = self._sight
        hand: Vec = (sight.T_world_of @ inputs.T_base_eef[sight.of])[:3, 3].copy()
        return hand

    def _zoom(self, inputs: RuleInputs, zoom: float, dt: float) -> float:
        if self._sight.zoom is None:
            return 0.0
        u, row = float(inputs.sample.axes[self._sight.zoom]), self._sight.zoom[0]
        age_ns = _read_stamp(inputs) - int(inputs.sample.limb_ns[row])
        u = (
            u if age_ns <= _LONGEST * 1e9 else 0.0
        )  # a stick that fell silent is at rest
        if not abs(u) > _LET_GO:  # NaN neither
            return zoom * max(1.0 - dt / _ZOOM_KEPT, 0.0)
        most = float(self._bounds[FARTHEST] - self._bounds[NEAREST])
        u = min(max(u, -1.0), 1.0)
        return min(max(zoom + _ZOOM_SPEED * u * dt, -most), most)


def read_goal(advice: Mapping[str, Advice], advisor: str) -> Vec:
    """Return the advised ``p_world_cam``, (3,), [m]; NaN if absent or old."""
    given = advice.get(advisor)
    if given is None or not given.age <= FRESH or not given.record["valid"]:
        return _NOWHERE
    if "p_world_cam" not in (given.record.dtype.names or ()):
        return _NOWHERE
    goal = np.array(given.record["p_world_cam"], dtype=np.float64)
    return goal if goal.shape == (3,) and np.isfinite(goal).all() else _NOWHERE


def _read_stamp(inputs: RuleInputs) -> int:
    return int(inputs.sample.limb_ns[inputs.source])
