"""Settings of grippers beside arms, alike in all envs; nothing is opened."""

from __future__ import annotations

from dataclasses import replace

import pytest
from piper_rig import RealClock, load
from robotiq_hand import carry
from ros_memory import make_config

from paprle.config import resolve
from paprle.contracts.errors import DeviceError
from paprle.contracts.settings.robotiq import STROKES, RobotiqSettings
from paprle.followers.ros2.follower import RosFollower
from paprle.hardware.robotiq.models import MODELS
from paprle.plugins import find_plugin, load_factory

ENVS = {
    "ur": "ur5e_2f85",
    "xarm": "xarm7_2f85",
    "franka": "fr3_2f85",
    "damiao": "yam",
    "can": "piper",
    "feetech": "so101",
    "dynamixel": "viperx300s",
    "ros2": "piper",
}
"""A follower of each."""
HAND = "env.robotiq.model=2f85"
PORT = "env.robotiq.port=/dev/ttyUSB7"


def make(follower, env, *words, robot=None):
    found = resolve(["leader=autopilot", f"follower={follower}", f"env={env}", *words])
    factory = load_factory(find_plugin("follower", found.env_type))
    return factory(found.env, robot or load(follower), RealClock())


@pytest.mark.parametrize(("env", "follower"), ENVS.items())
def test_each_env_has_the_same_settings(env, follower):
    words = ["leader=autopilot", f"follower={follower}", f"env={env}", HAND, PORT]
    found = resolve(words)

    assert found.env.robotiq == RobotiqSettings(model="2f85", port="/dev/ttyUSB7")


def test_strokes_are_those_of_the_driver():
    assert {name: model.stroke for name, model in MODELS.items()} == STROKES


@pytest.mark.parametrize(
    ("follower", "env", "joint", "travel"),
    [
        ("piper", "can", "joint7", "42.5 or 85 [mm], as a '2f85' does, got 35 [mm]"),
        ("openarm", "damiao", "openarm_right_finger_joint1", "got 44 [mm]"),
        ("yam", "damiao", "joint7", "got 46.95 [mm]"),
        ("viperx300s", "dynamixel", "left_finger", "got 35.5 [mm]"),
        ("so101", "feetech", "gripper", "0.6 to 0.9 [rad], as a '2f85' does, got 1.91"),
        ("fr3", "franka", "finger_joint1", "got 40 [mm]"),
    ],
)
def test_an_arm_with_a_gripper_of_its_own_is_refused(follower, env, joint, travel):
    (problem,) = make(follower, env, HAND, PORT).preflight()

    assert f"env.robotiq.model: expected a joint '{joint}'" in problem
    assert travel in problem
    assert f"'{follower}' has another gripper" in problem


def test_a_stroke_of_another_model_is_refused():
    (problem,) = make("xarm7", "xarm", "env.robotiq.model=hande", PORT).preflight()

    assert "expected a joint 'finger1_joint' that travels 25 or 50 [mm]" in problem


@pytest.mark.parametrize(
    ("follower", "env"),
    [("piper", "can"), ("yam", "damiao"), ("so101", "feetech")],
)
def test_a_gripper_without_a_port_is_refused(follower, env):
    (problem,) = make(follower, env, HAND, robot=carry(load(follower))).preflight()

    assert problem.startswith("env.robotiq.port: expected the serial port of the")


def test_a_robot_without_a_gripper_is_refused():
    (problem,) = make("ur5e", "ur", HAND, PORT).preflight()

    assert "'ur5e' has no gripper" in problem


def test_a_servo_that_is_named_for_the_gripper_is_refused():
    robot = carry(load("viperx300s"))

    (problem,) = make("viperx300s", "dynamixel", HAND, PORT, robot=robot).preflight()

    assert problem.startswith("env.ids: expected no gripper, as env.robotiq.model is")
    assert "'left_finger'" in problem


def test_a_topic_that_has_the_gripper_is_refused():
    hand = RobotiqSettings(model="2f85", port="/dev/ttyUSB7")
    config = replace(make_config(), robotiq=hand)
    follower = RosFollower(config, carry(load("piper")), RealClock())

    with pytest.raises(DeviceError, match="env.commands.arm_gripper: expected no grip"):
        follower.open()


def test_a_port_that_the_arm_has_is_refused():
    robot, port = carry(load("so101")), "env.robotiq.port=/dev/ttyACM0"

    (problem,) = make("so101", "feetech", HAND, port, robot=robot).preflight()

    assert "expected a port of its own, got '/dev/ttyACM0'" in problem
