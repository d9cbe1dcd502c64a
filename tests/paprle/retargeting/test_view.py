"""Motion in the axes of a live camera (requirements C11 to C13)."""

import camera_arm as rig
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from retargeting import random_pose

from paprle.contracts.errors import ConfigError
from paprle.contracts.settings.retarget import LimbRuleSettings

RULE = rig.pair().slots[rig.ARM][0].rule
SIGHT = RULE._sight
HOME = rig.place(rig.ROBOT.home)
RIGHT, UP, AHEAD = np.array([0, -1.0, 0]), np.array([0, 0, 1.0]), np.array([1.0, 0, 0])


def seen_from(T_world_cam, T_world_hand=None):
    """Poses of both limbs with the camera anywhere."""
    T = HOME.copy()
    T[rig.CAMERA] = np.linalg.inv(SIGHT.T_world_base) @ T_world_cam.homogeneous
    if T_world_hand is not None:
        T[rig.ARM] = np.linalg.inv(SIGHT.T_world_of) @ T_world_hand
    return T


def step(T_0, moves, cameras):
    """Where the arm is asked to be after moves of the hand before cameras."""
    T_hand = pin.SE3.Identity()
    first = rig.inputs_of(rig.ARM, rig.sample_of(T_hand), seen_from(cameras[0], T_0))
    state, asked = RULE.begin(first), None
    for move, camera in zip(moves, cameras, strict=True):
        T_hand = pin.SE3(
            move.rotation @ T_hand.rotation, T_hand.translation + move.translation
        )
        made = rig.inputs_of(rig.ARM, rig.sample_of(T_hand), seen_from(camera))
        asked, state = RULE.apply(made, state)
    return SIGHT.T_world_of @ asked.T_base_eef


def by(p, R=None):
    return pin.SE3(np.eye(3) if R is None else R, np.asarray(p, dtype=float))


@pytest.mark.long
def test_screen_right_is_robot_right_from_anywhere():
    rng = np.random.default_rng(4)
    for _ in range(1000):
        T_world_cam = random_pose(rng, 3.0)
        hand = T_world_cam.act(np.array([*rng.uniform(-0.3, 0.3, 2), 0.8]))
        T_0 = pin.SE3(np.eye(3), hand).homogeneous

        def project(p, T=T_world_cam):
            return T.actInv(p)

        before = project(hand)
        for way, axis, sign in ((RIGHT, 0, 1), (UP, 1, -1), (AHEAD, 2, 1)):
            T = step(T_0, [by(0.01 * way)], [T_world_cam])
            moved = project(T[:3, 3]) - before
            np.testing.assert_allclose(moved, 0.01 * sign * np.eye(3)[axis], atol=1e-9)
            after = before + moved
            pixels = after[:2] / after[2] - before[:2] / before[2]
            assert axis == 2 or sign * pixels[axis] > 0.005


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_turns_are_those_of_the_paper_in_closed_form(seed):
    rng = np.random.default_rng(seed)
    T_world_cam, T_0 = random_pose(rng), random_pose(rng, 0.5)
    R_r0, R_r1 = (random_pose(rng).rotation for _ in range(2))
    first = rig.inputs_of(
        rig.ARM,
        rig.sample_of(by([0, 0, 0], R_r0)),
        seen_from(T_world_cam, T_0.homogeneous),
    )
    state = RULE.begin(first)
    made = rig.inputs_of(
        rig.ARM, rig.sample_of(by([0, 0, 0], R_r1)), seen_from(T_world_cam)
    )

    asked, _ = RULE.apply(made, state)

    # Eq. 11: β turns the axis of a quaternion; Eq. 12 without its logarithm
    def beta(q, R):
        return pin.Quaternion(np.array([*(R @ q.vec()), q.w]))

    q_r0, q_r1 = pin.Quaternion(R_r0), pin.Quaternion(R_r1)
    q_v1 = beta(q_r0, R_r1)
    R_screen = T_world_cam.rotation @ np.array(
        [[0, -1.0, 0], [0, 0, -1.0], [1.0, 0, 0]]
    )
    q_v = beta(q_v1.inverse() * q_r1, R_screen)
    expected = (q_v * pin.Quaternion(T_0.rotation)).matrix()
    got = (SIGHT.T_world_of @ asked.T_base_eef)[:3, :3]
    closed = R_screen @ R_r1 @ R_r0.T @ R_screen.T @ T_0.rotation
    np.testing.assert_allclose(got, closed, atol=1e-9)
    np.testing.assert_allclose(expected, closed, atol=1e-9)


def test_a_camera_that_moves_by_itself_moves_nothing():
    rng = np.random.default_rng(2)
    T_0 = random_pose(rng, 0.5).homogeneous
    cameras = [random_pose(rng) for _ in range(20)]

    T = step(T_0, [by([0, 0, 0])] * 20, cameras)

    np.testing.assert_allclose(T, T_0, atol=1e-9)


def test_the_path_is_the_same_at_any_rate():
    rng = np.random.default_rng(3)
    T_0, camera = random_pose(rng, 0.5).homogeneous, random_pose(rng)
    turn = pin.exp3(np.array([0.0, 0.0, 0.01]))
    fine = step(T_0, [by([0.001, 0.002, 0.0], turn)] * 40, [camera] * 40)
    coarse = pin.exp3(np.array([0.0, 0.0, 0.04]))

    few = step(T_0, [by([0.004, 0.008, 0.0], coarse)] * 10, [camera] * 10)

    np.testing.assert_allclose(fine, few, atol=1e-9)


@pytest.mark.nightly
def test_a_clutch_moves_nothing_wherever_the_hand_goes():
    retargeting, q = rig.pair(), rig.ROBOT.home
    state = retargeting.anchor(rig.sample_of(), q)
    moved = rig.sample_of(by([0.02, 0.0, 0.01]), 5_000_000)
    before = retargeting.retarget(moved, state, q).T[rig.ARM].copy()
    assert np.linalg.norm(before[:3, 3] - HOME[rig.ARM][:3, 3]) == pytest.approx(
        np.hypot(0.02, 0.01)
    )
    elsewhere = rig.sample_of(
        by([1.0, -0.5, 0.3], pin.rpy.rpyToMatrix(1.5, 0, 0)), 10**9
    )

    state = retargeting.engage(state, {rig.ARM: 0}, elsewhere, q)

    again = retargeting.retarget(elsewhere, state, q)
    np.testing.assert_allclose(again.T[rig.ARM], HOME[rig.ARM], atol=1e-9)


def test_poses_that_are_missing_hold():
    blind = rig.sample_of()
    blind.pose[:] = np.nan
    state = RULE.begin(rig.inputs_of(rig.ARM, blind, HOME))

    asked, state = RULE.apply(rig.inputs_of(rig.ARM, blind, HOME), state)
    seen, state = RULE.apply(rig.inputs_of(rig.ARM, rig.sample_of(), HOME), state)

    assert asked.T_base_eef is None
    assert seen.T_base_eef is None  # its first pose is where it begins


def test_sticks_have_no_view():
    with pytest.raises(ConfigError, match="expected world or body for the axes"):
        rig.pair(leader=rig.STICK)


def test_a_view_needs_a_camera_that_looks():
    with pytest.raises(ConfigError, match="arm.alignment: expected a limb with rule"):
        rig.pair(camera=LimbRuleSettings(rule="hold"))
