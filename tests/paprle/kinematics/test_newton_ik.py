import csv
import math

import numpy as np
import pinocchio as pin
import pytest
from arms import (
    ALL,
    FULL,
    MOTION,
    PERIOD,
    draw_nearby,
    draw_q,
    load_limb,
    load_robot,
    load_stranger,
    seeds,
    shift,
    some,
)
from hypothesis import given
from hypothesis import strategies as st
from shared_data import require

from paprle.contracts.errors import CommandError
from paprle.contracts.settings.core import IkSettings
from paprle.kinematics import IkSolver, estimate_sigma_min


@given(seed=seeds, name=st.sampled_from(FULL))
@some
def test_nearby_reachable_targets_are_reached(seed, name):
    rng = np.random.default_rng(seed)
    limb = load_limb(name, seed)
    q = draw_q(limb, rng)
    q_goal = draw_nearby(limb, q, rng, 0.05)
    if estimate_sigma_min(limb, q) < 0.02:
        return  # at singularities best effort is all there is

    found = IkSolver(limb).solve(limb.fk(q_goal), q)

    assert found.is_converged
    T_found = limb.fk(found.q).actInv(limb.fk(q_goal))
    assert np.linalg.norm(T_found.translation) <= 1e-6
    assert np.linalg.norm(pin.log3(T_found.rotation)) <= 1e-6


@pytest.mark.parametrize("name", FULL)
def test_warm_tracking_takes_at_most_four_iterations(name):
    rng = np.random.default_rng(2)
    for limb in load_robot(name).limbs.values():
        solver = IkSolver(limb)
        starts = [draw_q(limb, rng) for _ in range(50)]
        starts = [q for q in starts if estimate_sigma_min(limb, q) > 0.04]

        goals = [draw_nearby(limb, q, rng, 0.005) for q in starts]
        found = [
            solver.solve(limb.fk(g), q) for g, q in zip(goals, starts, strict=True)
        ]

        assert all(f.is_converged and f.n_iterations <= 4 for f in found)


@given(seed=seeds, name=st.sampled_from(ALL), outside=st.booleans())
@some
def test_motionless_target_returns_the_very_start(seed, name, outside):
    rng = np.random.default_rng(seed)
    limb = load_limb(name, seed)
    q = draw_q(limb, rng, 0.0)
    if outside:
        q = np.where(np.isfinite(limb.q_max), limb.q_max + math.radians(3), q)

    found = IkSolver(limb, position_margin=0.02).solve(limb.fk(q), q)

    assert found.q is q
    assert found.is_converged
    assert found.n_iterations == 0


@given(seed=seeds, name=st.sampled_from(ALL), scale=st.sampled_from([0.3, 1.0, 3.0]))
@some
def test_joints_stay_within_limits_and_within_max_step(seed, name, scale):
    rng = np.random.default_rng(seed)
    limb = load_limb(name, seed)
    solver, q = IkSolver(limb, position_margin=0.01), draw_q(limb, rng, 0.02)
    q = np.clip(q, limb.q_min + 0.01, limb.q_max - 0.01)
    T = limb.fk(draw_q(limb, rng))
    target = pin.SE3(T.rotation, scale * T.translation)

    for _ in range(15):
        found = solver.solve(target, q, max_step=0.1)
        assert np.abs(found.q - q).max() <= 0.1 * (1 + 1e-12)
        q = found.q
        assert np.all(q >= limb.q_min + 0.01)
        assert np.all(q <= limb.q_max - 0.01)


@given(seed=seeds, name=st.sampled_from(ALL))
@some
def test_joints_outside_limits_move_only_inwards(seed, name):
    rng = np.random.default_rng(seed)
    limb = load_limb(name, seed)
    q = draw_q(limb, rng)
    high = np.isfinite(limb.q_max) & (rng.random(len(q)) < 0.4)
    low = np.isfinite(limb.q_min) & ~high & (rng.random(len(q)) < 0.4)
    q = np.where(high, limb.q_max + 0.05, np.where(low, limb.q_min - 0.05, q))
    T = limb.fk(draw_q(limb, rng))

    found = IkSolver(limb).solve(T, q)

    assert np.all(found.q[high] <= q[high])
    assert np.all(found.q[low] >= q[low])


def test_a_joint_without_mobility_stands_still():
    limb = load_limb("papras_7dof")
    ik = IkSettings(mobility={limb.joint_names[2]: 0.0})
    q_goal = limb.home + 0.1 * (np.arange(7) != 2)

    found = IkSolver(limb, ik).solve(limb.fk(q_goal), limb.home)

    assert found.is_converged
    assert found.q[2] == limb.home[2]


def test_redundant_arm_leans_towards_home_while_it_moves():
    limb = load_limb("papras_7dof")
    solver, T0 = IkSolver(limb), limb.fk(limb.home)
    _, _, Vt = np.linalg.svd(limb.jacobian(limb.home))
    q = limb.home + 0.8 * Vt[-1]
    for _ in range(20):
        q = solver.solve(T0, q).q
    before = np.linalg.norm(q - limb.home)
    assert before > 0.3

    for k in range(400):
        found = solver.solve(shift(T0, [0, 0, 0.03 * math.sin(k / 20)]), q)
        q = found.q
        assert found.is_converged

    assert np.linalg.norm(q - limb.home) < 0.7 * before


def test_position_comes_first_on_a_four_joint_arm():
    limb = load_limb("open_manipulator_x")
    solver, q = IkSolver(limb), limb.home.copy()
    T0 = limb.fk(q)
    target = pin.SE3(
        pin.rpy.rpyToMatrix(0.3, 0.2, 0.3) @ T0.rotation, T0.translation + 0.01
    )

    for _ in range(100):
        found = solver.solve(target, q, max_step=0.05)
        q = found.q

    T = limb.fk(q)
    assert np.linalg.norm(T.translation - target.translation) < 1e-6
    assert not found.is_converged
    R_missing = pin.log3(T.rotation.T @ target.rotation)
    assert found.err_rot == pytest.approx(np.linalg.norm(R_missing))
    assert (
        0.1 < found.err_rot < np.linalg.norm(pin.log3(T0.rotation.T @ target.rotation))
    )


def test_recorded_hand_is_tracked_by_piper_within_a_micrometre():
    require(MOTION, "run make data")
    with MOTION.open() as file:
        rows = list(csv.DictReader(file))
    limb = load_limb("piper")
    solver, q = IkSolver(limb), limb.home
    errors = []

    for k, row in enumerate(rows):
        quat_xyzw = [float(row[f"target_orient_{a}"]) for a in "xyzw"]
        p = [float(row[f"target_pos_{a}"]) for a in "xyz"]
        R = pin.Quaternion(*np.roll(quat_xyzw, 1)).normalized().matrix()
        T = pin.SE3(R, np.array(p))
        found = solver.solve_global(T, q) if k == 0 else solver.solve(T, q)
        assert found.is_converged
        q = found.q
        errors.append((found.err_pos, found.err_rot))

    assert len(errors) > 1000
    assert np.max(errors) <= 1e-6


@pytest.mark.parametrize("name", [*FULL, "panda", "ur5", "xarm7"])
def test_smooth_reachable_motion_about_home_is_tracked_always(name):
    rng = np.random.default_rng(7)
    limb = load_limb(name) if name in FULL else load_stranger(name)
    solver, span = IkSolver(limb), np.minimum(limb.q_max - limb.q_min, 2 * math.pi)
    amplitude = 0.2 * span
    centre = np.clip(limb.home, limb.q_min + amplitude, limb.q_max - amplitude)
    errors = []

    for _ in range(5):
        omega = rng.uniform(0.5, 1.0, len(span)) / amplitude  # up to 1 rad/s
        phase = rng.uniform(0, 2 * math.pi, len(span))
        q = centre + amplitude * np.sin(phase)
        for k in range(800):
            wanted = centre + amplitude * np.sin(omega * k * PERIOD + phase)
            found = solver.solve(limb.fk(wanted), q)
            q = found.q
            errors.append((found.err_pos, found.err_rot))

    err_pos, err_rot = np.array(errors).T
    is_good = (err_pos < 1e-3) & (err_rot < math.radians(0.5))
    assert np.mean(is_good) >= 0.999
    assert np.median(err_pos) < 1e-5
    assert np.median(err_rot) < math.radians(1e-3)


@pytest.mark.parametrize("start", [np.zeros(5), np.zeros(7), np.zeros((2, 6)), 0.0])
@pytest.mark.parametrize("call", [IkSolver.solve, IkSolver.solve_global])
def test_a_start_of_another_shape_is_refused(call, start):
    limb = load_limb("piper")

    with pytest.raises(CommandError, match="expected its 6 joint positions"):
        call(IkSolver(limb), limb.fk(limb.home), start)


@pytest.mark.parametrize("target", [np.eye(4), None, "home"])
@pytest.mark.parametrize("call", [IkSolver.solve, IkSolver.solve_global])
def test_a_target_that_is_no_pose_is_refused(call, target):
    limb = load_limb("piper")

    with pytest.raises(CommandError, match=r"ik: expected a target .* pinocchio\.SE3"):
        call(IkSolver(limb), target, limb.home)


@pytest.mark.parametrize("call", [IkSolver.solve, IkSolver.solve_global])
def test_a_start_may_be_any_sequence_and_the_answer_is_a_vector(call):
    limb = load_limb("piper")

    found = call(IkSolver(limb), limb.fk(limb.home), limb.home.tolist())

    assert isinstance(found.q, np.ndarray)
    np.testing.assert_array_equal(found.q, limb.home)


@pytest.mark.parametrize(
    "R",
    [np.diag([1.0, 1.0, -1.0]), np.diag([1.2, 1.2, math.sqrt(0.12)])],
    ids=["mirrored", "stretched"],
)
def test_a_target_that_no_rotation_leads_to_moves_nothing(R):
    limb = load_limb("piper")
    solver, T = IkSolver(limb), pin.SE3(R, limb.fk(limb.home).translation + 0.05)

    for found in (solver.solve(T, limb.home), solver.solve_global(T)):
        assert math.isnan(found.err_rot)
        np.testing.assert_array_equal(found.q, limb.home)


@pytest.mark.parametrize("max_step", [-0.1, math.nan])
def test_an_invalid_step_is_refused(max_step):
    limb = load_limb("piper")

    with pytest.raises(CommandError, match="ik: expected max_step of 0 or more"):
        IkSolver(limb).solve(limb.fk(limb.home), limb.home, max_step=max_step)
