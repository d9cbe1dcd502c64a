"""Tasks of fewer than six rows: positions, tools without a side, arms of few joints."""

import math

import numpy as np
import pinocchio as pin
import pytest
from arms import (
    ALL,
    FULL,
    draw_nearby,
    draw_q,
    load_limb,
    make_arm,
    seeds,
    some,
)
from hypothesis import given
from hypothesis import strategies as st

from paprle.contracts.settings.core import IkSettings, LimbSettings
from paprle.gate.gate import Gate
from paprle.kinematics import IkSolver, estimate_sigma_min
from paprle.robot import RobotModel

AXES = {"x": 0, "y": 1, "z": 2}


def turn(T, axis, angle):
    """Turn a tool about its own axis."""
    w = angle * np.eye(3)[AXES[axis]]
    return pin.SE3(T.rotation @ pin.exp3(w), T.translation)


def angle_between(T_1, T_2, axis):
    u, v = T_1.rotation[:, AXES[axis]], T_2.rotation[:, AXES[axis]]
    return math.atan2(np.linalg.norm(np.cross(u, v)), u @ v)


@given(seed=seeds, name=st.sampled_from(ALL))
@some
def test_without_rotation_weight_only_the_position_is_reached(seed, name):
    rng = np.random.default_rng(seed)
    limb = load_limb(name, seed)
    ik = IkSettings(rotation_weight=0.0)
    q = draw_q(limb, rng, 0.2)
    if estimate_sigma_min(limb, q, ik) < 0.05:
        return
    T = limb.fk(draw_nearby(limb, q, rng, 0.02))
    target = pin.SE3(pin.exp3(rng.normal(size=3)), T.translation)

    found = IkSolver(limb, ik).solve(target, q)

    assert found.is_converged
    error = limb.fk(found.q).translation - T.translation
    assert np.linalg.norm(error) <= 1e-6


@given(seed=seeds, name=st.sampled_from(FULL), axis=st.sampled_from("xyz"))
@some
def test_a_tool_may_turn_about_its_free_axis(seed, name, axis):
    rng = np.random.default_rng(seed)
    limb = load_limb(name, seed)
    ik, q = IkSettings(free_axis=axis), draw_q(limb, rng, 0.2)
    if estimate_sigma_min(limb, q) < 0.05:
        return
    T = limb.fk(draw_nearby(limb, q, rng, 0.01))

    found = IkSolver(limb, ik).solve(turn(T, axis, rng.uniform(-3, 3)), q)

    assert found.is_converged
    T_found = limb.fk(found.q)
    assert np.linalg.norm(T_found.translation - T.translation) <= 1e-6
    assert angle_between(T_found, T, axis) <= 1e-6 + 1e-9
    assert np.abs(found.q - q).max() < 0.2


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.5, math.pi - 1e-9, math.pi])
@pytest.mark.parametrize("axis", AXES)
def test_error_with_a_free_axis_is_the_angle_between_the_axes(angle, axis):
    limb = load_limb("ur5e")
    T, across = limb.fk(limb.home), np.roll(np.eye(3)[AXES[axis]], 1)
    target = pin.SE3(T.rotation @ pin.exp3(angle * across), T.translation)
    ik = IkSettings(free_axis=axis, max_iterations=1)

    found = IkSolver(limb, ik).solve(target, limb.home, max_step=1e-12)

    assert found.err_rot == pytest.approx(angle, abs=1e-12)


@given(seed=seeds)
@some
def test_five_joints_do_a_task_of_five_rows_at_once(seed):
    rng = np.random.default_rng(seed)
    limb = make_arm(5, seed)
    ik, q = IkSettings(free_axis="z"), draw_q(limb, rng, 0.2)
    if estimate_sigma_min(limb, q, ik) < 0.05:
        return
    T = limb.fk(draw_nearby(limb, q, rng, 0.01))

    found = IkSolver(limb, ik).solve(turn(T, "z", rng.uniform(-3, 3)), q)

    assert found.is_converged
    assert found.n_iterations <= 4


@given(seed=seeds, n=st.integers(4, 5))
@some
def test_few_joints_reach_the_position_and_turn_as_near_as_they_can(seed, n):
    rng = np.random.default_rng(seed)
    limb = make_arm(n, seed)
    ik, q = IkSettings(rotation_weight=0.0), draw_q(limb, rng, 0.3)
    if estimate_sigma_min(limb, q, ik) < 0.08:
        return
    solver, T = IkSolver(limb), limb.fk(q)
    target = pin.SE3(T.rotation @ pin.exp3(rng.normal(size=3) * 0.05), T.translation)

    found = solver.solve(target, q)
    for _ in range(5):
        found = solver.solve(target, found.q)

    assert found.err_pos <= 1e-5
    assert found.err_rot <= np.linalg.norm(pin.log3(T.rotation.T @ target.rotation))


@pytest.mark.parametrize("seed", [640, 1483, 2792, 3453])
def test_rotation_does_not_hold_few_joints_off_their_position(seed):
    rng = np.random.default_rng(seed)
    limb = make_arm(5, seed)
    q = draw_q(limb, rng, 0.3)
    solver, T = IkSolver(limb), limb.fk(q)
    target = pin.SE3(T.rotation @ pin.exp3(rng.normal(size=3) * 0.05), T.translation)

    found = solver.solve(target, q)

    assert found.err_pos <= 1e-6
    assert found.err_rot < 0.9 * np.linalg.norm(
        pin.log3(T.rotation.T @ target.rotation)
    )


@pytest.mark.parametrize("n", [1, 2, 3])
def test_arms_of_very_few_joints_come_as_near_as_they_can(n):
    rng = np.random.default_rng(n)
    limb = make_arm(n, n)
    solver = IkSolver(limb)

    for _ in range(20):
        q = draw_q(limb, rng, 0.2)
        goal = draw_nearby(limb, q, rng, 0.02)
        found = solver.solve_global(limb.fk(goal), q)
        assert found.err_pos <= 1e-4
        assert solver.solve(limb.fk(goal), q).err_pos < 0.01


def test_a_joint_that_mimics_moves_the_eef_too():
    limb = make_arm(6, 3, mimic=True)
    rng = np.random.default_rng(3)

    for _ in range(20):
        q = draw_q(limb, rng, 0.2)
        if estimate_sigma_min(limb, q) < 0.05:
            continue
        T = limb.fk(draw_nearby(limb, q, rng, 0.02))
        found = IkSolver(limb).solve(T, q)
        assert found.is_converged
        assert np.linalg.norm(limb.fk(found.q).translation - T.translation) <= 1e-6


def test_a_short_slide_is_used_as_far_as_the_gate_lets_it(tmp_path):
    ranges = {"x": (-0.5, 0.5), "y": (-0.5, 0.5), "z": (0.0, 0.04)}
    links, joints, parent = "<link name='base'/>", "", "base"
    for axis, (low, high) in ranges.items():
        links += f"<link name='on_{axis}'/>"
        along = " ".join("1" if axis == other else "0" for other in "xyz")
        joints += (
            f"<joint name='{axis}' type='prismatic'><parent link='{parent}'/>"
            f"<child link='on_{axis}'/><axis xyz='{along}'/>"
            f"<limit lower='{low}' upper='{high}' velocity='1' effort='1'/></joint>"
        )
        parent = f"on_{axis}"
    (tmp_path / "r.urdf").write_text(f"<robot name='r'>{links}{joints}</robot>")
    settings = LimbSettings(base_link="base", eef_link="on_z")
    robot = RobotModel.from_urdf(tmp_path / "r.urdf", {"arm": settings})
    limb, gate = robot.limbs["arm"], Gate(robot, h=0.005, allow_no_bodies=True)
    ik = IkSettings(rotation_weight=0.0)
    solver = IkSolver(limb, ik, position_margin=gate.settings.position_margin)

    high = solver.solve_global(limb.fk(np.array([0.0, 0.0, 0.1]))).q[2]

    assert high == gate.q_max[2] == pytest.approx(0.038)
