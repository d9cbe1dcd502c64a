from __future__ import annotations

import pytest
from ur_rig import EmulatedUr, RealClock, load

from paprle.followers.ur.config import UrConfig
from paprle.followers.ur.follower import UrFollower

pytest.importorskip("rtde_control")


@pytest.fixture(scope="session")
def robot():
    return load("ur5e")


@pytest.fixture
def arm(tmp_path):
    with EmulatedUr(tmp_path) as arm:
        yield arm


@pytest.fixture
def config(arm):
    return UrConfig(host=arm.host, rate=250.0)


@pytest.fixture
def clock():
    return RealClock()


@pytest.fixture
def follower(config, robot, clock):
    follower = UrFollower(config, robot, clock)
    follower.open()
    yield follower
    follower.close("hold")
