"""Arms with a joint to spare follow, come back, and keep V, in library and session."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
from arms import load_limb, shift

from benchmarks.redundancy import (
    DT,
    MARGIN,
    ON_POS,
    ON_ROT,
    Arm,
    find_reached,
    follow,
    load,
    make_library,
    make_motion,
    make_return,
    make_session,
    make_timed,
)
from paprle.contracts.errors import CommandError
from paprle.contracts.settings.core import IkSettings
from paprle.kinematics import IkSolver
from paprle.kinematics.posture import find_posture_bias

ROUNDING = 1e-9


@pytest.fixture(scope="module", params=["iiwa", "jaco7"])
def arm(request):
    return Arm(load(request.param, None))


def make_fast():
    """The first motion of ``benchmarks.redundancy fast`` on iiwa: a third was lost."""
    arm = Arm(load("iiwa", 1.0))
    motion = make_motion(arm, "fast", np.random.default_rng(0))
    return arm, motion, [arm.limb.fk(q) for q in motion]


def test_a_motion_too_fast_for_the_box_keeps_its_position():
    arm, motion, path = make_fast()

    q = follow(make_session(arm), motion[0], path)

    pos, rot = find_reached(arm.limb, q, path)
    assert (pos < ON_POS).mean() > 0.99
    assert (rot < ON_ROT).mean() > 0.6
    assert rot.max() < math.radians(5.0)


def test_position_is_not_bought_with_speed_or_acceleration():
    arm, motion, path = make_fast()

    q = follow(make_session(arm), motion[0], path)

    dq = np.diff(np.vstack([motion[:1], q]), axis=0) / DT
    ddq = np.diff(np.vstack([np.zeros_like(dq[:1]), dq]), axis=0) / DT
    assert (np.abs(dq) <= arm.dq_max + ROUNDING).all()
    assert (np.abs(ddq) <= arm.ddq_max * (1.0 + 1e-6)).all()
    assert (q >= arm.q_min + MARGIN - ROUNDING).all()
    assert (q <= arm.q_max - MARGIN + ROUNDING).all()


def turn_hand(arm, turn, n):
    """A pose of iiwa, turned in its place about its own z within n ticks, then held."""
    q = np.array([0.3, 0.5, -0.4, -1.2, 0.6, 0.9, 1.5])
    share = np.clip(np.arange(3 * n) / n, 0.0, 1.0)
    share *= share * (3.0 - 2.0 * share)
    T, axis = arm.limb.fk(q), np.array([0.0, 0.0, turn])
    return q, [T * pin.SE3(pin.exp3(u * axis), np.zeros(3)) for u in share]


def test_a_hand_that_is_turned_beyond_a_limit_stays_in_its_place():
    """4.1 rad about the last joint, which has 1.5 left: the arm makes up some of it."""
    arm = Arm(load("iiwa", None))
    start, path = turn_hand(arm, 4.1, 500)

    q = follow(make_session(arm), start, path)

    pos, rot = find_reached(arm.limb, q, path)
    assert rot.max() > math.radians(30.0)
    assert pos.max() < 2e-3


def test_a_hand_that_is_held_beyond_a_limit_comes_to_rest():
    arm = Arm(load("iiwa", None))
    start, path = turn_hand(arm, 4.1, 500)

    q = follow(make_session(arm), start, path)

    ddq = np.diff(q[-200:], n=2, axis=0) / DT**2
    assert np.abs(ddq).max() < 0.02 * arm.ddq_max.min()


@pytest.mark.parametrize("which", [8, 10])
def test_an_arm_that_goes_to_another_posture_keeps_its_hand_in_place(which):
    """Two motions of ``benchmarks.redundancy slow`` in which iiwa comes to a limit."""
    arm, rng = Arm(load("iiwa", None)), np.random.default_rng(1)
    motion = [make_motion(arm, "slow", rng) for _ in range(which + 1)][-1]
    path = [arm.limb.fk(q) for q in motion]

    q = follow(make_library(arm), motion[0], path)

    pos, rot = find_reached(arm.limb, q, path)
    assert rot.max() > math.radians(30.0)
    assert pos.max() < ON_POS
    assert (rot < ON_ROT).mean() > 0.98
    step = IkSettings().max_step
    assert np.abs(np.diff(q, axis=0)).max() <= step + ROUNDING
    assert (q >= arm.q_min + MARGIN - ROUNDING).all()
    assert (q <= arm.q_max - MARGIN + ROUNDING).all()


@pytest.mark.long
@pytest.mark.parametrize("make", [make_library, make_timed])
def test_the_library_comes_back_from_out_of_reach(arm, make):
    rng = np.random.default_rng(3)
    for _ in range(3):
        start, path = make_return(arm, rng)

        q = follow(make(arm), start, path)

        pos, rot = find_reached(arm.limb, q[-1:], path[-1:])
        assert pos[0] < ON_POS
        assert rot[0] < ON_ROT


@pytest.mark.long
@pytest.mark.parametrize("make, which", [(make_timed, 10), (make_session, 1)])
def test_an_arm_that_was_stretched_out_does_not_fold_the_wrong_way(make, which):
    """Of the ways of ``benchmarks.redundancy returns`` two that ended folded."""
    xarm7, rng = Arm(load("xarm7", None)), np.random.default_rng(0)
    start, path = [make_return(xarm7, rng) for _ in range(which + 1)][-1]

    q = follow(make(xarm7), start, path)

    pos, rot = find_reached(xarm7.limb, q[-1:], path[-1:])
    assert pos[0] < ON_POS
    assert rot[0] < ON_ROT


@pytest.mark.parametrize("dt", [DT, 0.02, 0.0])
def test_told_the_time_no_joint_goes_faster_than_it_may(arm, dt):
    rng, limb = np.random.default_rng(1), arm.limb
    solver = IkSolver(limb, position_margin=MARGIN)
    low, high = np.maximum(arm.q_min, -3.0), np.minimum(arm.q_max, 3.0)
    for _ in range(20):
        q, goal = rng.uniform(low, high) * 0.9, rng.uniform(low, high) * 0.9

        found = solver.solve(limb.fk(goal), q, dt=dt)

        assert (np.abs(found.q - q) <= arm.dq_max * dt + ROUNDING).all()


def test_told_the_time_a_slow_target_is_met_as_without(arm):
    solver = IkSolver(arm.limb, position_margin=MARGIN)
    near = shift(arm.limb.fk(arm.limb.home), [1e-4, 0.0, -1e-4])

    told = solver.solve(near, arm.limb.home, dt=DT)

    assert told.is_converged
    np.testing.assert_array_equal(told.q, solver.solve(near, arm.limb.home).q)


@pytest.mark.parametrize("dt", [-0.1, math.nan])
def test_an_invalid_time_is_refused(arm, dt):
    solver = IkSolver(arm.limb)
    with pytest.raises(CommandError, match=r"expected dt of 0 or more \[s\]"):
        solver.solve(arm.limb.fk(arm.limb.home), arm.limb.home, dt=dt)


def test_an_arm_with_no_joint_to_spare_stays_on_its_branch():
    limb = load_limb("ur5e")
    solver, q = IkSolver(limb), limb.home.copy()
    q[1] = limb.q_max[1] - 0.01
    beyond = q.copy()
    beyond[1] = limb.q_max[1] + 0.1
    target = limb.fk(beyond)
    assert solver.solve_global(target, q).is_converged

    for _ in range(50):
        q = solver.solve(target, q).q

    assert np.abs(q - beyond).max() < 0.5


JOINTS = np.array([[-2.0, -math.inf], [2.0, math.inf], [0.5, 0.5], [1.0, 1.0]])


def test_a_joint_leans_home_and_away_from_limits_where_there_is_one_to_spare():
    assert find_posture_bias(JOINTS, 0, 0.0, True) == pytest.approx(
        0.5
    )  # in the middle
    assert find_posture_bias(JOINTS, 0, 1.9, True) < -5.0
    assert find_posture_bias(JOINTS, 0, -1.9, True) > 5.0
    assert find_posture_bias(JOINTS, 0, 1.9, False) == pytest.approx(0.5 - 1.9)
    assert find_posture_bias(JOINTS, 1, 30.0, True) == pytest.approx(0.5 - 30.0)
    assert math.isfinite(find_posture_bias(JOINTS, 0, 2.5, True))
