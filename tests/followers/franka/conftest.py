from __future__ import annotations

import pytest
from franka_rig import ORACLES, EmulatedFranka
from piper_rig import RealClock, load

from paprle.followers.franka.config import FrankaConfig
from paprle.followers.franka.follower import FrankaFollower


@pytest.fixture(params=ORACLES, scope="session")
def model(request):
    pytest.importorskip(ORACLES[request.param].package)
    return request.param


@pytest.fixture(scope="session")
def robot(model):
    return load(model)


@pytest.fixture
def arm(tmp_path, model):
    arm = EmulatedFranka(tmp_path, model)
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
