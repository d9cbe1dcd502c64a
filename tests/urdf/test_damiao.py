"""OpenArm and YAM against their makers' figures: kinematics, limits, weight."""

import numpy as np
import pinocchio as pin
import pytest
from piper_rig import load

from paprle.hardware.damiao.models import ARMS as DRIVEN
from paprle.ipc.process import WORKSPACE
from paprle_emulators.damiao.models import ARMS
from paprle_emulators.damiao.plant import Plant
from paprle_emulators.servo_rig.urdf import make_rotation

# spec: openarm_description, config/arm/v10/joint_limits.yaml: 160, 52 and 200 rev/min;
# the last two are those of Damiao's data sheets without a load, for YAM, too
SPEEDS = {"DM8009": 16.754666, "DM4340": 5.445426, "DM4310": 20.943946}  # [rad/s]
LED = {
    "openarm": (0.119, 0.119, 0.367, 0.367, 0.143, 0.143, 0.143),
    "yam": (0.367, 0.367, 0.367, 0.143, 0.143, 0.143),
}
"""Shares of these at which the arms are driven."""
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


@pytest.mark.parametrize("name", ARMS)
def test_speeds_are_those_of_the_motors_without_load(name):
    model = pin.buildModelFromUrdf(str(WORKSPACE / f"urdf/{name}/robot.urdf"))
    n = ARMS[name].n

    published = [SPEEDS[kind] for kind in ARMS[name].motors[:n]]

    assert model.velocityLimit[:n] == pytest.approx(published, rel=1e-6)


@pytest.mark.parametrize("name", ARMS)
def test_arms_are_driven_at_these_shares_of_the_published_speeds(name):
    robot, n = load(name, "follower.limits.velocity_scale=1"), ARMS[name].n

    published = np.array([SPEEDS[kind] for kind in ARMS[name].motors[:n]])

    assert robot.dq_max[:n] / published == pytest.approx(LED[name], abs=1e-3)


@pytest.mark.parametrize("name", ARMS)
def test_a_leader_is_the_follower_with_its_fingers_closed(name):
    leader, follower = (
        pin.buildModelFromUrdf(str(WORKSPACE / f"urdf/{folder}/robot.urdf"))
        for folder in (f"{name}_leader", name)
    )
    n = ARMS[name].n
    low, high = follower.lowerPositionLimit[:n], follower.upperPositionLimit[:n]
    eef = {"openarm": "openarm_right_hand_tcp", "yam": "grasp"}[name]

    assert list(leader.names)[: n + 1] == list(follower.names)[: n + 1]
    assert leader.lowerPositionLimit[:n] == pytest.approx(low)
    assert leader.upperPositionLimit[:n] == pytest.approx(high)
    for q in np.random.default_rng(2).uniform(low, high, (50, n)):
        weights, hands = [], []
        for model in (leader, follower):
            data, full = model.createData(), pin.neutral(model)
            full[:n] = q
            weights.append(pin.computeGeneralizedGravity(model, data, full)[:n])
            pin.framesForwardKinematics(model, data, full)
            hands.append(data.oMf[model.getFrameId(eef)].homogeneous)
        # the gripper's motor weighs 1 g there, so that Pinocchio takes it
        assert weights[0] == pytest.approx(weights[1], abs=0.01)
        assert hands[0] == pytest.approx(hands[1])


@pytest.mark.parametrize("name", ARMS)
def test_a_leader_is_damped_as_its_driver_damps_it(name):
    model = pin.buildModelFromUrdf(str(WORKSPACE / f"urdf/{name}_leader/robot.urdf"))
    arm = DRIVEN[name]

    assert model.damping == pytest.approx(arm.drag)
    grip = sorted((arm.grip_closed, arm.grip_open))
    assert [model.lowerPositionLimit[-1], model.upperPositionLimit[-1]] == grip
