import math

import numpy as np
import pinocchio as pin
import pytest
from arms import (
    ALL,
    FULL,
    PERIOD,
    draw_q,
    load_limb,
    seeds,
    shift,
    some,
    weighted_error,
)
from hypothesis import given
from hypothesis import strategies as st

from paprle.kinematics import IkSolver, estimate_sigma_min


@pytest.mark.long
@given(seed=seeds, name=st.sampled_from(FULL))
@some
def test_unreachable_target_is_approached_and_left_without_a_jump(seed, name):
    rng = np.random.default_rng(seed)
    limb = load_limb(name, seed)
    solver, q = IkSolver(limb), draw_q(limb, rng)
    away = rng.normal(size=3)
    far = shift(limb.fk(q), 2.0 * away / np.linalg.norm(away))
    errors = []

    for _ in range(60):
        found = solver.solve(far, q, max_step=0.05)
        assert np.abs(found.q - q).max() <= 0.05 * (1 + 1e-12)
        q = found.q
        errors.append(weighted_error(solver, found))

    assert not found.is_converged
    assert np.all(np.diff(errors) <= 1e-12)


@pytest.mark.parametrize("name", FULL)
def test_leap_of_the_target_is_cut_off_and_its_direction_kept(name):
    limb = load_limb(name)
    solver, T0 = IkSolver(limb), limb.fk(limb.home)
    leap = pin.SE3(pin.rpy.rpyToMatrix(0, 0, 3.0) @ T0.rotation, -T0.translation)

    wide, narrow = (
        solver.solve(leap, limb.home, max_step=bound) for bound in (0.02, 0.01)
    )

    assert not wide.is_converged
    assert np.abs(wide.q - limb.home).max() <= 0.02 * (1 + 1e-12)
    np.testing.assert_allclose(
        narrow.q - limb.home, (wide.q - limb.home) / 2, atol=2e-3
    )


@pytest.mark.parametrize("name", FULL)
def test_arm_recovers_by_itself_from_an_unreachable_target(name):
    limb = load_limb(name)
    solver, T0 = IkSolver(limb), limb.fk(limb.home)
    n, outwards = 200, T0.translation / np.linalg.norm(T0.translation)
    out = [min(k, 2 * n - k) / n for k in range(2 * n + 1)] + [0.0] * 100
    q, speeds = limb.home, []

    for share in out:
        found = solver.solve(shift(T0, share * outwards), q, max_step=0.05)
        speeds.append(np.abs(found.q - q).max() / PERIOD)
        q = found.q

    assert max(speeds) <= 0.05 / PERIOD * (1 + 1e-9)
    assert found.is_converged


def test_speed_stays_bounded_through_a_straight_elbow():
    limb = load_limb("ur5e")
    solver, q = IkSolver(limb), limb.home.copy()
    T0 = limb.fk(q)
    outwards = T0.translation / np.linalg.norm(T0.translation)
    reach, bound = [], 2 * float(limb.dq_max.max()) * PERIOD

    for k in range(1000):
        target = shift(T0, outwards * 0.001 * min(k, 1000 - k))
        found = solver.solve(target, q, max_step=bound)
        assert np.abs(found.q - q).max() <= bound * (1 + 1e-9)
        q = found.q
        reach.append(estimate_sigma_min(limb, q))

    assert min(reach) < 0.01
    assert found.err_pos < 0.002
    np.testing.assert_allclose(q, limb.home, atol=0.1)


def test_wrist_singularity_is_passed_while_tracking():
    limb = load_limb("ur5e")
    solver, q = IkSolver(limb), np.array([0.0, -1.5, 1.6, -1.6, -0.4, 0.0])
    sigmas = []

    for wrist in np.linspace(-0.4, 0.4, 401):
        goal = np.array([0.0, -1.5, 1.6, -1.6, wrist, 0.0])
        found = solver.solve(limb.fk(goal), q)
        assert np.abs(found.q - q).max() < 0.05
        q = found.q
        sigmas.append(estimate_sigma_min(limb, q))
        assert found.err_pos < 1e-5
        assert found.err_rot < 1e-5

    assert min(sigmas) < 0.001
    np.testing.assert_allclose(q, goal, atol=0.01)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    "target",
    [
        pin.SE3(np.eye(3), np.array([0.1, np.nan, 0.1])),
        pin.SE3(np.eye(3), np.array([np.inf, 0.0, 0.1])),
        pin.SE3(np.eye(3), np.array([1e30, 0.0, 0.1])),
        pin.SE3(np.full((3, 3), np.nan), np.zeros(3)),
        pin.SE3(np.full((3, 3), np.inf), np.zeros(3)),
        pin.SE3(np.zeros((3, 3)), np.zeros(3)),
        pin.SE3(2 * np.eye(3), np.zeros(3)),
        pin.SE3(1e300 * np.eye(3), np.zeros(3)),
    ],
    ids=["nan", "inf", "1e30", "R nan", "R inf", "R zero", "R scaled", "R 1e300"],
)
def test_unusable_target_leaves_the_arm_where_it_is(name, target):
    limb = load_limb(name)

    found = IkSolver(limb).solve(target, limb.home)

    assert found.q is limb.home
    assert not found.is_converged
    assert math.isnan(found.err_pos)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_unusable_start_is_given_back(bad):
    limb = load_limb("piper")
    q = limb.home.copy()
    q[2] = bad

    found = IkSolver(limb).solve(limb.fk(limb.home), q)

    assert found.q is q
    assert not found.is_converged
