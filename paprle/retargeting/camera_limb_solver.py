"""Calm motion of limbs that carry a camera: place counts before turn.

The IK yields angle and uses a part of A; the rest corrects the place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace

import numpy as np
import pinocchio as pin

from paprle.contracts.settings.core import IkSettings, LimbIkSettings
from paprle.contracts.types import Vec, readonly
from paprle.kinematics.robot_solver import LimbSolver
from paprle.retargeting.limb_sources import Slot
from paprle.retargeting.rules.look_at import LookAtRule
from paprle.robot import RobotModel
from paprle.robot.arrays import Bools
from paprle.robot.chain import Limb

_ACCELERATION = 0.4  # chosen: of A; with all of it the command has 4 m/s² for 1 asked
_ROTATION_WEIGHT = 0.01  # [m/rad] chosen: an angle of 6° is a millimetre
_MOST = 1e-3  # [m] chosen: what is missed by more is out of reach
_EXACT = 1e-9  # [m] chosen: a jerk of 1 mm/s³ between pictures
_N_STEPS = 3  # chosen: each leaves a thousandth
_DAMPING = 1e-6  # [m²/rad²] chosen: of an arm that is not stretched, a ten-thousandth


class CalmSolver(LimbSolver):
    """An IK that then corrects the place of cameras."""

    def __init__(
        self,
        robot: RobotModel,
        ik: IkSettings,
        position_margin: float,
        points: Mapping[str, Vec],
    ) -> None:
        """Make it for camera origins in the eef's axes by limb, (3,), [m]."""
        moved = copy(robot)
        moved.limbs = {
            name: _end_at(limb, points[name]) if name in points else limb
            for name, limb in robot.limbs.items()
        }
        super().__init__(moved, ik, position_margin)
        self._cameras = [
            (i, limb, points[limb.name])
            for i, limb in enumerate(robot.limbs.values())
            if limb.name in points
        ]

    def reset(self) -> None:
        """Forget the last answer."""
        super().reset()
        self._solved = self._kept = np.full(self._motion.shape[1], np.nan)

    def solve(
        self,
        T: Vec,
        is_asked: Bools,
        wanted: Vec,
        q_prev: Vec,
        q_cmd: Vec,
        dt: float | Vec = math.inf,
    ) -> tuple[Vec, Vec, bool]:
        """Return the solution with cameras in place; errors are from before."""
        before, asked = q_prev.copy(), T.copy()
        for i, limb, point in self._cameras:
            own = limb.indices
            if is_asked[i]:
                asked[i, :3, 3] += T[i, :3, :3] @ point
            if np.array_equal(q_prev[own], self._kept[own]):
                before[own] = self._solved[own]
        solved, errors, is_met = super().solve(
            asked, is_asked, wanted, before, q_cmd, dt
        )
        q = solved.copy()
        for i, limb, point in self._cameras:
            if is_asked[i]:
                q[limb.indices] = keep_place(limb, point, T[i], limb.take(solved))
        self._solved, self._kept = solved, q
        return q, errors, is_met


def _end_at(limb: Limb, point: Vec) -> Limb:
    moved = copy(limb)
    moved.p_eef = readonly(limb.p_eef + limb.R_eef @ point)
    return moved


def keep_place(limb: Limb, point: Vec, T: Vec, q: Vec) -> Vec:
    """Return joints within a millimetre that put a point of the eef in place.

    The point, shape (3,), [m], is in the eef's axes, T is T_base_eef.
    """
    p = limb.fk(q).act(point)
    way = T[:3, :3] @ point + T[:3, 3] - p
    far = float(np.linalg.norm(way))
    if not _EXACT < far < math.inf:
        return q
    goal, found = p + way * min(1.0, _MOST / far), q
    for _ in range(_N_STEPS):
        T_now, J = limb.fk(found), limb.jacobian(found)
        off = T_now.rotation.T @ (goal - T_now.act(point))
        if np.linalg.norm(off) < _EXACT:
            break
        J_p = J[:3] - pin.skew(point) @ J[3:]
        square = J_p @ J_p.T + _DAMPING * np.eye(3)
        found = found + J_p.T @ np.linalg.solve(square, off)
    low, high = np.minimum(limb.q_min, q), np.maximum(limb.q_max, q)
    return np.clip(found, low, high)


def make_solver(
    robot: RobotModel,
    ik: IkSettings,
    slots: Sequence[Sequence[Slot]],
    position_margin: float,
) -> tuple[LimbSolver, IkSettings]:
    """Return the IK and its settings, calm with ``look_at``."""
    points = {
        name: slot.rule.p_eef_cam
        for name, own in zip(robot.limbs, slots, strict=True)
        for slot in own
        if isinstance(slot.rule, LookAtRule)
    }
    if not points:
        return LimbSolver(robot, ik, position_margin), ik
    calm, ddq_max, limbs = copy(robot), robot.ddq_max.copy(), dict(ik.limbs)
    for name in points:
        ddq_max[robot.limbs[name].indices] *= _ACCELERATION
        own = limbs.get(name, LimbIkSettings())
        if own.rotation_weight is None:
            limbs[name] = replace(own, rotation_weight=_ROTATION_WEIGHT)
    calm.ddq_max, ik = ddq_max, replace(ik, limbs=limbs)
    return CalmSolver(calm, ik, position_margin, points), ik
