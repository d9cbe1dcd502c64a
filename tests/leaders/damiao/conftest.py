from __future__ import annotations

import pytest
from damiao_rig import EmulatedDamiao, RealClock

from paprle.config import resolve
from paprle.leaders.damiao.leader import DamiaoLeader


@pytest.fixture
def model():
    return "openarm"


@pytest.fixture
def motion():
    return "still"


@pytest.fixture
def arm(tmp_path, model, motion):
    arm = EmulatedDamiao(tmp_path, model, motion=motion)
    yield arm
    arm.end()


@pytest.fixture
def config(arm):
    words = [f"follower={arm.model}", "env=kinematic", "leader.descent=0.1"]
    (choice,) = resolve([*arm.args, *words]).leaders.values()
    return choice.config


@pytest.fixture
def clock():
    return RealClock()


@pytest.fixture
def leader(config, clock):
    leader = DamiaoLeader(config, clock)
    leader.open()
    yield leader
    leader.close()
