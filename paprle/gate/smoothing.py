"""The jerk limit: what is sent is the mean of what the limits gave in the last periods.

The limits work with accelerations that may change from A to −A at once. The mean of m
commands one period apart has a jerk of 2 A / (m h) at most, so m is chosen for that to
be J. It needs no proof of its own: positions, velocities and accelerations that keep
convex limits keep them on the mean, room to stop is convex too, and the stop that was
verified is the mean's stop, m − 1 periods later. It costs a delay of (m − 1) h / 2,
about A / J, and strays from the path that was verified by A ((m h)² − h²) / 24, which
is added to the clearance.

Time to a goal is that of the limits and 2 A / J; a profile of seven phases (Ruckig)
takes A / J. For that the filter has no cases, and cannot fail.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from paprle.compiled import compiled
from paprle.contracts.types import RobotInfo, Vec
from paprle.robot.arrays import Ints

_ROUNDING = 1e-9  # chosen: 2 A / (J h) that is a whole number but for rounding is one


class Smoothing(NamedTuple):
    """The outputs of the limits that the command averages, and their mean.

    Attributes:
        q_cmd: The command to send, shape (n,), [rad] or [m].
        dq_cmd: Its velocity, shape (n,), [rad/s] or [m/s].
        q: What the limits gave in the last periods, shape (m + 1, n): the mean is over
            m of them, and a step that is broken off spoils the one that is left.
        dq: Its velocities, shape (m + 1, n).
        n_given: Number of outputs so far, shape (1,); the next goes to the row of that
            number modulo m + 1.
    """

    q_cmd: Vec
    dq_cmd: Vec
    q: Vec
    dq: Vec
    n_given: Ints


def count_periods(robot: RobotInfo, h: float) -> int:
    """Return m, the same for all joints: a limb keeps to its straight way.

    Args:
        robot: Gives A and J.
        h: Period, [s].
    """
    if robot.dddq_max is None:
        return 1
    m = float((2.0 * robot.ddq_max / (robot.dddq_max * h)).max())
    return max(1, math.ceil(m * (1.0 - _ROUNDING)))


def compute_delay(robot: RobotInfo, h: float) -> float:
    """Return how late a command is behind what the limits gave, [s]."""
    return 0.5 * (count_periods(robot, h) - 1) * h


def compute_straying(robot: RobotInfo, m: int, h: float) -> Vec:
    """Return how far each joint strays from the path of the limits, shape (n,), [rad].

    Args:
        robot: Gives A.
        m: Periods of the mean.
        h: Period, [s].
    """
    return robot.ddq_max * (h * h * (m * m - 1) / 24.0)


def start(smoothing: Smoothing, q: Vec) -> None:
    """Stand at a position, shape (n,), [rad]."""
    smoothing.q[:], smoothing.dq[:] = q, 0.0
    smoothing.q_cmd[:], smoothing.dq_cmd[:] = q, 0.0


@compiled
def smooth(smoothing: Smoothing, q: Vec, dq: Vec) -> None:
    """Take what the limits gave in this period, and write the command to send.

    Args:
        smoothing: What came before; changed.
        q: Positions, shape (n,), [rad].
        dq: Velocities, shape (n,), [rad/s].
    """
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
