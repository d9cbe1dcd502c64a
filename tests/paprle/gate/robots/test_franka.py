"""A Franka takes every command: judged as libfranka judges them, joint by joint.

spec: libfranka 0.9.2 ``rate_limiting.h``, the last release for this robot. It refuses a
command whose differences over 1 ms are above these, with a share of V for three lost
packets.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from public_robots import ROBOTS
from shared_data import require

from paprle.contracts.settings.core import LimbSettings, RobotSettings
from paprle.contracts.settings.limits import LimitSettings
from paprle.gate.gate import Gate
from paprle.robot import RobotModel

H = 0.001  # [s]
EPS = 1e-3
V = np.array([2.175, 2.175, 2.175, 2.175, 2.61, 2.61, 2.61])  # [rad/s]
A = np.array([15.0, 7.5, 10.0, 12.5, 15.0, 20.0, 20.0])  # [rad/s²]
J = np.array([7500.0, 3750.0, 5000.0, 6250.0, 7500.0, 10000.0, 10000.0])  # [rad/s³]
LOST_PACKETS = 3.0
JOINTS = tuple(f"panda_joint{k}" for k in range(1, 8))


def load_panda(**limits):
    """Return a Franka with its maker's limits by joint, as its YAML has them."""
    urdf = require(ROBOTS["panda"])
    limb = LimbSettings(base_link="panda_link0", eef_link="panda_link8", joints=JOINTS)
    settings = RobotSettings(
        urdf=urdf.name,
        limbs={"arm": limb},
        limits=LimitSettings(
            ddq_max=20.0,
            ddq_max_joints=dict(zip(JOINTS, (A - EPS).tolist(), strict=True)),
            dddq_max_joints=dict(zip(JOINTS, (J - EPS).tolist(), strict=True)),
            **limits,
        ),
    )
    return RobotModel.from_settings(settings, "panda", Path(urdf).parent)


@pytest.mark.parametrize("common", [None, 1e9])
def test_libfranka_refuses_no_command_of_a_leader_that_does_what_it_likes(common):
    robot = load_panda(dddq_max=common)
    arm = robot.limbs["arm"].indices
    rng, gate = np.random.default_rng(5), Gate(robot.info, h=H)
    q, target = [gate.q_cmd.copy()] * 4, robot.home.copy()
    for k in range(6000):
        if k % int(rng.integers(1, 400)) == 0:
            target = rng.uniform(robot.q_min, robot.q_max)
        gate.speed_scale = 1.0 if k % 1300 else rng.uniform(0.1, 1.0)
        q.append(gate.step(None if k % 997 > 950 else target, H).q_cmd.copy())

    dq, ddq, dddq = (np.diff(np.array(q)[:, arm], n, axis=0) / H**n for n in (1, 2, 3))
    assert (np.abs(dq) <= V - EPS - LOST_PACKETS * H * A).all()
    assert (np.abs(ddq) <= A - EPS + 1e-6).all()
    assert (np.abs(dddq) <= J - EPS + 1e-2).all(), "to rounding over 1 ms cubed"
    assert (np.abs(ddq).max(axis=0) > 0.9 * A).all(), "each joint uses its own"
    assert (np.abs(dddq).max(axis=0) > 0.4 * J).all()
