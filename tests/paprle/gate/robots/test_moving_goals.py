"""Going along with a goal, and what is added to that, against the closed form."""

from __future__ import annotations

import numpy as np
import pytest

from paprle.gate import limits
from paprle.gate.gate import Gate
from paprle.robot import braking
from paprle.testing.robots import make_robot_info

H, A = 0.01, 5.0


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize(
    ("ddq", "left"), [(0.0, A), (-0.5 * A, 0.5 * A), (0.5 * A, A), (-A, 0.1 * A)]
)
def test_a_moving_goal_is_neared_with_what_going_along_leaves_of_a(sign, ddq, left):
    gate = Gate(make_robot_info(1, dq_max=5.0, ddq_max=A), h=H)
    motion, box = gate._parts.motion, gate._parts.box
    motion.dq_feedforward[:], motion.ddq[:] = 0.4 * sign, ddq * sign
    motion.goal_error[:] = (0.1 + 0.4 * H) * sign  # 0.1 rad beside going along

    flags = limits.fill_wanted(gate._parts.limits, H, 1.0, motion, box)

    expected = 0.4 + braking.compute_stopping_speed(0.1, left, H)
    assert flags == 0
    assert box.dq_track[0] == pytest.approx(0.4 * sign)
    assert box.dq_goal[0] == pytest.approx(expected * sign)
    assert motion.reaches_goal[0] == 0.0


def test_a_goal_within_one_step_is_reached_exactly():
    gate = Gate(make_robot_info(1, dq_max=1.0, ddq_max=A), h=H)
    motion, box = gate._parts.motion, gate._parts.box
    motion.dq_feedforward[:], motion.goal_error[:] = 0.4, 0.4 * H + 1e-4

    limits.fill_wanted(gate._parts.limits, H, 1.0, motion, box)

    assert motion.reaches_goal[0] == 1.0
    assert box.dq_goal[0] == pytest.approx(0.41)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [([0.95, 0.2], [0.9125, 0.05]), ([0.0, 0.04], [0.9, 0.0])],  # a quarter; none
)
def test_a_joint_that_must_stop_keeps_the_scale_of_its_limb(wanted, expected):
    gate = Gate(make_robot_info(2, dq_max=1.0, ddq_max=A), h=H)
    box, v, exact = gate._parts.box, np.zeros(2), np.ones(2)
    box.low[:], box.high[:], box.dq_track[:] = [0.9, -0.05], [1.0, 0.05], 0.0
    box.dq_goal[:] = wanted

    flags = limits.limit_along(gate._parts.limits, box, v, exact)

    assert v == pytest.approx(expected)
    assert exact.tolist() == [0.0, 0.0]
    assert flags == limits.IS_HELD


@pytest.mark.parametrize(("scale", "wanted"), [(1.0, [1.0, -0.55]), (0.5, [0.5, -0.5])])
def test_only_what_is_added_to_going_along_is_scaled_to_the_speed_limit(scale, wanted):
    gate = Gate(make_robot_info(2, dq_max=1.0, ddq_max=A), h=H)
    motion, box = gate._parts.motion, gate._parts.box
    motion.dq_feedforward[:] = 0.5, -0.5
    motion.goal_error[:] = 1.0 + 0.5 * H, -0.5 * H - 0.1
    added = braking.compute_stopping_speed(1.0, A, H)

    flags = limits.fill_wanted(gate._parts.limits, H, scale, motion, box)

    assert flags == limits.IS_FAST
    assert added > 0.5
    assert box.dq_goal == pytest.approx(wanted)


def fill_limits(base, wanted):
    """Return the velocities of two joints that stand, and which are exact."""
    gate = Gate(make_robot_info(2, dq_max=1.0, ddq_max=A), h=H)
    box, v, exact = gate._parts.box, np.zeros(2), np.ones(2)
    box.brake[:], box.low[:], box.high[:] = 0.0, -0.05, 0.05
    box.dq_track[:], box.dq_goal[:] = base, wanted
    flags = limits.limit_along(gate._parts.limits, box, v, exact)
    return v, exact, flags


@pytest.mark.parametrize("sign", [-1.0, 1.0])
@pytest.mark.parametrize(
    ("base", "wanted", "v", "exact"),
    [
        ([0.01, 0.02], [0.03, 0.04], [0.03, 0.04], [1, 1]),
        ([0.01, 0.02], [0.09, 0.04], [0.05, 0.03], [0, 0]),  # half of what is added
        ([0.30, 0.02], [0.40, 0.04], [0.05, 0.04], [0, 1]),  # the first is left behind
        ([0.30, 0.02], [0.40, 0.08], [0.05, 0.05], [0, 0]),
        ([-0.3, 0.0], [0.02, 0.0], [0.02, 0.0], [1, 1]),  # on its way back: not held
    ],
)
def test_a_limb_adds_in_one_scale_to_going_along(base, wanted, v, exact, sign):
    got, is_exact, flags = fill_limits(sign * np.array(base), sign * np.array(wanted))

    assert sign * got == pytest.approx(v)
    assert is_exact.tolist() == exact
    assert flags == (0 if all(exact) else limits.IS_HELD)


@pytest.mark.parametrize(
    ("wish", "feed"),
    [
        (0.02, 0.02),
        (0.07, 0.05),
        (-0.07, -0.05),
        (0.0701, 0.05),
        (-1e300, -0.05),
        (np.nan, 0.0),
        (np.inf, 0.0),
    ],
)
def test_feed_forward_changes_as_a_joint_could(wish, feed):
    gate = Gate(make_robot_info(1, dq_max=0.07, ddq_max=A), h=H)
    motion, parts = gate._parts.motion, gate._parts
    motion.dq_des[:] = wish

    limits.limit_feedforward(parts.limits, H, 1.0, motion)
    first = float(motion.dq_feedforward[0])
    limits.limit_feedforward(parts.limits, H, 1.0, motion)
    limits.limit_feedforward(parts.limits, H, 0.5, motion)

    assert first == pytest.approx(feed)
    assert motion.dq_feedforward[0] == pytest.approx(np.clip(feed, -0.035, 0.035))


@pytest.mark.parametrize(
    ("step", "dq"), [(0.07, 0.07), (-0.07, -0.07), (0.071, 0.0), (np.nan, np.nan)]
)
def test_a_goal_that_jumped_has_no_velocity_of_its_own(step, dq):
    gate = Gate(make_robot_info(1, dq_max=0.07, ddq_max=A), h=H)
    motion, parts = gate._parts.motion, gate._parts
    motion.goal_prev[:], motion.goal[:] = 0.0, step * H

    limits.estimate_velocity(parts.limits, H, motion)

    assert motion.dq_des[0] == pytest.approx(dq, nan_ok=True)
