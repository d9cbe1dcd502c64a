import math

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st
from retargeting import (
    ALL,
    ROBOTS,
    anchor_at,
    assert_same_pose,
    draw_command,
    every_limb,
    follow,
    load_robot,
    make,
    move,
    pose_in,
    pose_sample,
    random_pose,
    row_sample,
    seeds,
    some,
)

from paprle.contracts.types import LeaderInfo

FAR = 100.0  # [m] beyond any pose that is drawn here

# Engaging


@given(seed=seeds, name=st.sampled_from(ALL), body=st.booleans())
@some
def test_motionless_leader_leaves_the_command_bit_identical(seed, name, body):
    rng, robot = np.random.default_rng(seed), load_robot(name)
    alignment = "body" if body else "world"
    retargeting = make(robot, alignment=alignment, rpy_xyz_extrinsic=(0.3, -0.2, 1.0))
    q_cmd, sample = draw_command(robot, rng), pose_sample(random_pose(rng))
    q_prev = q_cmd

    state = retargeting.anchor(sample, q_cmd)
    for _ in range(5):
        found = retargeting.solve(retargeting.retarget(sample, state), q_prev, q_cmd)
        q_prev = found.q_des

    assert np.array_equal(found.q_des, q_cmd)
    assert found.is_converged
    assert found.err_pos.shape == (len(robot.limbs),)


@pytest.mark.parametrize("name", ALL)
def test_command_outside_its_limits_is_held_bit_identical(name):
    robot = load_robot(name)
    q_cmd = np.where(np.isfinite(robot.q_max), robot.q_max + math.radians(3), 0.1)
    retargeting, sample = make(robot), pose_sample(pin.SE3.Identity())

    state = retargeting.anchor(sample, q_cmd)
    found = retargeting.solve(retargeting.retarget(sample, state), q_cmd, q_cmd)

    assert np.array_equal(found.q_des, q_cmd)


@pytest.mark.parametrize("name", ROBOTS)
def test_re_engaging_after_the_device_was_carried_away_moves_nothing(name):
    rng, robot = np.random.default_rng(4), load_robot(name)
    retargeting, T_l = make(robot), random_pose(rng)
    state = retargeting.anchor(pose_sample(T_l), robot.home)
    q = robot.home
    for _ in range(20):
        T_l = T_l * pin.SE3(pin.exp3(np.full(3, 0.002)), np.full(3, 0.001))
        target = retargeting.retarget(pose_sample(T_l), state)
        q = retargeting.solve(target, q, q).q_des
    assert not np.array_equal(q, robot.home)

    away = pin.SE3(pin.rpy.rpyToMatrix(0, 0, math.pi / 2), np.array([1.0, 0, 0])) * T_l
    state = retargeting.anchor(pose_sample(away), q)
    found = retargeting.solve(retargeting.retarget(pose_sample(away), state), q, q)

    assert np.array_equal(found.q_des, q)


@pytest.mark.long
@given(
    seed=seeds,
    name=st.sampled_from(ROBOTS),
    alignment=st.sampled_from(["world", "body"]),
)
@some
def test_motion_is_the_sum_of_what_happened_while_engaged(seed, name, alignment):
    rng, robot = np.random.default_rng(seed), load_robot(name)
    limb = next(iter(robot.limbs))
    retargeting = make(
        robot, alignment=alignment, limb_map={limb: "hand"}, max_travel=FAR
    )
    T_l, T_f = random_pose(rng), random_pose(rng)
    expected = T_f

    for _ in range(5):
        T_l = random_pose(rng) * T_l  # carried about, released
        T_l0 = T_l
        for _ in range(3):  # engaged
            step = random_pose(rng, 0.3)
            T_before = T_l
            T_l = T_l * step
            if alignment == "body":
                expected = expected * step
            else:
                dR = T_l.rotation @ T_before.rotation.T
                dp = T_l.translation - T_before.translation
                expected = pin.SE3(dR @ expected.rotation, expected.translation + dp)
        T_f = move(retargeting, T_f, T_l0, T_l)

    assert_same_pose(T_f, expected, 1e-10)


# Relative motion


def test_world_axes_follow_the_amended_formula():
    rng = np.random.default_rng(5)
    rpy, s = (0.4, -0.3, 1.2), 1.7
    retargeting = make("piper", scale=s, rpy_xyz_extrinsic=rpy, max_travel=FAR)
    R_map = pin.rpy.rpyToMatrix(*rpy)
    T_0, T_l0, T_l = (random_pose(rng) for _ in range(3))

    T = move(retargeting, T_0, T_l0, T_l)

    p = T_0.translation + R_map @ (s * (T_l.translation - T_l0.translation))
    R = R_map @ T_l.rotation @ T_l0.rotation.T @ R_map.T @ T_0.rotation
    assert_same_pose(T, pin.SE3(R, p))


def test_tool_axes_follow_the_amended_formula():
    rng = np.random.default_rng(6)
    rpy, s = (0.4, -0.3, 1.2), 0.6
    retargeting = make(
        "piper", scale=s, rpy_xyz_extrinsic=rpy, alignment="body", max_travel=FAR
    )
    X = pin.SE3(pin.rpy.rpyToMatrix(*rpy), np.zeros(3))
    T_0, T_l0, T_l = (random_pose(rng) for _ in range(3))

    T = move(retargeting, T_0, T_l0, T_l)

    delta = T_l0.inverse() * T_l
    scaled = pin.SE3(delta.rotation, s * delta.translation)
    assert_same_pose(T, T_0 * X.inverse() * scaled * X)


def test_leader_forward_is_follower_left_when_its_axes_are_turned_by_90_degrees():
    retargeting = make("piper", rpy_xyz_extrinsic=(0.0, 0.0, math.pi / 2))
    T_l = pin.SE3(np.eye(3), np.array([0.1, 0.0, 0.0]))

    T = move(retargeting, pin.SE3.Identity(), pin.SE3.Identity(), T_l)

    np.testing.assert_allclose(T.translation, [0.0, 0.1, 0.0], atol=1e-15)


@given(seed=seeds)
@some
def test_tool_motion_does_not_depend_on_the_leaders_world(seed):
    rng = np.random.default_rng(seed)
    retargeting = make("piper", alignment="body", max_travel=FAR)
    T_0, T_l0, T_l, left = (random_pose(rng) for _ in range(4))

    here = move(retargeting, T_0, T_l0, T_l)
    there = move(retargeting, T_0, left * T_l0, left * T_l)

    assert_same_pose(here, there)


@given(seed=seeds)
@some
def test_world_motion_turns_with_the_leaders_world(seed):
    rng = np.random.default_rng(seed)
    retargeting = make("piper", max_travel=FAR)
    T_0, T_l0, T_l, left = (random_pose(rng) for _ in range(4))
    R = left.rotation

    here = move(retargeting, T_0, T_l0, T_l)
    there = move(retargeting, T_0, left * T_l0, left * T_l)

    dp_here, dp_there = (T.translation - T_0.translation for T in (here, there))
    np.testing.assert_allclose(dp_there, R @ dp_here, atol=1e-12)
    dR_here, dR_there = (T.rotation @ T_0.rotation.T for T in (here, there))
    np.testing.assert_allclose(dR_there, R @ dR_here @ R.T, atol=1e-12)


@pytest.mark.parametrize("alignment", ["world", "body"])
@pytest.mark.parametrize("scale", [0.0, 0.5, 2.0])
def test_scale_acts_on_translation_alone(alignment, scale):
    rng = np.random.default_rng(7)
    T_0, T_l0, T_l = (random_pose(rng) for _ in range(3))

    plain = make("piper", alignment=alignment, max_travel=FAR)
    scaled = make("piper", alignment=alignment, scale=scale, max_travel=FAR)
    plain, scaled = (move(one, T_0, T_l0, T_l) for one in (plain, scaled))

    np.testing.assert_allclose(scaled.rotation, plain.rotation, atol=1e-12)
    np.testing.assert_allclose(
        scaled.translation - T_0.translation,
        scale * (plain.translation - T_0.translation),
        atol=1e-12,
    )


@pytest.mark.parametrize("name", ["papras_7dof_2arm", "g1"])
def test_one_hand_drives_every_limb_to_its_target(name):
    robot = load_robot(name)
    retargeting, q = make(robot, limb_map=every_limb(robot)), robot.home
    state = retargeting.anchor(pose_sample(pin.SE3.Identity()), q)

    for k in range(21):
        T_l = pin.SE3(pin.exp3(np.full(3, 0.002 * k)), np.full(3, -0.0005 * k))
        target = retargeting.retarget(pose_sample(T_l), state)
        found = retargeting.solve(target, q, q)
        q = found.q_des

    assert found.is_converged
    assert target.is_asked.all()
    for i, limb in enumerate(robot.limbs.values()):
        assert_same_pose(limb.fk(limb.take(q)), pose_in(target, i), 1e-5)
    in_limbs = np.concatenate([limb.indices for limb in robot.limbs.values()])
    others = np.setdiff1d(np.arange(len(q)), in_limbs)
    assert np.array_equal(q[others], robot.home[others])


# What holds


@pytest.mark.parametrize(
    "row",
    [
        [math.nan] * 7,
        [0.0, math.nan, 0.0, 0.0, 0.0, 0.0, 1.0],
        [0.0, math.inf, 0.0, 0.0, 0.0, 0.0, 1.0],
        [0.0, 1e30, 0.0, 0.0, 0.0, 0.0, 1.0],
        [0.0, 0.0, 0.0, math.nan, 0.0, 0.0, 1.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.2],
    ],
    ids=["none", "p nan", "p inf", "p far", "R nan", "R zero", "R not unit"],
)
def test_limb_without_a_usable_pose_holds(row):
    robot = load_robot("piper")
    retargeting = make(robot)
    state = retargeting.anchor(pose_sample(pin.SE3.Identity()), robot.home)

    target = retargeting.retarget(row_sample(*row), state)
    found = retargeting.solve(target, robot.home, robot.home)

    assert not target.is_asked.any()
    assert np.array_equal(found.q_des, robot.home)
    assert np.isnan(found.err_pos).all()


def test_a_quaternion_is_made_a_unit_one():
    retargeting = make("piper")
    state = anchor_at(retargeting, row_sample(*np.eye(7)[6]), [pin.SE3.Identity()])

    turned = retargeting.retarget(row_sample(0, 0, 0, 0, 0, 0.64, 0.8), state)

    expected = pin.Quaternion(0.8, 0, 0, 0.64).normalized().matrix()
    np.testing.assert_allclose(turned.T[0, :3, :3], expected, atol=1e-15)


def test_limb_without_a_pose_at_engaging_holds_until_engaged_again():
    robot = load_robot("piper")
    retargeting, pose = make(robot), pose_sample(pin.SE3.Identity())

    state = retargeting.anchor(pose_sample(None), robot.home)

    assert not retargeting.retarget(pose, state).is_asked.any()
    assert retargeting.retarget(
        pose, retargeting.anchor(pose, robot.home)
    ).is_asked.any()


# How far


def make_bounded(mode, **settings):
    robot = load_robot("piper")
    retargeting, T_l = make(robot, mode=mode, **settings), robot.limbs["arm"]
    T_l = T_l.fk(T_l.home)
    return retargeting, retargeting.anchor(pose_sample(T_l), robot.home), T_l


@pytest.mark.parametrize("mode", ["relative", "absolute"])
def test_no_target_is_farther_than_the_bound_from_where_it_engaged(mode):
    retargeting, state, T_l = make_bounded(mode)
    away = np.array([3.0, -1.5, 1.0])
    p_0 = T_l.translation

    places = []
    for share in np.linspace(0.0, 1.0, 50):
        T = pin.SE3(T_l.rotation, p_0 + share * away)
        target = retargeting.retarget(pose_sample(T), state)
        gone = target.T[0, :3, 3] - p_0
        is_beyond = share * np.linalg.norm(away) > 1.5

        assert target.is_far[0] == is_beyond
        assert np.linalg.norm(gone) == pytest.approx(
            min(share * np.linalg.norm(away), 1.5), abs=1e-9
        )
        assert np.cross(gone, away) == pytest.approx(np.zeros(3), abs=1e-9)
        places.append(gone)
    assert np.linalg.norm(np.diff(places, axis=0), axis=1).max() < 0.08, "no jump"


@pytest.mark.parametrize("mode", ["relative", "absolute"])
def test_a_hand_that_comes_back_is_where_it_would_be_had_it_not_gone(mode):
    retargeting, state, T_l = make_bounded(mode, max_travel=0.3)
    near = pin.SE3(T_l.rotation, T_l.translation + [0.1, 0.0, 0.05])
    before = retargeting.retarget(pose_sample(near), state).T[0].copy()

    far = pin.SE3(T_l.rotation, T_l.translation + [3.0, 0.0, 0.05])
    retargeting.retarget(pose_sample(far), state)
    after = retargeting.retarget(pose_sample(near), state)

    np.testing.assert_array_equal(after.T[0], before)
    assert not after.is_far[0]


def test_the_bound_is_of_the_robots_motion_not_of_the_hands():
    retargeting, state, T_l = make_bounded("relative", scale=0.1)

    T = pin.SE3(T_l.rotation, T_l.translation + [6.0, 0.0, 0.0])
    target = retargeting.retarget(pose_sample(T), state)

    assert not target.is_far[0]
    assert target.T[0, 0, 3] == pytest.approx(T_l.translation[0] + 0.6)


def test_a_turn_goes_on_beyond_the_bound():
    retargeting, state, T_l = make_bounded("relative")
    R = pin.exp3(np.array([0.0, 0.0, 0.4]))

    T = pin.SE3(R @ T_l.rotation, T_l.translation + [6.0, 0.0, 0.0])
    target = retargeting.retarget(pose_sample(T), state)

    np.testing.assert_allclose(target.T[0, :3, :3], T.rotation, atol=1e-12)


def test_invalid_sample_asks_for_nothing():
    robot = load_robot("piper")
    retargeting = make(robot)
    state = retargeting.anchor(pose_sample(pin.SE3.Identity()), robot.home)

    target = retargeting.retarget(
        pose_sample(pin.SE3.Identity(), opening=0.5, valid=False), state
    )

    assert not target.is_asked.any()
    assert np.isnan(target.q).all()


def test_a_q_des_that_ran_far_ahead_is_pulled_back_toward_the_command():
    robot = load_robot("piper")
    near, far = robot.home + 0.2, robot.home + 0.4
    retargeting = make(robot)
    arm = robot.limbs["arm"]

    nothing = retargeting.make_target()
    held_near = retargeting.solve(nothing, near, robot.home).q_des
    held_far = retargeting.solve(nothing, far, robot.home).q_des

    np.testing.assert_array_equal(arm.take(held_near), arm.take(near))
    np.testing.assert_allclose(arm.take(held_far), arm.home + 0.3)


# Gripper


@pytest.mark.parametrize(
    ("opening", "share"),
    [(0.0, 0.0), (1.0, 1.0), (0.25, 0.25), (-3.0, 0.0), (7.0, 1.0)],
)
@pytest.mark.parametrize("name", ["piper", "papras_7dof_2arm", "open_manipulator_x"])
def test_opening_maps_closed_to_open_and_is_clipped(name, opening, share):
    robot = load_robot(name)
    retargeting = make(robot, limb_map=every_limb(robot))

    found = follow(retargeting, pose_sample(opening=opening), robot.home)

    for limb in robot.limbs.values():
        q = found.q_des[robot.joint_names.index(limb.gripper.joint)]
        closed, opened = limb.gripper.closed, limb.gripper.open
        assert q == pytest.approx(closed + share * (opened - closed), abs=1e-15)


@pytest.mark.parametrize("opening", [None, math.nan, math.inf])
def test_gripper_without_an_opening_holds(opening):
    robot = load_robot("piper")
    q_prev = robot.home.copy()
    q_prev[robot.joint_names.index("joint7")] = 0.011

    found = follow(make(robot), pose_sample(opening=opening), q_prev)

    assert np.array_equal(found.q_des, q_prev)


# Absolute


def test_absolute_poses_are_taken_as_they_are_and_errors_are_told():
    robot = load_robot("piper")
    leader = LeaderInfo(limbs=("hand",), is_absolute=True)
    retargeting, arm = make(robot, leader, scale=3.0), robot.limbs["arm"]
    T = arm.fk(arm.home + 0.02)
    far = pin.SE3(T.rotation, T.translation + np.array([5.0, 0, 0]))

    near_found, far_found = (
        follow(retargeting, pose_sample(pose), robot.home) for pose in (T, far)
    )

    assert retargeting.pairing.rules == {"absolute"}
    assert "ignored" in retargeting.describe()
    assert near_found.is_converged
    assert_same_pose(arm.fk(arm.take(near_found.q_des)), T, 3e-6)
    assert not far_found.is_converged
    assert far_found.err_pos[0] > 4.0


def test_start_of_an_absolute_leader_is_found_from_afar():
    robot = load_robot("piper")
    leader = LeaderInfo(limbs=("hand",), is_absolute=True)
    retargeting, arm = make(robot, leader), robot.limbs["arm"]
    T = arm.fk(np.array([0.8, 1.6, -1.5, 0.9, -0.6, -1.0]))

    q = retargeting.solve_start(pose_sample(T, opening=0.5), robot.home)

    assert_same_pose(arm.fk(arm.take(q)), T, 3e-6)
    assert q[robot.joint_names.index("joint7")] == pytest.approx(0.0175)


def test_relative_leader_starts_where_the_robot_is():
    robot = load_robot("piper")

    q = make(robot).solve_start(pose_sample(pin.SE3.Identity()), robot.home)

    assert np.array_equal(q, robot.home)
