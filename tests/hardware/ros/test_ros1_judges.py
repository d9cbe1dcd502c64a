"""Debian's ROS 1 judges the Noetic codec and the rospy bus."""

from __future__ import annotations

import importlib
import importlib.util
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from ros_rig import run_master, skip_or_fail

from paprle.hardware.ros.joints import (
    Joints,
    Pose,
    Trajectory,
    encode_floats,
    encode_joints,
    encode_pose,
)
from paprle.hardware.ros.messages import load_codec
from paprle.hardware.ros.trajectories import encode_trajectory
from paprle.hardware.ros.transports.rospy_bus import find_rospy
from paprle.ipc.process import WORKSPACE

CODEC = load_codec("noetic")
PUBLISHER = Path("/usr/lib/robot_state_publisher/robot_state_publisher")
URDF = WORKSPACE / "urdf/piper/robot.urdf"
Q = {"joint1": 0.7, "joint2": 1.1, "joint3": -0.9, "joint4": 0.3, "joint5": -0.4}
Q |= {"joint6": 0.5, "joint7": 0.02, "joint8": -0.02}


@pytest.fixture(scope="module")
def master():
    yield from run_master()


def encode(name):
    """Return our bytes of a message without zeros."""
    a = np.array([0.1, -2.0])
    if name == "JointState":
        data = encode_joints(CODEC, Joints(("a", "bc"), a, a, a, 1_500_000_007))
    elif name == "JointTrajectory":
        times = np.array([0.005, 1.5])
        data = encode_trajectory(
            CODEC, Trajectory(("a", "bc"), times, np.eye(2), -np.eye(2))
        )
    elif name == "PoseStamped":
        data = encode_pose(
            CODEC, Pose(np.arange(3.0), np.array([0, 0, 0, 1.0]), "w", 5)
        )
    else:
        data = encode_floats(CODEC, a)
    return data


@pytest.mark.parametrize(
    "module, name",
    [
        ("sensor_msgs.msg", "JointState"),
        ("trajectory_msgs.msg", "JointTrajectory"),
        ("geometry_msgs.msg", "PoseStamped"),
        ("std_msgs.msg", "Float64MultiArray"),
    ],
)
def test_bytes_and_sums_are_those_of_genpy(module, name):
    if not find_rospy():
        skip_or_fail("ROS 1 is not here: apt-get install python3-rospy")
    message_type = getattr(importlib.import_module(module), name)
    data = encode(name)

    message = message_type()
    message.deserialize(data)
    again = io.BytesIO()
    message.serialize(again)

    assert again.getvalue() == data
    typename = f"{module.partition('.')[0]}/msg/{name}"
    assert message_type._md5sum == CODEC.hash_type(typename)


def ask_judge(master, probe, *words, judge=()):
    """Return what a probe said beside Debian's robot_state_publisher."""
    if not PUBLISHER.is_file():
        skip_or_fail("apt-get install ros-robot-state-publisher")
    env = os.environ | master
    described = ["rosparam", "set", "/robot_description", "-t", str(URDF)]
    subprocess.run(described, env=env, check=True)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    publisher = subprocess.Popen([PUBLISHER, *judge], env=env, **quiet)
    try:
        return run_probe(master, probe, *words)
    finally:
        publisher.terminate()
        publisher.wait(10)


def run_probe(master, probe, *words):
    """Run a program of tests/support against the master; return its last line."""
    support = Path(__file__).parents[2] / "support/ros"
    ran = subprocess.run(
        [sys.executable, str(support / probe), *words],
        env=os.environ | master | {"PYTHONPATH": f"{WORKSPACE}:{support}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


def test_debians_robot_state_publisher_makes_the_right_tf_of_our_states(master):
    words = [f"{name}={q}" for name, q in Q.items()]

    found = ask_judge(master, "ros1_probe.py", *words)

    assert len(found) == len(Q)
    model = pin.buildModelFromUrdf(str(URDF))
    data, q = model.createData(), pin.neutral(model)
    for name, position in Q.items():
        q[model.joints[model.getJointId(name)].idx_q] = position
    pin.framesForwardKinematics(model, data, q)
    for pair, numbers in found.items():
        parent, child = (data.oMf[model.getFrameId(link)] for link in pair.split())
        expected = parent.inverse() * child
        got = pin.XYZQUATToSE3(np.array(numbers))
        np.testing.assert_allclose(got.homogeneous, expected.homogeneous, atol=1e-6)


def test_our_tf_is_that_of_debians_robot_state_publisher(master):
    remapped = ["/tf:=/tf_judge", "/tf_static:=/tf_static_judge"]

    said = ask_judge(master, "ros1_publisher_probe.py", "piper", judge=remapped)

    assert len(said["heard"]) == 5
    for ours, theirs in (("tf", "tf_judge"), ("tf_static", "tf_static_judge")):
        assert set(said["tf"][ours]) == set(said["tf"][theirs])
        for pair, numbers in said["tf"][theirs].items():
            got, expected = (
                pin.XYZQUATToSE3(np.array(row)).homogeneous
                for row in (said["tf"][ours][pair], numbers)
            )
            np.testing.assert_allclose(got, expected, atol=1e-6)


def test_goals_of_a_gripper_reach_debians_actionlib(master):
    if importlib.util.find_spec("actionlib") is None:
        skip_or_fail("actionlib is not here: apt-get install python3-actionlib")

    said = run_probe(master, "ros1_action_probe.py")

    assert said == {"is_there": True, "taken": [0.01, 0.035]}


def test_a_new_goal_of_an_arm_ends_the_one_before_and_rest_is_no_goal(master):
    if importlib.util.find_spec("actionlib") is None:
        skip_or_fail("actionlib is not here: apt-get install python3-actionlib")

    said = run_probe(master, "ros1_goals_probe.py")

    assert said["is_there"]
    n = len(said["taken"])
    assert 4 <= n <= 8, said
    assert said["taken"][-1] == pytest.approx(100.0, abs=0.01)
    assert said["ended"] == ["preempted"] * (n - 1) + ["succeeded"]
