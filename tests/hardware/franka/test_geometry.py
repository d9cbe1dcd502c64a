"""The kinematics and limits of ``urdf/`` against the maker's published tables."""

import math
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from franka_rig import ORACLES
from piper_rig import load

from paprle.hardware.franka.models import MODELS

# spec: FCI documentation, "Denavit-Hartenberg parameters", Craig's convention:
# a [m], d [m], alpha [rad]; FR3 and Panda share them
DH = np.array(
    [
        [0, 0.333, 0],
        [0, 0, -math.pi / 2],
        [0, 0.316, math.pi / 2],
        [0.0825, 0, math.pi / 2],
        [-0.0825, 0.384, -math.pi / 2],
        [0, 0, math.pi / 2],
        [0.088, 0, math.pi / 2],
        [0, 0.107, 0],
    ]
)


def find_urdf(name):
    return Path(__file__).resolve().parents[3] / "urdf" / name / "robot.urdf"


def compute_flange(q):
    pose = np.eye(4)
    for theta, (a, d, alpha) in zip((*q, 0.0), DH, strict=True):
        turn = pin.rpy.rpyToMatrix(alpha, 0, 0)
        step = np.eye(4)
        step[:3, :3] = turn @ pin.rpy.rpyToMatrix(0, 0, theta)
        step[:3, 3] = [a, 0, 0] + turn @ [0, 0, d]
        pose = pose @ step
    return pose


@pytest.mark.parametrize("name", ["fr3", "panda"])
def test_the_flange_is_within_a_tenth_of_a_millimetre_of_the_table(name):
    robot = load(name)
    model = pin.buildModelFromUrdf(str(find_urdf(name)))
    data = model.createData()
    random = np.random.default_rng(0)

    for _ in range(200):
        q = random.uniform(robot.q_min, robot.q_max)
        full = pin.neutral(model)
        for joint, x in zip(robot.joint_names, q, strict=True):
            full[model.joints[model.getJointId(joint)].idx_q] = x
        pin.framesForwardKinematics(model, data, full)
        pose = data.oMf[model.getFrameId("link8")].homogeneous
        arm = [robot.joint_names.index(f"joint{k + 1}") for k in range(7)]
        assert np.abs(pose - compute_flange(q[arm])).max() < 1e-6


@pytest.mark.parametrize("name", ORACLES)
def test_limits_are_those_that_are_published(name):
    robot, table = load(name), ORACLES[name].table
    arm = [robot.joint_names.index(f"joint{k + 1}") for k in range(7)]

    assert robot.q_min[arm] == pytest.approx(table[:, 0], abs=1e-9)
    assert robot.q_max[arm] == pytest.approx(table[:, 1], abs=1e-9)
    model = pin.buildModelFromUrdf(str(find_urdf(name)))
    assert model.velocityLimit[:7] == pytest.approx(table[:, 2], abs=1e-9)
    assert (robot.dq_max[arm] < table[:, 2]).all(), "the gate's share of it"


@pytest.mark.parametrize("name", ORACLES)
def test_the_drivers_limits_are_those_that_are_published(name):
    limits, oracle = MODELS[name].limits, ORACLES[name]
    assert np.array_equal(limits.dq, oracle.table[:, 2])
    assert np.array_equal(limits.ddq, oracle.a)
    assert np.array_equal(limits.dddq, oracle.j)


def test_an_fr3_slows_down_towards_its_ends_as_is_published():
    limits, table = MODELS["fr3"].limits, ORACLES["fr3"].table
    assert np.array_equal(limits.offset, table[:, 3])
    assert 2 * limits.deceleration == pytest.approx(table[:, 4])
    assert limits.end_lower == pytest.approx(table[:, 5])
    assert limits.end_upper == pytest.approx(table[:, 6])


def test_a_panda_is_stopped_at_its_ends():
    limits, table = MODELS["panda"].limits, ORACLES["panda"].table
    assert np.array_equal(limits.end_lower, table[:, 0])
    assert np.array_equal(limits.end_upper, table[:, 1])
    assert (limits.deceleration < limits.ddq).all()


def test_a_pandas_ends_are_those_of_its_sdk():
    constants = pytest.importorskip("panda_py.constants")
    limits = MODELS["panda"].limits
    assert limits.end_lower == pytest.approx(constants.JOINT_LIMITS_LOWER, abs=0)
    assert limits.end_upper == pytest.approx(constants.JOINT_LIMITS_UPPER, abs=0)
