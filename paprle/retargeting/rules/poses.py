"""Poses: as they are, or the motion since engaging from the command's place.

* ``relative``, world-aligned: p = p₀ + s R_map (p_t − p_l0) and
  R = R_map (R_t R_l0ᵀ) R_mapᵀ R₀; body-aligned: T = T₀ X⁻¹ T̃ X where T̃ is T_l0⁻¹ T_t
  with its translation times s;
* ``absolute``: the leader's poses as they are.

All are R = L R_t K and p = p₀ + s L (p_t − p_l0)
(PAPRLE Eq. 2–4, ``requirements.md`` P8–P10).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paprle.contracts.types import Vec
from paprle.retargeting.mapping import map_poses
from paprle.retargeting.rules.base import LimbRule, LimbTarget, RuleInputs
from paprle.robot.pose_rows import read_pose


class PoseAnchor(NamedTuple):
    """Anchor of one limb, see ``Anchors``."""

    L: Vec
    K: Vec
    p_0: Vec
    p_leader0: Vec
    scale: float


class PoseRule(LimbRule[PoseAnchor]):
    """A rule with an anchor as state."""

    carry_back = "pose"

    def __init__(self, max_travel: float) -> None:
        """Make it with the longest way from engagement, [m]."""
        self._max_travel = max_travel

    def apply(
        self, inputs: RuleInputs, state: PoseAnchor
    ) -> tuple[LimbTarget, PoseAnchor]:
        """Return the sample's pose."""
        T, row = np.empty((1, 4, 4)), np.array([inputs.source], dtype=np.int64)
        is_asked, is_far = np.zeros((2, 1), dtype=np.bool_)
        L, K, p_0, p_leader0 = (values[None] for values in state[:4])
        scale, bound = np.array([state.scale]), self._max_travel
        anchors = L, K, p_0, p_leader0, scale
        map_poses(inputs.sample.pose, row, *anchors, bound, T, is_asked, is_far)
        return LimbTarget(T_base_eef=T[0] if is_asked[0] else None), state


class AbsoluteRule(PoseRule):
    """The leader's poses in the limb's base."""

    begins_at_command = False

    def begin(self, inputs: RuleInputs) -> PoseAnchor:
        """Anchor at the leader's pose, or at the base."""
        p_l0 = np.empty(3)
        if not read_pose(inputs.sample.pose[inputs.source], np.empty((3, 3)), p_l0):
            p_l0 = np.zeros(3)
        return PoseAnchor(np.eye(3), np.eye(3), p_l0, p_l0.copy(), 1.0)


class RelativeRule(PoseRule):
    """The leader's motion since engaging."""

    begins_at_command = True

    def __init__(
        self, R_map: Vec, scale: float, max_travel: float, *, is_world: bool
    ) -> None:
        """Make it; R_map is from the leader's base (world) or tool (body) axes."""
        super().__init__(max_travel)
        self._R_map, self._scale, self._is_world = R_map, scale, is_world

    def begin(self, inputs: RuleInputs) -> PoseAnchor:
        """Anchor both poses; without one the limb holds until it re-engages."""
        T_0, X = inputs.T_base_eef[inputs.limb], self._R_map
        R_0, p_0 = T_0[:3, :3], T_0[:3, 3].copy()
        R_l0, p_l0 = np.empty((3, 3)), np.empty(3)
        if not read_pose(inputs.sample.pose[inputs.source], R_l0, p_l0):
            nowhere = np.full(3, np.nan)
            return PoseAnchor(np.eye(3), np.eye(3), p_0, nowhere, self._scale)
        if self._is_world:
            return PoseAnchor(X.copy(), R_l0.T @ X.T @ R_0, p_0, p_l0, self._scale)
        return PoseAnchor(R_0 @ X.T @ R_l0.T, X.copy(), p_0, p_l0, self._scale)
