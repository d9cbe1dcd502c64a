"""ALOHA's arms against Interbotix' figures: kinematics, limits, speeds.

The maker's home and screw axes give ``ee_gripper_link`` in ``base_link``, frames of the
same names as ours: nothing lies between them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin
import pytest
from piper_rig import load

from paprle.ipc.process import WORKSPACE

N = 6
RESERVE = 1e-5  # [rad] spec: pi_offset, at both ends of joints that turn freely
ROUNDED = 1e-4  # [rad] limits are rounded towards the inside
WITHOUT_LOAD = {"viperx300s": 30.0, "widowx250s": 46.0}
"""[rev/min] spec: ROBOTIS e-Manual at 12 V, XM540-W270 and XM430-W350."""


class Published(NamedTuple):
    """A maker's arm.

    Attributes:
        axes: Screw axes in the base, rows of ω and v, (6, 6).
        home: Place of the end effector, turned as the base is, [m].
        limits: Of shoulder, elbow and wrist angle, [°].
        finger: [m].
        speeds: Of joints [rad/s] and a finger [m/s].
    """

    axes: tuple[tuple[float, ...], ...]
    home: tuple[float, float, float]
    limits: tuple[tuple[float, float], ...]
    finger: tuple[float, float]
    speeds: tuple[float, float] = (np.pi, 1.0)


# spec: axes and home: Interbotix/interbotix_ros_toolboxes, interbotix_xs_modules,
# mr_descriptions.py, vx300s and wx250s; limits and speeds:
# Interbotix/interbotix_ros_manipulators, vx300s.urdf.xacro and wx250s.urdf.xacro
ARMS = {
    "viperx300s": Published(
        axes=(
            (0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
            (0.0, 1.0, 0.0, -0.12705, 0.0, 0.0),
            (0.0, 1.0, 0.0, -0.42705, 0.0, 0.05955),
            (1.0, 0.0, 0.0, 0.0, 0.42705, 0.0),
            (0.0, 1.0, 0.0, -0.42705, 0.0, 0.35955),
            (1.0, 0.0, 0.0, 0.0, 0.42705, 0.0),
        ),
        home=(0.536494, 0.0, 0.42705),
        limits=((-106.0, 72.0), (-101.0, 92.0), (-107.0, 128.0)),
        finger=(0.021, 0.057),
    ),
    "widowx250s": Published(
        axes=(
            (0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
            (0.0, 1.0, 0.0, -0.11065, 0.0, 0.0),
            (0.0, 1.0, 0.0, -0.36065, 0.0, 0.04975),
            (1.0, 0.0, 0.0, 0.0, 0.36065, 0.0),
            (0.0, 1.0, 0.0, -0.36065, 0.0, 0.29975),
            (1.0, 0.0, 0.0, 0.0, 0.36065, 0.0),
        ),
        home=(0.458325, 0.0, 0.36065),
        limits=((-108.0, 114.0), (-123.0, 92.0), (-100.0, 123.0)),
        finger=(0.015, 0.037),
    ),
}


def compute_published(arm, q):
    """The end effector in the base: a product of exponentials, then home."""
    T = pin.SE3.Identity()
    for axis, angle in zip(np.array(arm.axes), q, strict=True):
        T = T * pin.exp6(pin.Motion(axis[3:], axis[:3]) * angle)
    return T * pin.SE3(np.eye(3), np.array(arm.home))


@pytest.mark.parametrize("name", ARMS)
def test_kinematics_equal_the_published_screw_axes(name):
    robot = load(name)
    (limb,) = robot.limbs
    model = pin.buildModelFromUrdf(str(WORKSPACE / f"urdf/{name}/robot.urdf"))
    data = model.createData()
    base, eef = (model.getFrameId(one) for one in ("base_link", "ee_gripper_link"))
    at = [model.joints[model.getJointId(joint)].idx_q for joint in limb.joint_names]
    low, high = robot.q_min[:N], robot.q_max[:N]

    for q in np.random.default_rng(1).uniform(low, high, (100, N)):
        full = pin.neutral(model)
        full[at] = q
        pin.framesForwardKinematics(model, data, full)
        found = data.oMf[base].actInv(data.oMf[eef])

        published = compute_published(ARMS[name], q)

        assert np.abs(found.translation - published.translation).max() < 1e-6  # [m]
        assert np.abs(found.rotation - published.rotation).max() < 1e-6


@pytest.mark.parametrize("name", ARMS)
def test_limits_are_the_published_ones_rounded_towards_the_inside(name):
    robot, arm = load(name), ARMS[name]
    model = pin.buildModelFromUrdf(str(WORKSPACE / f"urdf/{name}/robot.urdf"))
    free = (-np.pi + RESERVE, np.pi - RESERVE)
    shoulder, elbow, wrist = np.radians(arm.limits)
    low, high = np.array([free, shoulder, elbow, free, wrist, free]).T

    inside = np.concatenate([robot.q_min[:N] - low, high - robot.q_max[:N]])

    assert inside.min() >= 0.0
    assert inside.max() < ROUNDED
    finger = model.joints[model.getJointId("left_finger")].idx_q
    ends = model.lowerPositionLimit[finger], model.upperPositionLimit[finger]
    assert ends == pytest.approx(arm.finger)


@pytest.mark.parametrize(
    ("name", "share", "of_finger"),
    [("viperx300s", 0.605, 0.06), ("widowx250s", 0.891, 0.05)],
)
def test_speeds_are_these_shares_of_the_published_ones(name, share, of_finger):
    robot = load(name, "follower.limits.velocity_scale=1")
    joint, finger = ARMS[name].speeds

    assert robot.dq_max[:N] / joint == pytest.approx(share, abs=1e-3)
    assert robot.dq_max[N] / finger == pytest.approx(of_finger, abs=1e-3)


@pytest.mark.parametrize("name", ARMS)
def test_speeds_leave_servos_two_fifths_of_what_they_have_without_a_load(name):
    robot = load(name, "follower.limits.velocity_scale=1")
    fastest = WITHOUT_LOAD[name] * 2.0 * np.pi / 60.0

    assert robot.dq_max[:N].max() / fastest == pytest.approx(0.6, abs=0.02)
