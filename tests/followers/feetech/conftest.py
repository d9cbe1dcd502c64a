from __future__ import annotations

import pytest
from emulated_feetech import run_feetech
from feetech_rig import FeetechBench
from feetech_wire import VirtualFeetechWire
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


@pytest.fixture
def bench():
    return FeetechBench()


@pytest.fixture
def look(bench, robot, clock, monkeypatch):
    """Return the faults, and all lines, of an examination."""
    monkeypatch.setattr(
        "paprle.followers.feetech.arm.Wire",
        lambda _path, baud, _timeout: VirtualFeetechWire(bench, baud),
    )

    def run(calibration="", **settings):
        config = FeetechConfig(port="follower", calibration=calibration, **settings)
        found = list(FeetechFollower(config, robot, clock).diagnose())
        assert not any(servo.is_on for servo in bench.limb.servos)
        return [text for is_well, text in found if not is_well], [t for _, t in found]

    return run
