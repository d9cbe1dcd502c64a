import numpy as np
import pinocchio as pin
import pytest
from numba import config
from retargeting import draw_command, load_robot, make, pose_sample

from paprle.contracts.errors import CommandError
from paprle.contracts.settings.core import IkSettings
from paprle.ipc.records import row_to_pose
from paprle.kinematics import IkSolver
from paprle.kinematics.robot_solver import LimbSolver, solve_limbs
from paprle.robot.eefs import Eefs

ROBOTS = ["piper", "papras_7dof_2arm", "g1", "open_manipulator_x", "so101_2arm"]


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


H = 0.005


class Held:
    """One limb, led to a pose while its command is where the test says."""

    def __init__(self, name, away):
        self.robot = load_robot(name)
        self.limb = next(iter(self.robot.limbs.values()))
        low, high = self.limb.q_min + 0.1, self.limb.q_max - 0.1
        self.goal = np.clip(self.limb.home + away, low, high)
        m = len(self.robot.limbs)
        self.T = np.array([self.limb.fk(self.goal).homogeneous] * m)
        self.asked = np.arange(m) == 0
        self.solver = LimbSolver(self.robot, IkSettings(), 0.01)
        self.q_cmd, self.q = self.robot.home.copy(), self.robot.home.copy()

    def step(self, dt=H):
        nothing = np.full(len(self.q), np.nan)
        before = self.q
        self.q, *_ = self.solver.solve(
            self.T, self.asked, nothing, self.q, self.q_cmd, dt
        )
        return self.limb.take(self.q - before)

    def go(self, n, way=0.0):
        """Take n steps while the command follows, by so much at a time, [rad]."""
        steps = []
        for _ in range(n):
            self.q_cmd = self.q_cmd + np.clip(self.q - self.q_cmd, -way, way)
            steps.append(self.step())
        return np.array(steps)


@pytest.mark.parametrize("name", ["papras_7dof", "ur5e", "open_manipulator_x", "so101"])
def test_the_request_rests_ahead_of_a_held_command(name):
    held = Held(name, 0.9)

    held.go(150)
    steps = held.go(50)

    apart = np.abs(held.q - held.q_cmd).max()
    assert apart == pytest.approx(0.3, abs=0.002)
    assert np.abs(steps).max() < 1e-3


@pytest.mark.parametrize("name", ["papras_7dof", "ur5e"])
def test_a_freed_command_gets_requests_within_the_joint_speeds(name):
    held = Held(name, 0.9)
    V = held.limb.dq_max

    steps = np.concatenate([held.go(100), held.go(400, 0.006)])

    assert (np.abs(steps) <= V * H * (1.0 + 1e-9)).all()
    error = held.limb.fk(held.limb.take(held.q)).actInv(held.limb.fk(held.goal))
    assert np.linalg.norm(error.translation) < 1e-3


def test_a_limb_that_was_drawn_near_says_what_is_left_there():
    held = Held("open_manipulator_x", 0.9)
    held.go(20)
    nothing = np.full(len(held.q), np.nan)

    q, errors, is_met = held.solver.solve(
        held.T, held.asked, nothing, held.q, held.q_cmd, H
    )

    there = held.limb.fk(held.limb.take(q)).actInv(held.limb.fk(held.goal))
    assert errors[0, 0] == pytest.approx(np.linalg.norm(there.translation), abs=1e-6)
    assert not is_met


def test_engaging_anew_moves_nothing_after_a_fast_motion():
    driven = make("papras_7dof")
    q = load_robot("papras_7dof").home
    state = driven.anchor(pose_sample(pin.SE3.Identity()), q)
    for k in range(20):
        hand = pose_sample(pin.SE3(np.eye(3), np.array([0.0, 0.0, 1e-3 * k])))
        q = driven.solve(driven.retarget(hand, state), q, q, H).q_des

    q_cmd, state = q, driven.anchor(hand, q)
    for dt in (0.0, H, H, H):
        q = driven.solve(driven.retarget(hand, state), q, q_cmd, dt).q_des

    np.testing.assert_array_equal(q, q_cmd)


@pytest.mark.parametrize("at", range(5))
def test_arrays_of_another_length_are_refused(at):
    robot = load_robot("piper")
    n = len(robot.home)
    arrays = [np.eye(4)[None], np.ones(1, dtype=bool), *np.tile(robot.home, (3, 1))]
    arrays[at] = np.concatenate([arrays[at]] * 2)

    with pytest.raises(CommandError, match=f"ik: expected .* of shapes .*{n}"):
        LimbSolver(robot, IkSettings(), 0.0).solve(*arrays)


def test_read_only_joints_are_not_compiled_for_once_more():
    robot = load_robot("piper")
    q = robot.home.copy()
    q.flags.writeable = False
    T, nothing = np.eye(4).reshape(1, 4, 4), np.full(len(q), np.nan)
    solver = LimbSolver(robot, IkSettings(), 0.0)

    for joints in (q.copy(), q):
        solver.solve(T, np.array([False]), nothing, joints, joints)

    if not config.DISABLE_JIT:
        assert len(solve_limbs.signatures) == 1
