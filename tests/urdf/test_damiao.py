"""OpenArm and YAM against their makers' figures: kinematics, limits, weight."""

import numpy as np
import pinocchio as pin
import pytest
from piper_rig import load

from paprle.ipc.process import WORKSPACE
from paprle_emulators.damiao.models import ARMS
from paprle_emulators.damiao.plant import Plant
from paprle_emulators.servo_rig.urdf import make_rotation

LAST = {"openarm": "openarm_right_link7", "yam": "gripper"}


def place(xyz, rpy):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = make_rotation(rpy), xyz
    return T


def turn(axis, angle):
    T = np.eye(4)
    T[:3, :3] = pin.AngleAxis(angle, np.array(axis, dtype=float)).toRotationMatrix()
    return T


def compute_published(table, q):
    """The last joint's frame by the maker's table."""
    T = place(table.base_xyz, table.base_rpy)
    for row, angle in zip(table.rows, q, strict=True):
        T = T @ place(row.xyz, row.rpy) @ turn(row.axis, angle)
    return T


@pytest.mark.parametrize("name", ARMS)
def test_kinematics_and_weight_equal_the_published_ones(name):
    table = ARMS[name]
    model = pin.buildModelFromUrdf(str(WORKSPACE / f"urdf/{name}/robot.urdf"))
    data, frame = model.createData(), model.getFrameId(LAST[name])
    low, high = np.array([row.limits for row in table.rows]).T
    rng = np.random.default_rng(1)

    for q in rng.uniform(low, high, (50, table.n)):
        full = pin.neutral(model)
        full[: table.n] = q
        pin.framesForwardKinematics(model, data, full)
        weight = pin.computeGeneralizedGravity(model, data, full)[: table.n]

        found, published = data.oMf[frame].homogeneous, compute_published(table, q)

        assert np.abs(found[:3, 3] - published[:3, 3]).max() < 1e-5  # [m]
        assert np.abs(found[:3, :3] - published[:3, :3]).max() < 2e-5
        assert np.abs(weight - Plant(table, q, 1.0).compute_gravity()).max() < 1e-3


@pytest.mark.parametrize("name", ARMS)
def test_limits_are_the_published_ones(name):
    robot, table = load(name), ARMS[name]

    low, high = np.array([row.limits for row in table.rows]).T

    n = table.n
    assert robot.q_min[:n] == pytest.approx(low, abs=1e-5)
    assert robot.q_max[:n] == pytest.approx(high, abs=1e-5)
