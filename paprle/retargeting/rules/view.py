"""Motion in the axes of a live camera: right on the screen is right for the leader.

    p(t) = p(t−1) + s M (p_l(t) − p_l(t−1)),   R(t) = M Δ Mᵀ R(t−1)

with M = R_base_screen R_map and Δ = R_l(t) R_l(t−1)ᵀ; the screen's x points into it, y
left, z up.

References:
    Rakita, Mutlu, Gleicher, HRI 2018, section 4.3: Eq. 11 and 12 in closed form, with
    increments of position.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paprle.contracts.types import Vec
from paprle.retargeting.rules.base import LimbRule, LimbTarget, RuleInputs
from paprle.retargeting.rules.look_at import LookPlaces
from paprle.robot.pose_rows import read_pose

R_CAM_SCREEN = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])
"""From REP-103 axes of who looks to those of an image: x right, y down, z ahead."""


class ViewState(NamedTuple):
    """Poses of limb and leader at the last sample.

    Attributes:
        T: The limb's target in its base, shape (4, 4).
        p_0: Position at engagement, shape (3,), [m].
        R_leader: Shape (3, 3).
        p_leader: Shape (3,), [m]; NaN: none yet.
    """

    T: Vec
    p_0: Vec
    R_leader: Vec
    p_leader: Vec


class ViewRule(LimbRule[ViewState]):
    """The leader's motion in the camera's image axes."""

    begins_at_command = True

    def __init__(
        self,
        sight: LookPlaces,
        camera: int,
        R_map: Vec,
        scale: float,
        max_travel: float,
    ) -> None:
        """Make it; R_map is from the leader's base to screen axes."""
        self._sight, self._camera = sight, camera
        self._R_base_world = sight.T_world_of[:3, :3].T
        self._R_map, self._scale, self._max_travel = R_map, scale, max_travel

    def begin(self, inputs: RuleInputs) -> ViewState:
        """Anchor both poses; until there is one the limb holds."""
        T = inputs.T_base_eef[inputs.limb].copy()
        nobody = ViewState(T, T[:3, 3].copy(), np.eye(3), np.full(3, np.nan))
        R, p = np.empty((3, 3)), np.empty(3)
        if not read_pose(inputs.sample.pose[inputs.source], R, p):
            return nobody
        return nobody._replace(R_leader=R, p_leader=p)

    def apply(
        self, inputs: RuleInputs, state: ViewState
    ) -> tuple[LimbTarget, ViewState]:
        """Return the moved target."""
        R, p = np.empty((3, 3)), np.empty(3)
        if not read_pose(inputs.sample.pose[inputs.source], R, p):
            return LimbTarget(), state
        if np.isnan(state.p_leader[0]):
            return LimbTarget(), state._replace(R_leader=R, p_leader=p)
        M = self.find_axes(inputs.T_base_eef)
        T = state.T.copy()
        T[:3, 3] += self._scale * (M @ (p - state.p_leader))
        T[:3, :3] = M @ (R @ state.R_leader.T) @ M.T @ T[:3, :3]
        turn = T[:3, :3]
        T[:3, :3] = 1.5 * turn - 0.5 * turn @ turn.T @ turn  # rounding adds up else
        away = T[:3, 3] - state.p_0
        far = float(np.linalg.norm(away))
        if far > self._max_travel:
            T[:3, 3] = state.p_0 + away * (self._max_travel / far)
        return LimbTarget(T_base_eef=T), ViewState(T, state.p_0, R, p)

    def find_axes(self, T_base_eef: Vec) -> Vec:
        """Return the rotation from leader axes to the limb's base, (3, 3)."""
        T_world_cam = self._sight.place_camera(T_base_eef[self._camera])
        M: Vec = self._R_base_world @ T_world_cam[:3, :3] @ R_CAM_SCREEN @ self._R_map
        return M
