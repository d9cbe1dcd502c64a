"""The jerk limit: a command is the mean of the limits' last m outputs.

The jerk is at most 2 A / (m h). The mean keeps convex limits and stops, is delayed by
(m − 1) h / 2, and strays by A ((m h)² − h²) / 24.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from paprle.compiled import compiled
from paprle.contracts.types import RobotInfo, Vec
from paprle.robot.arrays import Ints

_ROUNDING = 1e-9  # chosen: 2 A / (J h) that is a whole number but for rounding is one


class Smoothing(NamedTuple):
    """The last outputs of the limits, and their mean.

    Attributes:
        q_cmd: The command to send, shape (n,).
        q: Last outputs, shape (m + 1, n), one row spare for a broken-off step.
        n_given: Outputs so far, shape (1,).
    """

    q_cmd: Vec
    dq_cmd: Vec
    q: Vec
    dq: Vec
    n_given: Ints


def count_periods(robot: RobotInfo, h: float) -> int:
    """Return m for a period h [s]."""
    if robot.dddq_max is None:
        return 1
    m = float((2.0 * robot.ddq_max / (robot.dddq_max * h)).max())
    return max(1, math.ceil(m * (1.0 - _ROUNDING)))


def compute_delay(robot: RobotInfo, h: float) -> float:
    """Return the delay of commands behind the limits' output, [s]."""
    return 0.5 * (count_periods(robot, h) - 1) * h


def compute_straying(robot: RobotInfo, m: int, h: float) -> Vec:
    """Return joints' straying off the limits' path, (n,), [rad]."""
    return robot.ddq_max * (h * h * (m * m - 1) / 24.0)


def start(smoothing: Smoothing, q: Vec) -> None:
    """Stand at a position, shape (n,), [rad]."""
    smoothing.q[:], smoothing.dq[:] = q, 0.0
    smoothing.q_cmd[:], smoothing.dq_cmd[:] = q, 0.0


@compiled
def smooth(smoothing: Smoothing, q: Vec, dq: Vec) -> None:
    """Add the limits' output, shapes (n,), and write the command."""
    n_rows, newest = len(smoothing.q), smoothing.n_given[0]
    m = n_rows - 1
    smoothing.n_given[0] += 1
    for i in range(len(q)):
        smoothing.q[newest % n_rows, i] = q[i]
        smoothing.dq[newest % n_rows, i] = dq[i]
        lowest, highest, off, speed = q[i], q[i], 0.0, dq[i]
        for k in range(1, m):
            row = (newest + n_rows - k) % n_rows
            past = smoothing.q[row, i]
            lowest, highest = min(lowest, past), max(highest, past)
            off += past - q[i]
            speed += smoothing.dq[row, i]
        # at rest it is the place itself, to the last bit
        smoothing.q_cmd[i] = min(max(q[i] + off / m, lowest), highest)
        smoothing.dq_cmd[i] = speed / m
