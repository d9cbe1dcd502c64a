"""Calibrations of arms whose joints have 0.1° of backlash, on their real ways."""

from __future__ import annotations

import numpy as np
import pytest
from backlash_arm import BacklashArm, Drive
from calibration_rigs import measure_error
from cells import spread
from touching_arm import P_EEF_TOOL, TouchingArm

from paprle.contracts.errors import ConfigError
from paprle_lab.calibration.touches import find_base_by_camera, find_tool

pytestmark = pytest.mark.long

FOLLOWERS = ["piper", "ur5e", "xarm7"]
PLACE, TURN = 2.0, 0.2
"""[mm], [deg]"""


def check(found, true):
    place, turn = measure_error(found, true)
    assert place <= PLACE
    assert turn <= TURN


def test_an_output_stays_until_its_motor_has_crossed_the_play():
    arm = BacklashArm("ur5e", np.random.default_rng(0), is_heavy=False, play=0.02)
    q_0 = arm.limb.home
    lags = []
    for step in (0.1, 0.095, 0.085, 0.07, 0.075):
        arm.drive(q_0 + step)
        lags.append(arm.q_motor - arm.q_out)

    expected = np.array([0.01, 0.005, -0.005, -0.01, -0.005])
    np.testing.assert_allclose(lags, expected[:, None] + np.zeros(6), atol=1e-12)


def test_gravity_holds_an_output_at_its_side_whichever_way_it_came():
    arm = BacklashArm("ur5e", np.random.default_rng(0), play=0.02)
    lags = []
    for step in (0.1, -0.1):
        arm.drive(arm.limb.home + step)
        lags.append(arm.q_motor - arm.q_out)

    shoulder = -0.01 * np.sign(arm.find_pull(arm.q_motor)[1])
    assert [lag[1] for lag in lags] == pytest.approx([shoulder, shoulder])
    assert [lag[0] for lag in lags] == pytest.approx([0.01, -0.01]), "it stands upright"


@pytest.mark.parametrize("is_heavy", spread([True, False], True))
@pytest.mark.parametrize("mounting", spread(["wall", "hand"], "hand"))
@pytest.mark.parametrize("follower", spread(FOLLOWERS, "piper"))
@pytest.mark.parametrize("seed", spread([1, 4, 6], 6))
def test_unknown_camera_is_found_on_ways_with_backlash(
    follower, mounting, seed, is_heavy
):
    drive = Drive(follower, mounting, seed, is_heavy=is_heavy)

    result = drive.calibrate()

    check(result.T_mount_cam, drive.truth.T_mount_cam)


@pytest.mark.parametrize("mounting", ["wall", "hand"])
@pytest.mark.parametrize("follower", spread(FOLLOWERS, "piper"))
@pytest.mark.parametrize("seed", spread([2, 4, 6], 6))
def test_camera_of_a_known_lens_is_found_on_ways_with_backlash(
    follower, mounting, seed
):
    drive = Drive(follower, mounting, seed)

    result = drive.calibrate(drive.truth.lens)

    check(result.T_mount_cam, drive.truth.T_mount_cam)


def test_views_have_the_side_from_which_each_joint_came():
    drive = Drive("piper", "hand", 6, is_heavy=False)
    drive.calibrate(drive.truth.lens)
    constant, sided = np.split(np.array([v.offsets for v in drive.views]), 2, axis=2)

    sides = (constant * sided).sum(axis=1) / (constant**2).sum(axis=1)

    is_taken_up = np.abs(drive.lags) > 0.99 * drive.arm.half
    is_moved = np.abs(sides) > 0.5
    assert is_moved[12:].all(), "each joint has moved after the first small steps"
    checked = is_taken_up & is_moved
    assert checked.mean() > 0.7
    np.testing.assert_allclose(sides[checked], np.sign(drive.lags)[checked], atol=1e-9)


@pytest.mark.nightly
@pytest.mark.parametrize("mounting", ["wall", "hand"])
def test_reported_spread_covers_the_error_of_backlash(mounting):
    ratios = []
    for seed in range(200, 212):
        drive = Drive("piper", mounting, seed)
        result = drive.calibrate(drive.truth.lens)
        place, _ = measure_error(result.T_mount_cam, drive.truth.T_mount_cam)
        ratios.append(place / (1e3 * result.sigma_place))

    assert np.mean(ratios) < 1.2
    assert np.max(ratios) < 3.0


def place_second(follower, seed, *, is_heavy=True, is_known=False):
    """Return the second base in the first by one camera, as found and in truth."""
    first = Drive(follower, "wall", seed, is_heavy=is_heavy)
    lens = first.truth.lens
    second = Drive(follower, "wall", seed + 50, is_heavy=is_heavy, lens=lens)
    of_first = first.calibrate(lens if is_known else None)
    of_second = second.calibrate(of_first.lens)
    cameras = (of_first, of_second), (first.truth, second.truth)
    return [
        find_base_by_camera(one.T_mount_cam, two.T_mount_cam) for one, two in cameras
    ]


@pytest.mark.nightly
@pytest.mark.parametrize("is_heavy", [True, False])
@pytest.mark.parametrize("follower", FOLLOWERS)
@pytest.mark.parametrize("seed", [0, 1, 3])
def test_one_camera_places_the_second_base(follower, seed, is_heavy):
    check(*place_second(follower, seed, is_heavy=is_heavy))


def test_one_camera_of_a_known_lens_places_the_second_base():
    check(*place_second("piper", 1, is_known=True))


def touch_until_accepted(arm, n):
    """Touch again, as the verb asks, while the hand was turned too little."""
    for _ in range(10):
        Ts = arm.touch(n)
        try:
            return find_tool(Ts or [])
        except ConfigError as err:
            refusal = err
    raise refusal


@pytest.mark.parametrize("is_heavy", [True, False])
@pytest.mark.parametrize("follower", FOLLOWERS)
@pytest.mark.parametrize("n", [4, 6])
@pytest.mark.parametrize("seed", spread(range(12), 0))
def test_touches_find_the_tool(follower, n, seed, is_heavy):
    arm = TouchingArm(follower, seed, is_heavy=is_heavy)

    result = touch_until_accepted(arm, n)

    assert 1e3 * np.linalg.norm(result.p_eef_tool - P_EEF_TOOL) <= PLACE
