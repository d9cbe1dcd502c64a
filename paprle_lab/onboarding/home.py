"""Trial of a home posture."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.settings.core import GateSettings
from paprle.contracts.types import Vec
from paprle.kinematics import IkSolver
from paprle.robot import RobotModel
from paprle.robot.chain import Limb

_STEP = 0.1  # [m] chosen: half the size of the shapes that autopilot draws
_STEP_SHARE = 0.2  # [1] chosen: of the distance from the base, for small limbs
_NEAR = 1e-3  # [m] chosen: reached
_AIM = 1e-3  # [m] as the gate aims at more than it keeps
_ROUNDING = 1e-5  # [m] chosen: what coal rounds to, and more


class HomeReach(NamedTuple):
    """Reachable targets around home, at a distance ``step`` [m]."""

    n: int
    step: float
    in_way: tuple[str, ...]


class Room:
    """Motions allowed by a gate with usual settings."""

    def __init__(self, robot: RobotModel) -> None:
        settings = GateSettings()
        self._robot, self._bodies = robot, robot.make_collision_model({})
        kept = settings.clearance_self, settings.clearance_scene
        at_home = self._bodies.clearances(robot.home)
        aimed_at = self._bodies.find_kept(*kept) + _AIM
        self._allowed = np.minimum(aimed_at, at_home) - _ROUNDING

    def try_targets(self, limb: Limb) -> HomeReach:
        """Try six targets around home, along the base's axes."""
        solver, home = IkSolver(limb), np.array(limb.home)
        T_base_home = limb.fk(limb.home)
        distance = float(np.linalg.norm(T_base_home.translation))
        step = min(_STEP, _STEP_SHARE * distance)
        n_reached, in_way = 0, []
        for direction in (*np.eye(3), *-np.eye(3)):
            p = T_base_home.translation + step * direction
            T_base_goal = pin.SE3(T_base_home.rotation, p)
            solution = solver.solve(T_base_goal, home, max_step=np.pi)
            if solution.err_pos < _NEAR:
                met = self._find_in_way(limb, solution.q)
                n_reached += not met
                in_way += [met] if met else []
        return HomeReach(n_reached, step, tuple(dict.fromkeys(in_way)))

    def _find_in_way(self, limb: Limb, q_limb: Vec) -> str:
        for share in (0.5, 1.0):
            q = np.array(self._robot.home)
            q[limb.indices] += share * (q_limb - q[limb.indices])
            spare = self._bodies.clearances(q) - self._allowed
            if (spare < 0.0).any():
                return " and ".join(self._bodies.pairs[int(spare.argmin())])
        return ""


def jacobian_error(limb: Limb) -> float:
    """Return the Jacobian's largest error by finite differences."""
    step = 1e-6  # [rad or m] chosen: the best of central differences in doubles
    q = np.array(limb.home)
    columns = []
    for unit in np.eye(len(q)):
        before, after = limb.fk(q - step * unit), limb.fk(q + step * unit)
        columns.append(pin.log6(before.actInv(after)).vector / (2.0 * step))
    return float(np.max(np.abs(np.array(columns).T - limb.jacobian(q))))
