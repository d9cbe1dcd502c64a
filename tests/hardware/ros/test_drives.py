"""MuJoCo behind the emulated robot: the same topics, another body."""

from __future__ import annotations

import numpy as np
import pytest
from ros_memory import MemoryGraph, MemoryRobot

from paprle.hardware.ros.joints import Trajectory, decode_joints
from paprle.hardware.ros.messages import JOINT_STATE, JOINT_TRAJECTORY
from paprle.hardware.ros.trajectories import encode_trajectory
from paprle_emulators.ros.__main__ import Options
from paprle_emulators.ros.description import load_description
from paprle_emulators.ros.drives import MujocoDrives

pytestmark = pytest.mark.sim
ARM = "/arm_controller/joint_trajectory"


@pytest.fixture
def rig():
    graph = MemoryGraph()
    drives = MujocoDrives(load_description("piper", "ros2_sim"))
    return graph, MemoryRobot(graph, drives=drives)


def move(graph, goal, names, seconds=1.0):
    """Send one trajectory and let it run; returns the states heard."""
    bus, heard = graph.join("us"), []
    bus.subscribe("/joint_states", JOINT_STATE, heard.append)
    publisher = bus.advertise(ARM, JOINT_TRAJECTORY)
    points = Trajectory(names, np.array([0.5]), goal[None], np.zeros((1, len(goal))))
    publisher.publish(encode_trajectory(bus.codec, points))
    for _ in range(round(seconds / 0.0025)):
        graph.tick()
        bus.poll()
    return [decode_joints(bus.codec, data) for data in heard]


def test_the_controller_moves_the_robot_of_the_urdf(rig):
    graph, robot = rig
    names = robot.description.commands[ARM][1]
    start = robot.q[:6].copy()
    goal = start + np.array([0.2, 0.1, -0.1, 0.1, 0.1, -0.2])

    states = move(graph, goal, names)

    np.testing.assert_allclose(robot.q[:6], goal, atol=2e-3)
    assert np.abs(states[-1].dq).max() < 0.01
    assert 0.1 < max(np.abs(state.dq[:6]).max() for state in states) < 2.0
    assert np.abs(states[-1].tau[:6]).max() > 0.01  # it has weight to carry


def test_a_finger_mimics_the_other_by_the_urdf(rig):
    _, robot = rig
    names = robot.description.joints

    at = {name: robot.q[names.index(name)] for name in ("joint7", "joint8")}

    assert at["joint8"] == pytest.approx(-at["joint7"], abs=1e-4)


def test_something_in_the_way_stops_it(rig):
    graph, robot = rig
    names = robot.description.commands[ARM][1]
    into_the_table = np.array([0.0, 3.0, -0.5, 0.0, 0.0, 0.0])

    move(graph, into_the_table, names)

    assert np.abs(robot.q[:6] - into_the_table).max() > 0.1


def test_units_of_ros_are_those_of_the_topics():
    description = load_description("piper", "piper_ros")
    drives = MujocoDrives(description)
    at = description.joints.index("gripper")
    desired = drives.q.copy()
    desired[at] = 0.05  # the whole stroke: half of it a finger

    for _ in range(300):
        drives.step(desired, 0.002)

    assert drives.q[at] == pytest.approx(0.05, abs=1e-3)


def test_another_physics_is_refused():
    options = Options(physics="newton")

    with pytest.raises(ValueError, match="expected lag or mujoco, got 'newton'"):
        options.make_drives(load_description("piper", "ros2_sim"))
