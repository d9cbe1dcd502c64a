from __future__ import annotations

import pytest
from driven_rig import run_driven
from dynamixel_arm import resolve_robot
from piper_rig import RealClock

from paprle.followers.dynamixel.follower import DynamixelFollower

pytest.importorskip("dynamixel_sdk")


@pytest.fixture(scope="session")
def known():
    """An OpenMANIPULATOR-X: its info, and its settings."""
    return resolve_robot("open_manipulator_x")


@pytest.fixture
def robot(known):
    return known[0]


@pytest.fixture
def arm(tmp_path):
    with run_driven(tmp_path / "ports", "open_manipulator_x") as rig:
        yield rig


@pytest.fixture
def config(arm):
    _, config = resolve_robot(
        "open_manipulator_x", f"env.port={arm.port('follower')}", "env.timeout=0.03"
    )
    return config


@pytest.fixture
def clock():
    return RealClock()


@pytest.fixture
def follower(config, robot, clock):
    follower = DynamixelFollower(config, robot, clock)
    follower.open()
    yield follower
    follower.close("hold")
