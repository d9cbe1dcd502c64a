"""A slow move keeps the shares of the limits that were asked for."""

import numpy as np
import pytest
from lock_step import PIPER

from paprle.session.slow_move import make_slow_move

JAW = PIPER.joint_names.index(PIPER.limbs["arm"].gripper.joint)
JAW_LEAST = PIPER.q_min[JAW]


def find_peak(goal, speed):
    """Return the largest share of V of each joint over a move from home."""
    start = PIPER.info.home.copy()
    start[JAW] = PIPER.q_max[JAW]
    move = make_slow_move(start, goal, PIPER, speed, 10.0, 0)
    times = np.linspace(0, move.duration, 400)
    speeds = [np.abs(move.compute(round(1e9 * t))[1]) for t in times]
    return np.max(speeds, axis=0) / PIPER.dq_max, move.duration


def test_an_arm_moves_at_its_share_of_the_limits():
    goal = PIPER.info.home.copy()
    goal[JAW] = PIPER.q_max[JAW]
    goal[0] += 1.0

    peak, _ = find_peak(goal, 0.1)

    assert peak.max() == pytest.approx(0.1, rel=0.01)


def test_a_gripper_takes_three_times_the_share_and_no_more_than_all():
    goal = PIPER.info.home.copy()
    goal[JAW] = JAW_LEAST

    slow, quick = (find_peak(goal, speed)[0][JAW] for speed in (0.02, 0.5))

    assert slow == pytest.approx(0.06, rel=0.01)
    assert quick <= 1.0
