"""Guess a home posture for a limb that nobody has described, and try what it is worth.

Home wants three things: far from singular, far from limits, and room to all bodies. Of
random postures the best is taken and then every joint is put back to its plain
position where that costs little, since people expect symmetric postures.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin

from paprle.kinematics import IkSolver
from paprle.robot import RobotModel
from paprle.robot.chain import Limb
from paprle.types import Vec

_N_POSTURES = 400  # chosen: 10 ms, and the best changes little with more
_SEED = 0  # chosen: the same guess every time
_FREE_SHARE = 0.2  # [1] chosen: of the range; nearer to a limit a posture is worse
_CHEAP = 0.9  # [1] chosen: share of the score kept when a joint is put back
_TURN = np.pi / 2  # [rad] chosen: how far continuous joints are tried
_STEP = 0.1  # [m] chosen: half the size of the shapes that autopilot draws
_STEP_SHARE = 0.2  # [1] chosen: of the distance from the base, for small limbs
_NEAR = 1e-3  # [m] chosen: reached
_ROOMS = (0.05, 0.02, 0.0)  # [m] chosen: clearances of home, the first that is found
_FULL_TASK = 6

Score = Callable[[Vec], float]


def guess_home(robot: RobotModel, limb: Limb) -> Vec:
    """Return a good home for a limb while the others stand at theirs, shape (n_l,)."""
    rng = np.random.default_rng(_SEED)
    low = np.where(np.isfinite(limb.q_min), limb.q_min, -_TURN)
    high = np.where(np.isfinite(limb.q_max), limb.q_max, _TURN)
    margin = 0.15 * (high - low)  # chosen: away from limits
    low, high = low + margin, high - margin
    plain = np.clip(limb.home, low, high)
    tried = [plain, *rng.uniform(low, high, (_N_POSTURES, len(plain)))]
    score = _make_score(robot, limb, tried, plain)
    ranked = sorted(tried, key=score, reverse=True)
    best, room = _choose_free(robot, limb, ranked)

    def is_free(q: Vec) -> bool:
        return robot.min_clearance(limb.put(robot.home, q)) > room

    return np.round(_make_plain(best, plain, score, is_free), 2)


def _choose_free(robot: RobotModel, limb: Limb, ranked: list[Vec]) -> tuple[Vec, float]:
    """Return the best posture that has room, and how much; the best if none is free."""
    found: dict[float, Vec] = {}
    for q in ranked:
        clearance = robot.min_clearance(limb.put(robot.home, q))
        for room in _ROOMS:
            if clearance > room:
                found.setdefault(room, q)
        if _ROOMS[0] in found:
            break
    room = max(found, default=0.0)
    return found.get(room, ranked[0]), room


def _make_score(robot: RobotModel, limb: Limb, tried: list[Vec], plain: Vec) -> Score:
    reach = max(float(np.linalg.norm(limb.fk(q).translation)) for q in tried)
    n_rows = _FULL_TASK if len(plain) >= _FULL_TASK else min(3, len(plain))
    span = np.where(np.isfinite(limb.q_max - limb.q_min), limb.q_max - limb.q_min, 1e3)
    is_alone = len(robot.limbs) == 1

    def score(q: Vec) -> float:
        J = limb.jacobian(q).copy()
        J[:3] /= max(reach, 1e-6)
        if n_rows < _FULL_TASK:
            J = J[:3]
        sigma = float(np.linalg.svd(J, compute_uv=False)[n_rows - 1])
        share = np.minimum(q - limb.q_min, limb.q_max - q) / span
        room = float(np.clip(np.min(share) / _FREE_SHARE, 0.0, 1.0))
        far = float(np.linalg.norm(q - plain))
        is_low = is_alone and limb.fk(q).translation[2] < 0.1 * reach
        return sigma * room / (1.0 + 0.1 * far) * (0.1 if is_low else 1.0)

    return score


def _make_plain(
    best: Vec, plain: Vec, score: Score, is_free: Callable[[Vec], bool]
) -> Vec:
    q = np.array(best)
    floor = _CHEAP * score(q)
    for k in range(len(q)):
        trial = q.copy()
        trial[k] = plain[k]
        if score(trial) >= floor and is_free(trial):
            q = trial
    return q


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
