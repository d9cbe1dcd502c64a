import csv
import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from paprle.kinematics import IkSolver, estimate_sigma_min, solve_damped
from paprle.robot import RobotModel
from paprle.robot.chain import Limb
from paprle.settings import IkSettings, RobotSettings

ROOT = Path(__file__).resolve().parents[2]
MOTION = ROOT / "../shared/data/motion/arbot_rectangle_H1.csv"
FULL = ["piper", "ur5e", "papras_7dof", "g1"]  # six joints and more in each limb
ALL = [*FULL, "open_manipulator_x"]
PERIOD = 0.005  # [s]

seeds = st.integers(0, 2**32 - 1)
some = settings(max_examples=40, deadline=None)


@cache
def load_robot(name: str) -> RobotModel:
    text = json.dumps(
        yaml.safe_load((ROOT / f"configs/follower/{name}.yaml").read_text())
    )
    return RobotModel.from_settings(
        TypeAdapter(RobotSettings).validate_json(text), name, ROOT
    )


def load_limb(name: str, index: int = 0) -> Limb:
    limbs = list(load_robot(name).limbs.values())
    return limbs[index % len(limbs)]


def draw_q(limb: Limb, rng: np.random.Generator, margin: float = 0.1):
    low, high = np.maximum(limb.q_min, -math.pi), np.minimum(limb.q_max, math.pi)
    return low + (high - low) * rng.uniform(margin, 1 - margin, len(low))


def draw_nearby(limb: Limb, q, rng: np.random.Generator, size: float):
    way = rng.uniform(-size, size, len(q))
    return np.clip(q + way, limb.q_min, limb.q_max)


def weighted_error(solver: IkSolver, found) -> float:
    if solver.n_rows == 3:
        return found.err_pos
    return math.hypot(found.err_pos, solver.settings.rotation_weight * found.err_rot)


def shift(T: pin.SE3, dp) -> pin.SE3:
    return pin.SE3(T.rotation, T.translation + np.asarray(dp))


@pytest.mark.parametrize("name", ALL)
def test_body_jacobian_equals_finite_differences(name):
    rng = np.random.default_rng(1)
    for limb in load_robot(name).limbs.values():
        q, h = draw_q(limb, rng), 1e-6

        J = limb.jacobian(q)

        for j, unit in enumerate(np.eye(len(q))):
            T_minus, T_plus = limb.fk(q - h * unit), limb.fk(q + h * unit)
            column = pin.log6(T_minus.actInv(T_plus)).vector / (2 * h)
            np.testing.assert_allclose(J[:, j], column, atol=1e-8)


@given(seed=seeds, k=st.integers(3, 9), weak=st.floats(0.0, 1.0))
@some
def test_step_equals_the_damped_least_squares_solution(seed, k, weak):
    rng = np.random.default_rng(seed)
    ik = IkSettings()
    U, s, Vt = np.linalg.svd(rng.normal(size=(6, k)), full_matrices=False)
    s = s / s[0]
    s[-1] = min(s[-1], 0.1) * weak  # from far above ε to a singularity
    A, b = (U * s) @ Vt, rng.normal(size=6)

    step = solve_damped(A, b, k, ik)

    lam = math.sqrt(step.lambda2)
    assert step.damping == pytest.approx(max(0.0, 1 - s[-1] / ik.sigma_min), abs=1e-6)
    assert lam == pytest.approx(
        ik.damping * step.damping * math.sqrt(np.linalg.norm(b) / 0.025)
    )
    stacked = np.vstack([A, lam * np.eye(k)])
    expected = np.linalg.lstsq(stacked, np.append(b, np.zeros(k)), rcond=None)[0]
    np.testing.assert_allclose(step.y, expected, atol=1e-10)
    if lam > 0:
        assert np.linalg.norm(step.y) <= np.linalg.norm(b) / (2 * lam) * (1 + 1e-9)


@given(seed=seeds, name=st.sampled_from(FULL))
@some
def test_step_equals_its_formula_with_weights(seed, name):
    rng = np.random.default_rng(seed)
    limb = load_limb(name, seed)
    mobility = dict(zip(limb.joint_names, rng.uniform(0.2, 1, 9), strict=False))
    solver = IkSolver(limb, IkSettings(mobility=mobility))
    q, e = draw_q(limb, rng), rng.normal(size=6)
    J, W = limb.jacobian(q), np.diag(list(mobility.values()))
    r = solver.settings.rotation_weight
    Q = np.diag([1, 1, 1, r**2, r**2, r**2])

    step = solve_damped(solver.weigh(J), np.sqrt(Q) @ e, len(q), solver.settings)

    error = math.sqrt(e @ Q @ e)
    lambda2 = (solver.settings.damping * step.damping) ** 2 * error / 0.025
    M = J @ W @ J.T + lambda2 * np.linalg.inv(Q)
    expected = W @ J.T @ np.linalg.solve(M, e)
    np.testing.assert_allclose(
        np.sqrt(np.diag(W)) * step.y, expected, rtol=1e-7, atol=1e-9
    )


def test_damping_is_continuous_where_it_sets_in():
    ik, b = IkSettings(), np.ones(6)
    sizes = ik.sigma_min * np.array([1 - 1e-9, 1 + 1e-9])

    inside, outside = (
        solve_damped(np.diag([1.0, 1, 1, 1, 1, s]), b, 6, ik).y for s in sizes
    )

    np.testing.assert_allclose(inside, outside, rtol=1e-6)


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


@pytest.mark.parametrize("name", FULL)
def test_search_finds_99_percent_of_reachable_targets(name):
    rng = np.random.default_rng(3)
    limb = load_limb(name)
    solver = IkSolver(limb)

    found = [solver.search(limb.fk(draw_q(limb, rng)), limb.home) for _ in range(60)]

    assert np.mean([f.err_pos < 1e-4 and f.err_rot < 1e-3 for f in found]) >= 0.99


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


@given(seed=seeds)
@some
def test_a_less_mobile_joint_moves_less(seed):
    rng = np.random.default_rng(seed)
    limb = load_limb("papras_7dof")
    q, e = draw_q(limb, rng), rng.normal(size=6) * 1e-3
    J = limb.jacobian(q)
    moves = []

    for weight in (1.0, 0.5, 0.25, 0.1, 0.01):
        ik = IkSettings(mobility={limb.joint_names[0]: weight}, sigma_min=1e-9)
        solver = IkSolver(limb, ik)
        b = np.array([1, 1, 1, 0.2, 0.2, 0.2]) * e
        y = solve_damped(solver.weigh(J), b, 7, ik).y
        moves.append(abs(math.sqrt(weight) * y[0]))

    assert np.all(np.diff(moves) <= 1e-12)


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


def test_recorded_hand_is_tracked_by_piper_within_a_micrometre():
    if not MOTION.exists():
        pytest.skip(f"needs {MOTION}")
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
        found = solver.search(T, q) if k == 0 else solver.solve(T, q)
        assert found.is_converged
        q = found.q
        errors.append((found.err_pos, found.err_rot))

    assert len(errors) > 1000
    assert np.max(errors) <= 1e-6
