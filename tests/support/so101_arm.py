"""The SO-101 as a robot of a session, for tests of its follower."""

from __future__ import annotations

from paprle.config import resolve
from paprle.ipc.process import WORKSPACE
from paprle.robot import RobotModel


def load_robot(name, *words):
    resolved = resolve(["leader=autopilot", f"follower={name}", "env=feetech", *words])
    return RobotModel.from_settings(resolved.robot, name, WORKSPACE).info
