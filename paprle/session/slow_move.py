"""Slow moves (home, align, reset, park), straight in joint space."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from paprle.contracts.types import Vec, readonly
from paprle.robot import RobotModel

_PEAK_SPEED = 1.875  # derived: peak of 30 s² − 60 s³ + 30 s⁴ at s = 1/2
_PEAK_ACCELERATION = 5.7735  # derived: peak of its derivative, 10/√3
_ACCELERATION_SHARE = 0.5  # chosen: leaves the gate room to follow
_GRIPPER_SHARE = 3.0  # chosen: of an arm's share; a jaw closes in 3 s, and none waits
_SHORTEST = 0.1  # [s] chosen: below this a move is a step


@dataclass(frozen=True)
class SlowMove:
    """A minimum-jerk move of ``duration``, [s]; joints have shape (n,), [rad]."""

    q_start: Vec
    q_goal: Vec
    start_ns: int
    duration: float

    def compute(self, now_ns: int) -> tuple[Vec, Vec]:
        """Return position and velocity, shapes (n,)."""
        s = min(max((now_ns - self.start_ns) * 1e-9 / self.duration, 0.0), 1.0)
        span = self.q_goal - self.q_start
        if s >= 1.0:
            return self.q_goal, np.zeros_like(span)
        q = self.q_start + span * (s**3 * (10.0 - 15.0 * s + 6.0 * s**2))
        dq = span * (30.0 * s**2 * (1.0 - s) ** 2 / self.duration)
        return q, dq

    def is_over(self, now_ns: int) -> bool:
        """Whether its time has passed."""
        return (now_ns - self.start_ns) * 1e-9 >= self.duration


def make_slow_move(
    q_start: Vec,
    q_goal: Vec,
    robot: RobotModel,
    speed: float,
    tool_speed: float,
    now_ns: int,
) -> SlowMove:
    """Return the quickest minimum-jerk move at a share of the velocity limits.

    ``speed`` is the arms' share, 0 … 1, grippers have three times that; ``tool_speed``
    is in [m/s].
    """
    span = np.abs(q_goal - q_start)
    grippers = {limb.gripper.joint for limb in robot.info.limbs if limb.gripper}
    is_gripper = np.array([name in grippers for name in robot.joint_names])
    share = np.where(is_gripper, min(_GRIPPER_SHARE * speed, 1.0), speed)
    by_speed = float((_PEAK_SPEED * span / (share * robot.dq_max)).max())
    by_acceleration = math.sqrt(
        float((_PEAK_ACCELERATION * span / robot.ddq_max).max()) / _ACCELERATION_SHARE
    )
    by_tool = _PEAK_SPEED * _find_tool_way(robot, q_start, q_goal) / tool_speed
    duration = max(by_speed, by_acceleration, by_tool, _SHORTEST)
    return SlowMove(readonly(q_start), readonly(q_goal), now_ns, duration)


def _find_tool_way(robot: RobotModel, q_start: Vec, q_goal: Vec) -> float:
    path = sample_path(q_start, q_goal)
    ways = [0.0]
    for limb in robot.limbs.values():
        p = np.array([limb.fk(limb.take(q)).translation for q in path])
        ways.append(float(np.linalg.norm(np.diff(p, axis=0), axis=1).max()))
    return max(ways) * (len(path) - 1)


def sample_path(q_start: Vec, q_goal: Vec, step: float = 0.05) -> Vec:
    """Return points at most ``step`` [rad] apart, shape (m, n)."""
    n = max(2, 1 + math.ceil(float(np.abs(q_goal - q_start).max()) / step))
    path: Vec = np.linspace(q_start, q_goal, n)
    return path
