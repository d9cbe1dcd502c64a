"""Inverse kinematics of a whole robot with tasks of one's own."""

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from paprle import RobotModel
from paprle.contracts.errors import CommandError, ConfigError
from paprle.kinematics.user_tasks import (
    FrameTask,
    LinkKinematics,
    PostureTask,
    TaskSolver,
)

URDFS = Path(__file__).resolve().parents[3] / "urdf"


@pytest.fixture(scope="module")
def pair():
    """Return a robot of two arms with grippers, and its hands' links."""
    robot = RobotModel.from_yaml(URDFS.parent / "configs/follower/piper_2arm.yaml")
    return robot, [limb.eef_link for limb in robot.limbs.values()]


def wander(robot, seed):
    rng = np.random.default_rng(seed)
    q = robot.home + rng.uniform(-0.3, 0.3, robot.home.size)
    return np.clip(q, robot.q_min, robot.q_max)


@pytest.mark.parametrize("seed", range(3))
def test_poses_of_links_are_those_of_the_limbs(pair, seed):
    robot, hands = pair
    links, q = LinkKinematics(robot), wander(robot, seed)
    links.update(q)

    for hand, limb in zip(hands, robot.limbs.values(), strict=True):
        T_root_base = links.pose(limb.base_link)
        T_base_eef = T_root_base.actInv(links.pose(hand))
        np.testing.assert_allclose(
            T_base_eef.homogeneous, limb.fk(limb.take(q)).homogeneous, atol=1e-9
        )


def make_tasks(robot, hands):
    links = LinkKinematics(robot)
    turned = pin.SE3(pin.exp3(np.array([0.2, -0.1, 0.3])), np.array([0.05, 0.02, 0]))
    links.update(wander(robot, 7))
    relative = links.pose(hands[0]).actInv(links.pose(hands[1]))
    return {
        "frame": FrameTask(hands[0], links.pose(hands[0]) * turned),
        "relative": FrameTask(
            hands[1], relative * turned, relative_to=hands[0], orientation_cost=0.3
        ),
        "posture": PostureTask(robot.home, np.linspace(0.1, 1, robot.home.size)),
    }


@pytest.mark.parametrize("name", ["frame", "relative", "posture"])
def test_jacobians_are_those_of_differences(pair, name):
    robot, hands = pair
    task, links, q = (
        make_tasks(robot, hands)[name],
        LinkKinematics(robot),
        wander(robot, 1),
    )
    links.update(q)
    _, J = task.linearise(links)

    for k in range(q.size):
        sides = []
        for sign in (1, -1):
            links.update(q + sign * 1e-6 * np.eye(q.size)[k])
            sides.append(task.linearise(links)[0])
        np.testing.assert_allclose(J[:, k], (sides[0] - sides[1]) / 2e-6, atol=1e-6)


def test_the_pose_between_two_hands_is_kept_while_one_moves(pair):
    robot, hands = pair
    links = LinkKinematics(robot)
    T_one, T_other = links.pose(hands[0]), links.pose(hands[1])
    T_one_other = T_one.actInv(T_other)
    led = FrameTask(hands[0], T_one.copy())
    tasks = [
        led,
        FrameTask(hands[1], T_one_other, relative_to=hands[0]),
        PostureTask(robot.home, 1e-4),
    ]
    solver, q = TaskSolver(robot, tasks), robot.home
    for k in range(100):
        led.target.translation = T_one.translation + [0, 0, -5e-4 * k]
        q = solver.solve(q, dt=0.005)
        between = solver.links.pose(hands[0]).actInv(solver.links.pose(hands[1]))
        error = pin.log6(T_one_other.actInv(between)).vector
        assert np.abs(error).max() < 1e-3

    moved = solver.links.pose(hands[0]).translation - T_one.translation
    np.testing.assert_allclose(moved, [0, 0, -0.0495], atol=1e-3)


@pytest.mark.parametrize("dt", [0.001, 0.02, 1.0])
def test_no_joint_leaves_its_limits_of_position_and_speed(pair, dt):
    robot, hands = pair
    far = pin.SE3(np.eye(3), np.array([3.0, -2.0, 4.0]))
    solver, q = TaskSolver(robot, [FrameTask(hands[0], far)]), robot.home

    for _ in range(200):
        before, q = q, solver.solve(q, dt)
        assert (np.abs(q - before) <= dt * robot.dq_max + 1e-12).all()
        assert (q >= robot.q_min).all()
        assert (q <= robot.q_max).all()


class Apart:
    """An aim of one's own: two links at a distance, [m]."""

    def __init__(self, a, b, distance):
        self._links, self._distance = (a, b), distance

    def linearise(self, links):
        p, J = [], []
        for link in self._links:
            T = links.pose(link)
            p.append(T.translation)
            J.append(T.rotation @ links.jacobian(link)[:3])
        way = p[1] - p[0]
        size = np.linalg.norm(way)
        return np.array([size - self._distance]), (way / size @ (J[1] - J[0]))[None]


@pytest.mark.parametrize("distance", [0.3, 0.5])
def test_a_task_of_ones_own_is_met(pair, distance):
    robot, hands = pair
    tasks = [Apart(*hands, distance), PostureTask(robot.home)]
    solver = TaskSolver(robot, tasks)

    solver.solve(robot.home, dt=10.0)

    a, b = (solver.links.pose(hand).translation for hand in hands)
    assert np.linalg.norm(b - a) == pytest.approx(distance, abs=1e-3)


def test_bad_input_is_refused_or_moves_nothing(pair):
    robot, hands = pair
    with pytest.raises(ConfigError, match="no link is called 'hnd'"):
        TaskSolver(robot, [FrameTask("hnd", pin.SE3.Identity())])
    lost = pin.SE3(np.full((3, 3), np.nan), np.zeros(3))
    solver = TaskSolver(robot, [FrameTask(hands[0], lost)])
    for bad in ([0.0], np.full(robot.home.size, np.nan)):
        with pytest.raises(CommandError, match="q: expected finite values"):
            solver.solve(bad, 0.01)
    assert (solver.solve(robot.home, 0.01) == robot.home).all()
