from __future__ import annotations

import pytest
from piper_rig import RealClock, load
from xarm_rig import EmulatedXArm

from paprle.followers.xarm.config import XArmConfig
from paprle.followers.xarm.follower import XArmFollower

pytest.importorskip("xarm")
HOME = "0,-0.2007,0,0.8064,0,1.0069,0"  # of xarm7


@pytest.fixture(scope="session")
def robot():
    return load("xarm7")


@pytest.fixture
def arm(tmp_path):
    arm = EmulatedXArm(tmp_path, q=HOME)
    yield arm
    arm.end()


@pytest.fixture
def config(arm):
    return XArmConfig(host=arm.host)


@pytest.fixture
def clock():
    return RealClock()


@pytest.fixture
def follower(config, robot, clock):
    follower = XArmFollower(config, robot, clock)
    follower.open()
    yield follower
    follower.close("hold")
