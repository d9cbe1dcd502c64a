from __future__ import annotations

import pytest
from damiao_rig import EmulatedDamiao, RealClock, load_robot

from paprle.followers.damiao.config import DamiaoConfig
from paprle.followers.damiao.follower import DamiaoFollower


@pytest.fixture
def model():
    return "openarm"


@pytest.fixture
def arm(tmp_path, model):
    arm = EmulatedDamiao(tmp_path, model)
    yield arm
    arm.end()


@pytest.fixture
def robot(model):
    return load_robot(model)


@pytest.fixture
def config(arm):
    return DamiaoConfig(
        model=arm.model, interface="emucan", channel=arm.channel, descent=0.1
    )


@pytest.fixture
def clock():
    return RealClock()


@pytest.fixture
def follower(config, robot, clock):
    follower = DamiaoFollower(config, robot, clock)
    follower.open()
    yield follower
    follower.close("off")
