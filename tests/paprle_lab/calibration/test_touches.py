"""Tool centres and bases by simulated touches."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from calibration_rigs import PLAY, ROOT, measure_error

from paprle.contracts.errors import ConfigError
from paprle.robot import RobotModel
from paprle_lab.calibration.touches import (
    find_base_by_camera,
    find_base_by_points,
    find_tool,
)


def make_touches(rng, n, *, tilt=0.7, noise=3e-4):
    """Return poses of an eef whose tool touches one point, and that tool."""
    p_eef_tool = rng.uniform(-0.2, 0.2, 3)
    p_point = rng.uniform(-0.5, 0.5, 3)
    Ts = []
    for k in range(n):
        angle = 2.0 * np.pi * k / n
        axis = np.array([np.cos(angle), np.sin(angle), rng.uniform(-0.3, 0.3)])
        R = pin.exp3(tilt * axis)
        p = p_point - R @ p_eef_tool + rng.normal(0.0, noise, 3)
        Ts.append(pin.SE3(R, p))
    return Ts, p_eef_tool


@pytest.mark.parametrize("seed", range(30))
def test_four_touches_find_the_tool(seed):
    Ts, p_eef_tool = make_touches(np.random.default_rng(seed), 4)

    result = find_tool(Ts)

    assert np.linalg.norm(result.p_eef_tool - p_eef_tool) <= 2e-3


@pytest.mark.parametrize("follower", ["piper", "ur5e", "xarm7"])
@pytest.mark.parametrize("seed", range(5))
def test_play_of_the_joints_costs_less_than_2_mm(follower, seed):
    rng = np.random.default_rng(seed)
    robot = RobotModel.from_yaml(ROOT / f"configs/follower/{follower}.yaml")
    limb = next(iter(robot.limbs.values()))
    p_eef_tool = np.array([0.02, -0.01, 0.12])
    Ts, p_point = [], None
    while len(Ts) < 6:
        q = np.clip(
            limb.home + rng.uniform(-0.6, 0.6, len(limb.home)), limb.q_min, limb.q_max
        )
        off = rng.uniform(-0.5, 0.5, len(q)) * PLAY
        T_true, T_meas = limb.fk(q + off), limb.fk(q)
        p_point = T_true.act(p_eef_tool) if p_point is None else p_point
        # the arm is carried there: its turn stays, its place is that of the touch
        shift = p_point - T_true.act(p_eef_tool)
        Ts.append(pin.SE3(T_meas.rotation, T_meas.translation + shift))

    result = find_tool(Ts)

    assert np.linalg.norm(result.p_eef_tool - p_eef_tool) <= 2e-3


def test_a_touch_beside_the_point_is_left_out():
    Ts, p_eef_tool = make_touches(np.random.default_rng(1), 8)
    Ts[5] = pin.SE3(Ts[5].rotation, Ts[5].translation + [0.02, 0.0, 0.0])

    result = find_tool(Ts)

    assert result.dropped == (5,)
    assert np.linalg.norm(result.p_eef_tool - p_eef_tool) <= 2e-3


def test_three_touches_are_refused():
    Ts, _ = make_touches(np.random.default_rng(1), 3)

    with pytest.raises(
        ConfigError, match="expected 4 touches .* got 3; touch it again"
    ):
        find_tool(Ts)


def test_touches_turned_about_one_axis_are_refused():
    Ts = [
        pin.SE3(pin.exp3(np.array([0.0, 0.0, a])), np.array([0.3, 0.0, 0.2]))
        for a in (0.0, 0.5, 1.0, 1.5)
    ]

    with pytest.raises(
        ConfigError, match="the tool's length stays open; tilt the hand"
    ):
        find_tool(Ts)


def test_touches_of_several_points_are_refused():
    Ts, _ = make_touches(np.random.default_rng(2), 4, noise=0.02)

    with pytest.raises(ConfigError, match="touches of one point, within 5 mm, got"):
        find_tool(Ts)


@pytest.mark.parametrize("seed", range(30))
def test_five_points_place_a_base(seed):
    rng = np.random.default_rng(seed)
    T = pin.SE3(pin.exp3(rng.uniform(-2, 2, 3)), rng.uniform(-1, 1, 3))
    second = rng.uniform(-0.25, 0.25, (5, 3))
    first = second @ T.rotation.T + T.translation + rng.normal(0.0, 3e-4, (5, 3))

    result = find_base_by_points(first, second)

    away, turn = measure_error(result.T_first_second, T)
    assert away <= 2.0
    assert turn <= 0.2
    assert result.sigma_place < 3e-3


def test_points_on_a_table_are_enough():
    T = pin.SE3(pin.exp3(np.array([0.0, 0.0, 3.0])), np.array([0.6, 0.0, 0.0]))
    second = np.array([[0.2, 0.0, 0.0], [0.3, 0.2, 0.0], [0.4, -0.1, 0.0]])

    result = find_base_by_points(second @ T.rotation.T + T.translation, second)

    assert measure_error(result.T_first_second, T)[0] < 1e-6


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        (np.eye(3)[:2], np.eye(3)[:2], "expected 3 points or more, got 2"),
        (np.eye(3), np.eye(3)[:2], "the same number of points of both arms"),
        (np.outer([0, 1, 2], [0.1, 0, 0]), np.outer([0, 1, 2], [0.1, 0, 0]), "a line"),
        (np.eye(3), np.eye(3)[[1, 0, 2]] * [1, 1, 1.1], "in the same order"),
        (0.3 * np.eye(3), 0.4 * np.eye(3), "got .* mm at point"),
    ],
    ids=["two", "unequal", "line", "order", "scale"],
)
def test_points_that_do_not_place_a_base_are_refused(first, second, told):
    with pytest.raises(ConfigError, match=told):
        find_base_by_points(first, second)


def test_a_camera_that_both_know_places_the_second():
    T_first_cam, T_second_cam = pin.SE3.Random(), pin.SE3.Random()

    T = find_base_by_camera(T_first_cam, T_second_cam)

    assert (T * T_second_cam).isApprox(T_first_cam)
