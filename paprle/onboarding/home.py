"""Try what a home posture is worth."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from paprle.kinematics import IkSolver
from paprle.robot.chain import Limb

_STEP = 0.1  # [m] chosen: half the size of the shapes that autopilot draws
_STEP_SHARE = 0.2  # [1] chosen: of the distance from the base, for small limbs
_NEAR = 1e-3  # [m] chosen: reached


def count_reachable(limb: Limb) -> tuple[int, float]:
    """Try six targets around home, along the base's axes.

    Returns:
        How many can be reached, and how far from home they are, [m].
    """
    solver = IkSolver(limb)
    T_base_home = limb.fk(limb.home)
    distance = float(np.linalg.norm(T_base_home.translation))
    step = min(_STEP, _STEP_SHARE * distance)
    n_reached = 0
    for direction in (*np.eye(3), *-np.eye(3)):
        p = T_base_home.translation + step * direction
        T_base_goal = pin.SE3(T_base_home.rotation, p)
        solution = solver.solve(T_base_goal, np.array(limb.home), max_step=np.pi)
        n_reached += solution.err_pos < _NEAR
    return n_reached, step


def jacobian_error(limb: Limb) -> float:
    """Return the largest difference of the Jacobian from finite differences."""
    step = 1e-6  # [rad or m] chosen: the best of central differences in doubles
    q = np.array(limb.home)
    columns = []
    for unit in np.eye(len(q)):
        before, after = limb.fk(q - step * unit), limb.fk(q + step * unit)
        columns.append(pin.log6(before.actInv(after)).vector / (2.0 * step))
    return float(np.max(np.abs(np.array(columns).T - limb.jacobian(q))))
