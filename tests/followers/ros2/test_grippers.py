"""Grippers of other builds: two fingers in one controller, and actions."""

from __future__ import annotations

import numpy as np
import pytest
from ros_memory import MemoryGraph, MemoryRobot, make_config
from ros_rig import load_robot

from paprle.contracts.errors import ConfigError, DeviceError
from paprle.followers.ros2 import follower as module
from paprle.followers.ros2.follower import RosFollower
from paprle.hardware.ros.joints import decode_gripper, decode_trajectory
from paprle.hardware.ros.messages import GRIPPER_ACTION, JOINT_TRAJECTORY

PIPER = load_robot("piper")
ACTION = "/gripper_controller/gripper_cmd"
AN_ACTION = {
    "commands.arm_gripper.topic": ACTION,
    "commands.arm_gripper.kind": "gripper_action",
    "commands.arm_gripper.joints": "null",
}


def open_follower(monkeypatch, distro, env, **settings):
    words = {f"env.{key}": value for key, value in settings.items()}
    graph = MemoryGraph(distro)
    robot = MemoryRobot(graph, env=env)
    monkeypatch.setattr(module, "open_bus", lambda *_: graph.join("gate"))
    follower = RosFollower(make_config(env=env, **words), PIPER, graph.clock)
    return graph, robot, follower


def hear(graph, topic, kind, decode):
    bus, heard = graph.join("listener"), []
    bus.subscribe(topic, kind, lambda data: heard.append(decode(bus.codec, data)))
    return bus, heard


def test_a_finger_that_mimics_the_other_stands_beside_it(monkeypatch):
    graph, _, follower = open_follower(monkeypatch, "jazzy", "ros2_sim")
    topic = "/gripper_controller/joint_trajectory"
    bus, heard = hear(graph, topic, JOINT_TRAJECTORY, decode_trajectory)
    follower.open()
    q = follower.read().q.copy()
    q[6] += 0.001

    follower.write(q)
    bus.poll()

    assert heard[0].names == ("joint7", "joint8")
    np.testing.assert_allclose(heard[0].q[:, 1], -heard[0].q[:, 0], atol=1e-12)
    np.testing.assert_allclose(heard[0].dq[:, 1], -heard[0].dq[:, 0], atol=1e-12)


def test_goals_are_few_and_the_last_one_is_sent(monkeypatch):
    words = {**AN_ACTION, "commands.arm_gripper.effort": "12.5"}
    graph, _, follower = open_follower(monkeypatch, "noetic", "ros1_sim", **words)
    bus, heard = hear(graph, ACTION, GRIPPER_ACTION, decode_gripper)
    opened = follower.open()
    q = follower.read().q.copy()

    for k in range(200):  # one second
        q[6] = 0.02 * min(1.0, k / 100)
        follower.write(q)
        graph.tick(0.005)
    bus.poll()

    assert not opened.has_unattended_stop
    assert 4 <= len(heard) <= 8
    assert heard[-1] == pytest.approx((0.02, 12.5))


def test_an_effort_where_nothing_carries_it_is_refused():
    with pytest.raises(ConfigError, match="gripper_action alone"):
        make_config(**{"env.commands.arm.effort": "3"})


def test_an_action_is_refused_where_a_server_could_misread_it(monkeypatch):
    _, _, follower = open_follower(monkeypatch, "jazzy", "ros2_sim", **AN_ACTION)

    with pytest.raises(DeviceError, match=r"expected rclpy or rospy.*garbage.*Joint"):
        follower.open()


def test_a_missing_server_is_told(monkeypatch):
    _, _, follower = open_follower(monkeypatch, "noetic", "ros1_sim", **AN_ACTION)

    with pytest.raises(DeviceError, match="expected an action server of control_msgs"):
        follower.open()
