"""Goals of Kinova's actions: few, changed ones, and the fingers' again after the arm's.

The judge is a server of actionlib's simple kind: a new goal ends the one before.
"""

from __future__ import annotations

import numpy as np
import pytest
from ros_memory import MemoryGraph, MemoryRobot, make_config
from ros_rig import load_robot

from paprle.contracts.errors import DeviceError
from paprle.followers.ros2 import follower as module
from paprle.followers.ros2.follower import RosFollower
from paprle.hardware.ros.goals import ACTIONS, read_goal
from paprle.hardware.ros.messages import KINOVA_ANGLES, KINOVA_FINGERS

JACO = load_robot("j2s7s300")
ARM = "/j2s7s300_driver/joints_action/joint_angles"
HAND = "/j2s7s300_driver/fingers_action/finger_positions"
PERIOD = 0.01  # [s] of its commands


class MockServer:
    """Takes goals of one action: the newest runs, the one before is preempted."""

    def __init__(self, graph, controller, topic, body):
        self.bus, self.controller, self.body = graph.join("server"), controller, body
        self.graph, self.goals, self.n_preempted = graph, [], 0
        self.bus.subscribe(topic, ACTIONS[controller.kind], self.take)
        graph.stepped.append(self.bus.poll)

    def take(self, data):
        message = self.bus.codec.decode(data, self.body)
        q = read_goal(self.controller.kind, message, len(self.controller.joints))
        moved = np.abs(self.controller.q - q).max()
        is_running = self.goals and np.abs(self.goals[-1][1] - q).max() > 0.0
        self.n_preempted += int(bool(is_running))
        self.goals.append((self.graph.clock.now_ns * 1e-9, q, message, moved))
        self.controller.q = q


@pytest.fixture
def rig(monkeypatch):
    config = make_config("j2s7s300", "ros1")
    graph = MemoryGraph(config.distro)
    robot = MemoryRobot(graph, "j2s7s300", env="ros1")
    monkeypatch.setattr(module, "open_bus", lambda *_: graph.join("gate"))
    arm, hand = (controller for controller, _ in robot.robot._controllers)
    servers = (
        MockServer(graph, arm, ARM, KINOVA_ANGLES),
        MockServer(graph, hand, HAND, KINOVA_FINGERS),
    )
    follower = RosFollower(config, JACO, graph.clock)
    follower.open()
    return graph, follower, *servers


def drive(graph, follower, path):
    for q in path:
        follower.write(q)
        for _ in range(round(PERIOD / 0.0025)):
            graph.tick()


def test_a_way_is_a_few_goals_and_rest_is_none(rig):
    graph, follower, arm, hand = rig
    begin = follower.read().q.copy()
    end = begin.copy()
    end[:2] += 0.2
    drive(graph, follower, [begin] * 20)
    n_before = len(arm.goals)

    drive(graph, follower, np.linspace(begin, end, 100))  # one second
    drive(graph, follower, [end] * 300)

    made = arm.goals[n_before:]
    assert 8 <= len(made) <= 12
    stamps = np.array([t for t, *_ in made])
    assert np.diff(stamps).min() >= 0.099
    assert stamps[-1] - stamps[0] < 1.2, "none while it rests"
    np.testing.assert_allclose(made[-1][1], end[:7], atol=1e-4)
    assert arm.n_preempted >= len(made) - 1, "each in place of the one before"
    message = made[-1][2]
    assert message.joint2 == pytest.approx(np.degrees(end[1]), abs=1e-3)
    np.testing.assert_allclose(follower.read().q, end, atol=5e-3)
    assert follower.goes_on_unattended
    assert hand.goals


def test_the_fingers_are_told_again_when_the_arm_is_there(rig):
    graph, follower, arm, hand = rig
    q = follower.read().q.copy()
    drive(graph, follower, [q] * 20)
    closed = q.copy()
    closed[7] = np.radians(80.0)
    drive(graph, follower, [closed] * 20)
    told = hand.goals[-1][2]
    assert (told.finger1, told.finger2, told.finger3) == (6800.0,) * 3
    n_before = len(hand.goals)
    away = closed.copy()
    away[0] += 0.1

    drive(graph, follower, np.linspace(closed, away, 50))
    last_ns = arm.goals[-1][0]
    drive(graph, follower, [away] * 300)

    again = hand.goals[n_before:]
    assert len(again) == 1, "once"
    assert again[0][0] - last_ns > 0.9
    assert again[0][2].finger1 == 6800.0


def test_more_joints_than_a_goal_holds_are_refused():
    word = "env.commands.arm_gripper.joints"
    fingers = "[j2s7s300_joint_finger_1]"
    config = make_config("j2s7s300", "ros1", **{word: fingers})
    assert config.commands["arm_gripper"].joints == ("j2s7s300_joint_finger_1",)
    config = make_config(
        "j2s7s300", "ros1", **{"env.commands.arm.kind": "kinova_fingers"}
    )

    with pytest.raises(DeviceError, match="expected 1 to 3 joint"):
        RosFollower(config, JACO, lambda: 0)._make_spec()
