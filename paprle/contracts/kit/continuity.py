"""Continuity of joints and orientations (``safety.md`` A5).

Arrays are q (n, m) [rad], dt to the next row (n−1,) [s] and speeds (m,) [rad/s].
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import RobotInfo, Vec

HAND_SPEED = 3.0  # [m/s] spec: safety.md A5
HAND_TURN = 20.0  # [rad/s] chosen: quicker than a wrist turns
JOINT_SPEED = 20.0  # [rad/s] chosen: quicker than a hand moves a puppeteer
NOISE_TURN = 0.1  # [rad] chosen: jitter of a tracked orientation
NOISE_JOINT = 0.05  # [rad] chosen: several steps of any encoder
TURN = math.tau  # [rad]
MOST_RESIDUAL = 0.5 * math.pi  # [rad] chosen: a joint that comes round passes ±π
_MARGIN = 3.0  # chosen: a hand is quicker than the robot's joints, which then lag
_LEAST_SPEED = 6.0  # [rad/s] chosen: slow robots have operators as quick as others
_MOST_TURNS = 3.0  # chosen: a joint without limits is told to be farther in degrees

Mask = npt.NDArray[np.bool_]


def find_joint_speeds(names: Sequence[str], robot: RobotInfo | None) -> Vec:
    """Return jump speeds of joints, (m,), [rad/s]."""
    limits = (
        {}
        if robot is None
        else dict(zip(robot.joint_names, robot.dq_max.tolist(), strict=True))
    )
    return np.array([bound_speed(limits.get(name, math.inf)) for name in names])


def bound_speed(limit: float) -> float:
    """Return a joint's jump speed by its limit, [rad/s]."""
    return min(max(_MARGIN * limit, _LEAST_SPEED), JOINT_SPEED)


def unwrap(q: Vec, dt: Vec, speeds: Vec) -> tuple[Vec, npt.NDArray[np.intp]]:
    """Return positions without steps of nearly a turn, and their number, (m,)."""
    step = np.diff(q, axis=0)
    bound = np.minimum(_allow(dt, speeds), MOST_RESIDUAL)
    turns = np.where(np.abs(np.abs(step) - TURN) <= bound, np.sign(step), 0.0)
    taken = np.cumsum(turns, axis=0) * TURN
    whole = np.vstack([q[:1], q[1:] - taken]) if len(q) else q
    return whole, np.count_nonzero(turns, axis=0)


def find_joint_jumps(q: Vec, dt: Vec, speeds: Vec) -> Mask:
    """Return a mask of jumps of any joint, (n−1,)."""
    jumps = np.abs(np.diff(q, axis=0)) > _allow(dt, speeds)
    return np.asarray(jumps.any(axis=1))


def find_turn_jumps(quat_xyzw: Vec, dt: Vec) -> Mask:
    """Return a mask of turns faster than a wrist's, (n−1,)."""
    dots = np.abs(np.sum(quat_xyzw[1:] * quat_xyzw[:-1], axis=1))
    angles = 2.0 * np.arccos(np.minimum(dots, 1.0))
    return np.asarray(angles > HAND_TURN * dt + NOISE_TURN)


def make_free_bounds(k: int, j: int) -> Vec:
    """Return bounds of ``k`` limbs of ``j`` unknown joints, (k, j, 4).

    Each has a speed [rad/s], a tolerance around one turn and the range in which a turn
    may begin, [rad].
    """
    return np.tile([JOINT_SPEED, MOST_RESIDUAL, -math.inf, math.inf], (k, j, 1))


def make_bounds(limit: float, q_min: float, q_max: float) -> Vec:
    """Return a joint's bounds as in ``make_free_bounds``, (4,)."""
    is_free = math.isinf(q_min) or math.isinf(q_max)
    low, high = (0.0, 0.0) if is_free else (q_min, q_max)
    slack = TURN * (_MOST_TURNS if is_free else 1.0)
    return np.array([bound_speed(limit), MOST_RESIDUAL, low - slack, high + slack])


def _allow(dt: Vec, speeds: Vec) -> Vec:
    return np.asarray(dt[:, None] * speeds[None, :] + NOISE_JOINT)
