from __future__ import annotations

import pytest
from piper_rig import EmulatedPiper, RealClock

from paprle.config import resolve
from paprle.followers.piper import arm as arm_module
from paprle.followers.piper.config import PiperConfig
from paprle.followers.piper.follower import PiperFollower
from paprle.ipc.process import WORKSPACE
from paprle.robot import RobotModel


@pytest.fixture(scope="session")
def robot():
    resolved = resolve(["leader=autopilot", "follower=piper", "env=can"])
    return RobotModel.from_settings(resolved.robot, "piper", WORKSPACE).info


@pytest.fixture(scope="module")
def emulated(tmp_path_factory):
    arm = EmulatedPiper(tmp_path_factory.mktemp("arm"))
    yield arm
    arm.end()


@pytest.fixture
def arm(emulated):
    """The module's emulated arm, well again."""
    yield emulated
    emulated.do("resume")
    emulated.do("none")


@pytest.fixture(autouse=True)
def _hurry(monkeypatch):
    """Listen for other masters for as long as the one in these tests needs."""
    monkeypatch.setattr(arm_module, "_LISTEN_TIME", 0.06)


@pytest.fixture
def config(arm):
    return PiperConfig(interface="emucan", channel=arm.channel)


@pytest.fixture
def clock():
    return RealClock()


@pytest.fixture
def follower(config, robot, clock):
    follower = PiperFollower(config, robot, clock)
    follower.open()
    yield follower
    follower.close("hold")
