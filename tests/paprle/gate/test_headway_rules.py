"""What counts as headway, and what wakes a limb that rests, number by number.

The gate's state is written as it is before half a period, and read after it.
"""

from __future__ import annotations

import numpy as np
import pytest
from minimal_robots import BALL, make_crane_and_slider

from paprle.gate.contact.stall_rest import IS_RESTING
from paprle.gate.gate import Gate
from paprle.gate.step import step
from paprle.gate.tcp_limits import STRAIGHT

H = 0.005  # [s]
V, A = np.array([1.0, 0.5, 1.0]), np.array([5.0, 5.0, 5.0])
LONG = 0.15  # [s] who makes no headway for so long rests
FAR, WANTED = np.array([1.0, 0.4, 0.0]), np.array([0.8, 0.1, 0.0])
ARM, OTHER = slice(0, 2), 2


class Limb:
    """An arm of two joints that a row holds far from its goal, beside a slider."""

    def __init__(self, begun=0.0, q=(0.0, 0.0, 0.0)):
        """Take for how long it has stalled, [s], and where it stands."""
        self.gate = Gate(make_crane_and_slider(), h=H)
        self.gate.reset(np.array(q))
        parts = self.gate._parts
        self.motion, self.box, self.limits = parts.motion, parts.box, parts.limits
        self.measured = parts.collision.measured
        parts.tools.speed[0] = np.inf
        self.limits.dq_max[:], self.limits.ddq_max[:] = V, A
        self.motion.q_cmd[:] = self.motion.target[:] = self.motion.goal[:] = q
        self.motion.stalled_goal[:], self.motion.stalled_at[:] = q, q
        self.motion.stalled_lag[:], self.motion.q_meas[:] = 0.0, q
        self.motion.is_sliding[0], self.motion.can_stall[:] = 1.0, [1.0, 0.0]
        self.motion.stalled_for[:] = [begun, 0.0]
        self.motion.is_held_by[:] = [[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
        self.motion.goal_error[:], self.box.dq_goal[:] = FAR, WANTED

    def stalls(self, *v):
        """Return for how long the arm has stalled after a period with this velocity."""
        self.box.low[:], self.box.high[:] = -9.0, 9.0
        self.motion.v_next[:] = v
        step(*self.gate._memory, H, 1.0, False, False, True)
        return self.motion.stalled_for[0]

    def begin(self):
        """Begin a period; return whether the arm rests, as it is told."""
        flags, _, _ = step(*self.gate._memory, H, 1.0, True, False, False)
        return bool(flags & IS_RESTING)


# the arm is asked for 0.8 of its V; a fifth of it is 0.16 and 0.08
@pytest.mark.parametrize(
    ("v", "is_headway"),
    [
        ((0.159, 0.079), False),
        ((0.161, 0.0), True),
        ((0.0, 0.081), True),
        ((-0.5, -0.5), False),
        ((0.0, 0.0), False),
    ],
)
@pytest.mark.parametrize("signs", [(1, 1), (-1, 1), (1, -1), (-1, -1)])
def test_a_fifth_of_the_allowed_speed_towards_the_goal_is_headway(signs, v, is_headway):
    limb = Limb()
    limb.motion.goal_error[ARM] *= signs
    limb.box.dq_goal[ARM] *= signs

    assert limb.stalls(*np.multiply(v, signs), 0.0) == (0.0 if is_headway else H)


@pytest.mark.parametrize(("v", "is_headway"), [(0.159, False), (0.161, True)])
def test_the_fastest_joint_sets_the_expected_speed(v, is_headway):
    limb = Limb()
    limb.box.dq_goal[ARM] = -0.01, -0.4  # 0.8 of the V of the second

    assert limb.stalls(v, 0.0, 0.0) == (0.0 if is_headway else H)


@pytest.mark.parametrize(("v", "is_headway"), [(0.019, False), (0.021, True)])
def test_slow_acceleration_lowers_the_expected_speed(v, is_headway):
    limb = Limb()
    limb.limits.ddq_max[0] = 0.2  # 0.1 after half a second

    assert limb.stalls(v, 0.0, 0.0) == (0.0 if is_headway else H)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("joint", "share"), [(0, 1.001), (1, 1.001), (1, 1.0)])
def test_near_its_goal_nobody_stalls(joint, share, sign):
    limb = Limb()
    limb.motion.goal_error[ARM] = 0.0
    limb.motion.goal_error[joint] = sign * share * STRAIGHT

    assert limb.stalls(0.0, 0.0, 0.0) == (H if share > 1.0 else 0.0)


# 0.01 of 0.8 of V for 0.15 s: 0.0012 rad, and 0.0006 rad of the second joint
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("error", "joint", "moved", "is_headway"),
    [
        ([1.0, 0.4], 0, 0.00115, False),
        ([1.0, 0.4], 0, 0.00125, True),
        ([1.0, 0.4], 1, 0.01, False),
        ([-1.0, -0.4], 1, 0.01, False),
        ([0.9, 0.8], 1, 0.00055, False),
        ([0.9, 0.8], 1, 0.00065, True),
        ([0.9, -0.8], 1, 0.00065, True),
        ([0.9, 0.8], 0, 0.01, False),
        ([0.4, 0.45], 1, 0.00065, True),
    ],
)
def test_only_the_joint_that_takes_longest_gets_free_by_moving(
    error, joint, moved, is_headway, sign
):
    limb = Limb(begun=H)
    limb.motion.goal_error[ARM] = error
    limb.motion.stalled_at[0, joint] -= sign * moved

    assert limb.stalls(0.0, 0.0, 0.0) == (0.0 if is_headway else 2 * H)


def test_the_joint_that_takes_longest_is_not_the_last_one():
    limb = Limb(begun=H)
    limb.limits.dq_max[0] = 0.8  # 1.25 s, and 0.9 s of the second
    limb.motion.goal_error[ARM] = 1.0, 0.45
    limb.motion.stalled_at[0, 1] = 0.01

    assert limb.stalls(0.0, 0.0, 0.0) == 2 * H


def test_limbs_stall_and_rest_each_for_itself():
    limb = Limb()
    limb.motion.can_stall[:] = 0.0, 1.0
    limb.motion.goal_error[OTHER] = limb.box.dq_goal[OTHER] = 1.0
    limb.motion.target[:] = limb.motion.stalled_goal[:] = 0.5

    assert limb.stalls(0.0, 0.0, 0.0) == 0.0
    assert limb.motion.stalled_for[1] == H

    limb.motion.stalled_for[1] = LONG
    limb.motion.stalled_goal[:] = 0.5
    assert limb.begin()
    assert limb.box.dq_goal[OTHER] == 0.0
    assert (limb.box.dq_goal[ARM] > 0.0).all()


def test_a_limb_at_its_goal_has_no_flags():
    limb = Limb()
    limb.motion.is_sliding[0] = 0.0

    flags, n_rows, _ = step(*limb.gate._memory, H, 1.0, True, False, False)

    assert (flags, n_rows) == (0, 0)


def test_the_position_before_a_stall_does_not_matter():
    limb = Limb()
    limb.motion.stalled_at[:] = 1.0

    assert limb.stalls(0.0, 0.0, 0.0) == H


@pytest.mark.parametrize("name", ["is_sliding", "can_stall"])
def test_only_who_is_held_stalls(name):
    limb = Limb(begun=H)
    getattr(limb.motion, name)[0] = 0.0

    assert limb.stalls(0.0, 0.0, 0.0) == 0.0


def test_a_stall_keeps_the_values_at_its_begin():
    limb = Limb()
    motion, lag = limb.motion, np.array([0.1, 0.2, 0.3])
    motion.goal[:], limb.measured.q_lag[:] = [1.0, 2.0, 3.0], lag
    motion.q_cmd[:] = c = [0.01, 0.02, 0.03]
    for k in range(3):
        assert limb.stalls(0.0, 0.0, 0.0) == pytest.approx((k + 1) * H)
        motion.q_cmd[2] += 1.0
        motion.goal[:] += 1.0
        limb.measured.q_lag[:] += 1.0

    assert motion.stalled_goal.tolist() == [1.0, 2.0, 0.0], "of this limb alone"
    assert motion.stalled_at.tolist() == [c, [0.0] * 3]
    assert motion.stalled_lag.tolist() == [lag.tolist(), [0.0] * 3]


@pytest.mark.parametrize(("begun", "rests"), [(LONG - 1e-6, False), (LONG, True)])
def test_a_pushed_limb_goes_on_resting(begun, rests):
    limb = Limb(begun)

    assert limb.stalls(1.0, 1.0, 0.0) == (begun if rests else 0.0)


@pytest.mark.parametrize(
    ("begun", "rests"), [(0.0, False), (H, False), (LONG - 1e-6, False), (LONG, True)]
)
def test_a_long_stall_ends_the_request(begun, rests):
    limb = Limb(begun)
    limb.motion.target[:] = 0.5
    limb.motion.stalled_goal[:] = 0.5

    assert limb.begin() == rests
    assert limb.motion.stalled_for.tolist() == [begun, 0.0]
    assert (limb.box.dq_goal[ARM] == 0.0).all() == rests
    assert (limb.box.dq_track[ARM] == 0.0).all()
    assert limb.box.dq_goal[OTHER] > 0.0, "the other goes on"


def test_a_resting_limb_has_not_reached_its_goal():
    limb = Limb(2 * LONG)
    limb.motion.target[:] = limb.motion.stalled_goal[:] = 1e-5  # a step away

    assert limb.begin()
    assert limb.motion.q_next.tolist() == [0.0, 0.0, 1e-5]


def test_a_resting_limb_keeps_no_speed_of_its_goal():
    limb = Limb(2 * LONG)
    limb.motion.dq_des[:] = 0.1

    assert limb.begin()
    assert (limb.box.dq_track[ARM] == 0.0).all()
    assert limb.box.dq_track[OTHER] > 0.0


@pytest.mark.parametrize(("begun", "bound"), [(LONG - 1e-6, 1e-3), (2 * LONG, 0.02)])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("joint", "share", "wakes"),
    [(0, 0.95, 0), (0, 1.05, 1), (1, 0.95, 0), (1, 1.05, 1), (2, 9.0, 0)],
)
def test_another_goal_wakes_who_rests(joint, share, wakes, sign, begun, bound):
    limb = Limb(begun)
    limb.motion.target[:] = limb.motion.stalled_goal[:] = 0.5
    limb.motion.target[joint] += sign * share * bound

    assert limb.begin() == (not wakes and begun > LONG)
    assert limb.motion.stalled_for[0] == (0.0 if wakes else begun)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("joint", "moved", "wakes"), [(2, 0.0099, 0), (2, 0.0101, 1), (1, 0.5, 0)]
)
def test_resting_limb_resumes_when_the_blocking_joint_moves(joint, moved, wakes, sign):
    limb = Limb(2 * LONG)
    limb.motion.target[:] = limb.motion.stalled_goal[:] = 0.5
    limb.motion.stalled_at[0, joint] -= sign * moved

    assert limb.begin() == (not wakes)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    ("joint", "lag", "wakes"),
    [(0, 0.049, 0), (0, 0.051, 1), (1, 0.051, 1), (2, 0.049, 0), (2, 0.051, 1)],
)
def test_a_robot_that_arrives_where_it_lagged_wakes_who_rests(joint, lag, wakes, sign):
    limb = Limb(2 * LONG)
    limb.motion.target[:] = limb.motion.stalled_goal[:] = 0.5
    limb.motion.stalled_lag[0] = 0.02  # it may lag, as long as it does so still
    limb.motion.q_meas[:] = 0.02
    limb.motion.q_meas[joint] += sign * lag

    assert limb.begin() == (not wakes)


def test_a_robot_that_lags_and_holds_nobody_wakes_nobody():
    limb = Limb(2 * LONG)
    limb.motion.is_held_by[:] = 0.0
    limb.motion.target[:] = limb.motion.stalled_goal[:] = 0.5
    limb.motion.q_meas[:] = [0.0, 0.0, 0.3]

    assert limb.begin()


def test_a_released_limb_starts_its_stall_timer_anew():
    limb = Limb(LONG - 1e-6)
    limb.motion.target[:] = limb.motion.stalled_goal[:] = 0.5
    limb.motion.is_sliding[0] = 0.0

    assert not limb.begin()
    assert limb.motion.stalled_for[0] == 0.0


def press(begun=0.0):
    """Return an arm that is led against the slider, 10.5 mm from it."""
    limb = Limb(begun, q=(1.0 - 2 * BALL - 0.0105, 0.0, 0.0))
    limb.motion.is_held_by[:] = 1.0
    limb.motion.can_stall[:] = 0.0
    limb.motion.target[0] = limb.motion.stalled_goal[0] = 1.5
    return limb


def test_each_of_two_limbs_is_held_by_the_other_one():
    limb = press()

    limb.begin()

    assert limb.motion.is_held_by.tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    assert limb.motion.can_stall.tolist() == [1.0, 1.0]


def test_a_standing_body_holds_a_limb_by_no_joint():
    limb = Limb(q=(0.0, 1.0 - 2 * BALL - 0.0105, 0.0))
    limb.motion.is_held_by[:] = 1.0
    limb.motion.can_stall[:] = 0.0, 1.0
    limb.motion.target[1] = 1.5

    limb.begin()

    assert not limb.motion.is_held_by.any()
    assert limb.motion.can_stall.tolist() == [1.0, 0.0], "the slider is far away"


@pytest.mark.parametrize("begun", [LONG, 2 * LONG])
def test_the_holding_joints_of_a_resting_limb_are_kept(begun):
    limb = press(begun)
    limb.motion.target[1] = limb.motion.stalled_goal[1] = 0.5

    limb.begin()

    assert limb.motion.is_held_by[0].tolist() == [1.0, 1.0, 1.0]
    assert limb.motion.can_stall.tolist() == [0.0, 1.0]


def test_a_limb_whose_row_waits_for_the_robot_does_not_stall():
    """The slider's command is away, but the slider itself is still there."""
    limb = press()
    limb.motion.q_next[2] = -0.3
    limb.motion.q_meas[:] = limb.motion.q_cmd

    limb.begin()

    assert limb.measured.waits.max() > 0.0
    assert limb.motion.can_stall.tolist() == [0.0, 1.0], "it speaks of the arm alone"
