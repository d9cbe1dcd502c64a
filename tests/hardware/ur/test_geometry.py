"""The driver's figures and the robots' files, against Universal Robots' DH table."""

import numpy as np
import pinocchio as pin
import pytest
from ur_rig import load

from paprle.hardware.ur.conditions import judge, judge_safety
from paprle.hardware.ur.geometry import (
    GEOMETRIES,
    compute_jacobian,
    compute_torques,
)
from paprle.hardware.vendor_arm.states import ArmState
from paprle.ipc.process import WORKSPACE
from paprle_emulators.ur.models import MODELS, compute_flange

SHARE = 0.8  # of the velocity limits, which the core takes by default
ROUNDED = 1e-6  # [rad], [rad/s] of figures with eight digits
UR_FOLLOWERS = sorted(
    one.stem for one in (WORKSPACE / "configs/follower").glob("ur[0-9]*.yaml")
)
FOLLOWERS = ("ur3e", "ur5e", "ur10e", "ur16e", "ur20", "ur30")


def find_ur_limb(robot):
    """Return the joints of the limb that is an arm of Universal Robots."""
    (limb,) = (
        limb
        for limb in robot.limbs
        if limb.joint_names[0].endswith("shoulder_pan_joint")
    )
    return limb.joint_names


def draw(seed):
    return np.random.default_rng(seed).uniform(-3.0, 3.0, 6)


@pytest.mark.parametrize("name", FOLLOWERS)
def test_the_flange_is_where_the_makers_table_has_it(name):
    model = pin.buildModelFromUrdf(str(WORKSPACE / f"urdf/{name}/robot.urdf"))
    data = model.createData()
    base, tool = model.getFrameId("base"), model.getFrameId("tool0")
    for seed in range(20):
        q = draw(seed)
        pin.framesForwardKinematics(model, data, q)
        ours = data.oMf[base].actInv(data.oMf[tool]).homogeneous
        theirs = compute_flange(MODELS[name], q)
        assert np.linalg.norm(ours[:3, 3] - theirs[:3, 3]) < 1e-4
        assert np.abs(ours[:3, :3] - theirs[:3, :3]).max() < 1e-4


@pytest.mark.parametrize("name", UR_FOLLOWERS)
def test_limits_are_the_published_ones(name):
    robot, model = load(name), MODELS[name.partition("_")[0]]
    urdf = pin.buildModelFromUrdf(str(WORKSPACE / f"urdf/{name}/robot.urdf"))
    names = find_ur_limb(robot)
    at = [urdf.joints[urdf.getJointId(joint)].idx_v for joint in names]
    joints = [robot.joint_names.index(joint) for joint in names]
    for ours, published in (
        (urdf.upperPositionLimit[at], model.q_max),
        (robot.q_max[joints], model.q_max),
        (-robot.q_min[joints], model.q_max),
        (urdf.velocityLimit[at], model.dq_max),
        (robot.dq_max[joints] / SHARE, model.dq_max),
    ):
        assert np.all(ours <= published + 1e-9), "rounded towards the inside alone"
        assert np.all(ours > published - ROUNDED)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_the_jacobian_is_that_of_the_table(name):
    geometry, model, h = GEOMETRIES[name.upper().rstrip("E")], MODELS[name], 1e-6
    q = draw(7)
    numeric = np.empty((3, 6))
    for k in range(6):
        step = h * np.eye(6)[k]
        ahead, behind = (compute_flange(model, q + s) for s in (step, -step))
        numeric[:, k] = (ahead - behind)[:3, 3] / (2 * h)
    jacobian = compute_jacobian(geometry, q)
    assert np.allclose(jacobian[:3], numeric, atol=1e-7)
    turn = compute_flange(model, q)[:3, :3]
    assert np.allclose(jacobian[3:, 5], turn[:, 2], atol=1e-9)


def test_a_push_up_at_the_tool_is_carried_by_the_shoulder():
    q = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    up = np.array([0.0, 0.0, 10.0, 0.0, 0.0, 0.0])
    tau = compute_torques(GEOMETRIES["UR5"], q, up)
    assert tau[1] == pytest.approx(8.172, abs=1e-6), "10 N at 0.8172 m"
    assert tau[0] == 0.0


@pytest.mark.parametrize(
    ("mode", "safety", "status", "runtime", "state"),
    [
        (7, 1, 3, 2, ArmState.READY),
        (7, 1, 1, 1, ArmState.ENDED),
        (7, 1, 1, 4, ArmState.PAUSED),
        (7, 1 << 2 | 1 << 10, 1, 4, ArmState.PROTECTIVE_STOP),
        (7, 1 << 4 | 1 << 10, 1, 4, ArmState.SAFEGUARD_STOP),
        (3, 1 << 6 | 1 << 7, 0, 1, ArmState.EMERGENCY_STOP),
        (7, 1 << 9, 1, 1, ArmState.FAULT),
        (3, 1, 0, 1, ArmState.POWER_OFF),
        (5, 1, 1, 1, ArmState.BRAKED),
        (2, 1, 0, 1, ArmState.FAULT),
    ],
)
def test_bits_become_a_condition(mode, safety, status, runtime, state):
    assert judge(mode, safety, status, runtime).state is state
    if state not in (ArmState.ENDED, ArmState.PAUSED):
        assert judge_safety(mode, safety).state is state
