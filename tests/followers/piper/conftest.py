from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from piper_rig import EmulatedPiper

from followers.piper.config import PiperConfig
from paprle.config import resolve
from paprle.process import WORKSPACE
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


@pytest.fixture
def config(arm):
    return PiperConfig(interface="emucan", channel=arm.channel)
