from __future__ import annotations

import pytest
from franka_rig import EmulatedFranka
from piper_rig import RealClock, load

from paprle.followers.franka.config import FrankaConfig
from paprle.followers.franka.follower import FrankaFollower

pytest.importorskip("pylibfranka")


@pytest.fixture(scope="session")
def robot():
    return load("fr3")


@pytest.fixture
def arm(tmp_path):
    arm = EmulatedFranka(tmp_path)
    yield arm
    arm.end()


@pytest.fixture
def config(arm):
    return FrankaConfig(host=arm.host)


@pytest.fixture
def clock():
    return RealClock()


@pytest.fixture
def follower(config, robot, clock):
    follower = FrankaFollower(config, robot, clock)
    follower.open()
    yield follower
    follower.close("hold")
