"""A Robotiq gripper in place of the Franka Hand, before anything is opened."""

from __future__ import annotations

import pytest
from piper_rig import RealClock, load

from paprle.contracts.settings.robotiq import RobotiqSettings
from paprle.followers.franka.config import FrankaConfig
from paprle.followers.franka.follower import FrankaFollower


@pytest.fixture
def robot():
    return load("fr3_2f85")


def make(robot, **robotiq):
    config = FrankaConfig(host="127.0.0.1", robotiq=RobotiqSettings(**robotiq))
    return FrankaFollower(config, robot, RealClock())


def test_a_robotiq_without_a_port_is_refused(robot):
    (problem,) = make(robot, model="2f85").preflight()

    assert "env.robotiq.port: expected the serial port of the gripper" in problem


def test_a_robotiq_takes_the_place_of_the_hand(robot):
    (limb,) = robot.limbs

    for robotiq, has_hand in (({}, True), ({"model": "2f85", "port": "/dev/x"}, False)):
        follower = make(robot, **robotiq)
        assert follower.preflight() == ()
        arm = follower._make_arm(limb, "127.0.0.1")
        assert arm._settings.has_hand is has_hand
