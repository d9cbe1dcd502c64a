from __future__ import annotations

import pytest
from emulated_feetech import run_feetech
from piper_rig import RealClock
from so101_arm import load_robot

from paprle.followers.feetech.config import FeetechConfig
from paprle.followers.feetech.follower import FeetechFollower

pytest.importorskip("scservo_sdk")


@pytest.fixture(scope="session")
def robot():
    return load_robot("so101")


@pytest.fixture
def arm(tmp_path):
    """An emulated SO-101 with the calibration of its maker at the servos."""
    with run_feetech(tmp_path / "ports") as rig:
        yield rig


@pytest.fixture
def config(arm):
    return FeetechConfig(port=arm.port("follower"))


@pytest.fixture
def clock():
    return RealClock()


@pytest.fixture
def follower(config, robot, clock):
    follower = FeetechFollower(config, robot, clock)
    follower.open()
    yield follower
    follower.close("hold")
