import math

import numpy as np
import pinocchio as pin
import pytest
from arms import ALL, FULL, draw_q, load_limb, load_stranger, seeds, shift, some
from hypothesis import given
from hypothesis import strategies as st

from paprle.contracts.settings.core import IkSettings
from paprle.kinematics import IkSolver

STRANGERS = ["panda", "ur5", "xarm7", "kinova"]


def is_reached(found):
    return found.err_pos < 1e-4 and found.err_rot < 1e-3


@pytest.mark.parametrize("name", ALL)
def test_all_reachable_targets_are_found_from_afar(name):
    rng = np.random.default_rng(3)
    limb = load_limb(name)
    solver = IkSolver(limb)
    goals = [limb.fk(draw_q(limb, rng)) for _ in range(200)]

    found = [solver.solve_global(goal) for goal in goals]

    assert all(is_reached(f) and f.is_converged for f in found)


@pytest.mark.parametrize("name", STRANGERS)
def test_arms_never_seen_find_what_they_can_reach(name):
    rng = np.random.default_rng(4)
    limb = load_stranger(name)
    solver = IkSolver(limb)
    goals = [limb.fk(draw_q(limb, rng, 0.0)) for _ in range(400)]

    found = [solver.solve_global(goal) for goal in goals]

    assert np.mean([is_reached(f) for f in found]) >= 0.995
    assert all(np.all(f.q >= limb.q_min) and np.all(f.q <= limb.q_max) for f in found)


@given(seed=seeds, name=st.sampled_from(ALL))
@some
def test_answer_keeps_limits_and_is_the_same_each_time(seed, name):
    rng = np.random.default_rng(seed)
    limb = load_limb(name, seed)
    solver = IkSolver(limb, position_margin=0.02)
    T, q = limb.fk(draw_q(limb, rng, 0.0)), draw_q(limb, rng, -0.2)

    found, again = solver.solve_global(T, q), solver.solve_global(T, q)

    np.testing.assert_array_equal(found.q, again.q)
    assert np.all(found.q >= limb.q_min + 0.02)
    assert np.all(found.q <= limb.q_max - 0.02)
    T_found = limb.fk(found.q)
    assert found.err_pos == pytest.approx(
        np.linalg.norm(T.translation - T_found.translation), abs=1e-9
    )


@pytest.mark.long
@given(seed=seeds, name=st.sampled_from(ALL))
@some
def test_out_of_reach_what_comes_closest_is_found_in_bounded_time(seed, name):
    rng = np.random.default_rng(seed)
    limb = load_limb(name, seed)
    solver, out = IkSolver(limb), rng.normal(size=3)
    T = shift(limb.fk(draw_q(limb, rng)), 5.0 * out / np.linalg.norm(out))

    found = solver.solve_global(T)

    assert not found.is_converged
    assert found.n_iterations < 2200
    tracked = [solver.solve(T, draw_q(limb, rng), max_step=9.0) for _ in range(5)]
    assert found.err_pos <= min(t.err_pos for t in tracked) + 0.05


@pytest.mark.parametrize("name", ALL)
def test_start_that_is_there_already_is_the_answer(name):
    limb = load_limb(name)
    q = limb.home + 0.05

    found = IkSolver(limb).solve_global(limb.fk(q), q)

    assert found.q is q
    assert found.is_converged


@pytest.mark.parametrize("name", FULL)
def test_a_nearby_solution_is_the_one_that_is_taken(name):
    rng = np.random.default_rng(5)
    limb = load_limb(name)
    solver = IkSolver(limb)
    ways = []

    for _ in range(50):
        q = draw_q(limb, rng, 0.25)
        goal = q + rng.uniform(-0.1, 0.1, len(q))
        ways.append(np.abs(solver.solve_global(limb.fk(goal), q).q - q).max())

    assert np.median(ways) < 0.15
    assert np.mean(np.array(ways) < 0.5) >= 0.9


def test_no_joint_makes_a_turn_that_it_need_not_make():
    limb = load_limb("ur5e")
    q = limb.home.copy()
    q[[0, 3, 5]] = 5.0, -5.5, 6.0

    found = IkSolver(limb).solve_global(limb.fk(q + 0.02), q)

    assert found.is_converged
    np.testing.assert_allclose(found.q, q + 0.02, atol=1e-4)


def test_position_comes_first_where_the_rotation_is_out_of_reach():
    limb = load_limb("open_manipulator_x")
    T = limb.fk(limb.home)
    turned = pin.SE3(pin.rpy.rpyToMatrix(0.3, 0.2, 0.3) @ T.rotation, T.translation)

    found = IkSolver(limb).solve_global(turned, limb.home)

    assert found.err_pos <= 1e-6
    assert not found.is_converged
    assert 0.1 < found.err_rot < 0.4


def test_a_joint_without_mobility_is_not_used():
    limb = load_limb("papras_7dof")
    ik = IkSettings(mobility={limb.joint_names[2]: 0.0})
    q_goal = draw_q(limb, np.random.default_rng(6))
    q_goal[2] = limb.home[2]

    found = IkSolver(limb, ik).solve_global(limb.fk(q_goal), limb.home)

    assert found.is_converged
    assert found.q[2] == limb.home[2]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nothing_is_looked_for_without_target_or_start(bad):
    limb = load_limb("piper")
    solver, q = IkSolver(limb), limb.home.copy()
    q[1] = bad

    no_start = solver.solve_global(limb.fk(limb.home), q)
    no_target = solver.solve_global(pin.SE3(np.eye(3), np.full(3, bad)), limb.home)

    assert no_start.q is q
    assert no_target.q is limb.home
    assert math.isnan(no_start.err_pos)
    assert math.isnan(no_target.err_pos)
    assert not no_target.is_converged
