from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from product import cut_motion, write_motion

from paprle.config import resolve
from paprle.ipc.process import WORKSPACE
from paprle.robot import RobotModel

PIPER = ("leader=autopilot", "follower=piper", "env=kinematic")


@pytest.fixture(scope="session")
def own_motion(tmp_path_factory):
    """A hand's motion about home of the PiPER, 10 s, absolute."""
    robot = RobotModel.from_settings(resolve(PIPER).robot, "piper", WORKSPACE)
    limb = robot.limbs["arm"]
    T_base_eef = limb.fk(limb.home)
    quat_xyzw = pin.Quaternion(T_base_eef.rotation).coeffs()
    path = tmp_path_factory.mktemp("motion") / "own.csv"
    center = np.array(T_base_eef.translation)
    return write_motion(path, center, np.array(quat_xyzw), duration=10.0)


@pytest.fixture(scope="session")
def short_motion(tmp_path_factory):
    """Eight seconds of the recorded rectangle with one of its corners."""
    return cut_motion(tmp_path_factory.mktemp("motion") / "short.csv", 20.0, 28.0)
