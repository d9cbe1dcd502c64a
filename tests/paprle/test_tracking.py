import numpy as np
import pinocchio as pin
import pytest
from retargeting import draw_command, load_robot

from paprle.kinematics import IkSolver
from paprle.settings import IkSettings
from paprle.tracking import Eefs, LimbSolver
from paprle.wire import row_to_pose

ROBOTS = ["piper", "papras_7dof_2arm", "g1", "open_manipulator_x"]


@pytest.mark.parametrize("name", ROBOTS)
def test_eefs_stand_where_each_limb_says(name):
    robot = load_robot(name)
    q, rows = draw_command(robot, np.random.default_rng(0)), np.empty((99, 7))

    Eefs(robot).place(q, rows[: len(robot.limbs)])

    for row, limb in zip(rows, robot.limbs.values(), strict=False):
        T = limb.fk(limb.take(q))
        assert row_to_pose(row).isApprox(T, 1e-12)


@pytest.mark.parametrize("name", ROBOTS)
def test_limbs_are_solved_as_one_by_one(name):
    robot, rng = load_robot(name), np.random.default_rng(1)
    q = draw_command(robot, rng)
    limbs, m = tuple(robot.limbs.values()), len(robot.limbs)
    nudge = pin.SE3(pin.exp3(np.full(3, 0.01)), np.full(3, 0.002))
    poses = [limb.fk(limb.take(q)) * nudge for limb in limbs]
    T, is_asked = np.array([p.homogeneous for p in poses]), np.ones(m, dtype=bool)
    settings, nothing = IkSettings(), np.full(len(q), np.nan)

    found, errors, is_met = LimbSolver(robot, settings, 0.01).solve(
        T, is_asked, nothing, q, q
    )

    expected, one_by_one = q.copy(), []
    for limb, pose in zip(limbs, poses, strict=True):
        solver = IkSolver(limb, settings, position_margin=0.01)
        one = solver.solve(pose, limb.take(q))
        expected[limb.indices] = one.q
        one_by_one.append(one)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(errors[0], [one.err_pos for one in one_by_one])
    assert is_met == all(one.is_converged for one in one_by_one)


def test_a_limb_that_is_not_asked_stays():
    robot = load_robot("papras_7dof_2arm")
    q, limbs = robot.home.copy(), tuple(robot.limbs.values())
    T = np.array([limb.fk(limb.home + 0.01).homogeneous for limb in limbs])
    is_asked, nothing = np.array([False, True]), np.full(len(q), np.nan)

    found, errors, _ = LimbSolver(robot, IkSettings(), 0.0).solve(
        T, is_asked, nothing, q, q
    )

    np.testing.assert_array_equal(limbs[0].take(found), limbs[0].home)
    assert not np.array_equal(limbs[1].take(found), limbs[1].home)
    assert np.isnan(errors[:, 0]).all()


def test_a_pull_towards_the_command_counts_as_part_of_the_step():
    robot, settings = load_robot("piper"), IkSettings(max_step=0.05)
    arm, q_cmd = robot.limbs["arm"], robot.home
    q_prev = arm.put(q_cmd, arm.home + 0.32)
    T = arm.fk(arm.home - 0.3).homogeneous[None]

    found, *_ = LimbSolver(robot, settings, 0.0).solve(
        T, np.ones(1, dtype=bool), np.full(len(q_cmd), np.nan), q_prev, q_cmd.copy()
    )

    assert np.abs(found - q_prev).max() == pytest.approx(0.05)
