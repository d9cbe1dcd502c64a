"""What the suggestions are, and how much they differ: X4 to X12 of the requirements."""

import numpy as np
import pinocchio as pin
import pytest

from paprle.advisors.admc.suggestions import (
    NAMES,
    Goal,
    HandAbilities,
    find_turn,
    normalise,
    suggest,
    to_eef,
    turn_about_y,
)
from paprle.advisors.admc.watches import Crossing, Hold, Hover
from paprle.contracts.axes import AxisSpeeds, compute_difference

HAND = HandAbilities(AxisSpeeds(0.1, 0.5, 1.0), 0.01, 0.015)
RNG = np.random.default_rng(19)
FAR = RNG.uniform(-0.6, 0.6, (200, 3)) + np.sign(RNG.uniform(-1, 1, (200, 1))) * 0.03


def suggest_for(goal, *, via=None, is_held=False):
    via = goal if via is None else via
    return suggest(Goal(np.array(goal), np.array(via), np.array(via), is_held), HAND)


def test_columns_are_bounded_and_ordered_by_how_many_freedoms_they_combine():
    for goal in FAR:
        for held in (False, True):
            D = suggest_for(goal, is_held=held)
            grasp = pin.exp3(goal * 5.0)
            eef = to_eef(D, grasp, np.array([0.0, 0.0, 0.12]), HAND.speeds)
            moved = (np.abs(D) > 1e-12).sum(axis=0)

            assert D.shape == (7, len(NAMES))
            assert np.abs(D).max() <= 1.0 + 1e-12
            assert np.abs(eef).max() <= 1.0 + 1e-12
            assert moved[0] >= moved[1] >= moved[2] >= moved[3] >= moved[4] == 1


def test_the_best_goes_straight_to_its_point_at_full_speed():
    for goal in FAR:
        via = goal + [0.0, 0.0, 0.1]
        d = suggest_for(goal, via=via)[:3, 0]

        np.testing.assert_allclose(d, via / np.linalg.norm(via), atol=1e-12)


def test_a_turn_of_the_best_points_the_fingers_along_the_way_without_a_roll():
    for d in [*FAR, [0, 0, 1.0], [0, 0, -1.0], [-1.0, 0, 0]]:
        turn = find_turn(np.array(d))

        pointed = pin.exp3(turn)[:, 0]
        np.testing.assert_allclose(pointed, normalise(np.array(d)), atol=1e-9)
        assert turn[0] == 0.0, "a roll"


def test_turns_that_are_applied_again_and_again_arrive_without_a_roll():
    R, d = np.eye(3), normalise(np.array([-0.4, 0.5, -0.7]))
    for _ in range(200):
        R = R @ pin.exp3(0.1 * find_turn(R.T @ d))

    np.testing.assert_allclose(R[:, 0], d, atol=1e-6)
    assert np.linalg.norm(find_turn(R.T @ d)) < 1e-6
    step = 0.1 * find_turn(R.T @ d)
    assert abs(step[0]) < 1e-6


def test_make_rot_from_x_and_ours_point_alike():
    for d in map(normalise, FAR):
        yaw, pitch = np.arctan2(d[1], d[0]), np.arctan2(d[2], np.hypot(d[0], d[1]))
        published = pin.rpy.rpyToMatrix(0.0, -pitch, yaw)  # right-handed: up is -pitch

        ours = pin.exp3(find_turn(d))

        np.testing.assert_allclose(ours[:, 0], published[:, 0], atol=1e-9)


def test_the_adjustment_is_orthogonal_and_keeps_the_turn_without_the_gripper():
    for goal in [*FAR, [0.0, 0.3, 0.0]]:
        D = suggest_for(goal)

        assert D[:3, 0] @ D[:3, 1] == pytest.approx(0.0, abs=1e-12)
        assert np.linalg.norm(D[:3, 1]) == pytest.approx(1.0)
        np.testing.assert_array_equal(D[3:6, 0], D[3:6, 1])
        assert D[6, 1] == 0.0
    assert turn_about_y(np.zeros(3)).tolist() == [0, 0, 0]


def test_translation_rotation_and_gripper_move_nothing_else():
    for goal in FAR:
        D = suggest_for(goal, via=goal + [0.0, 0.0, 0.2], is_held=True)

        np.testing.assert_allclose(D[:3, 2], normalise(goal), atol=1e-12)
        np.testing.assert_allclose(D[3:6, 3], normalise(find_turn(goal)), atol=1e-12)
        assert not D[3:, 2].any()
        assert not D[:3, 3].any()
        assert not D[6, :4].any()
        assert D[:, 4].tolist() == [0, 0, 0, 0, 0, 0, 1]


@pytest.mark.parametrize("is_held", [False, True])
@pytest.mark.parametrize(
    ("distance", "moves", "grips"),
    [(0.005, False, True), (0.02, True, True), (0.03, True, False)],
)
def test_the_gripper_moves_where_the_fingers_reach(distance, moves, grips, is_held):
    D = suggest_for([distance, 0.0, 0.0], is_held=is_held)

    assert D[6, 0] == grips * (1.0 if is_held else -1.0)
    assert D[:3, 0].any() == moves
    if moves and grips:  # it arrives while the fingers close
        assert D[0, 0] * 0.1 * 1.0 == pytest.approx(distance)


def test_a_turn_about_the_grasp_does_not_move_it():
    R, point = pin.exp3(np.array([0.3, -0.8, 1.2])), np.array([0.02, 0.0, 0.11])
    D = np.zeros((7, 1))
    D[3:6, 0] = normalise(np.array([0.1, 0.7, -0.2]))

    moved = to_eef(D, R, point, HAND.speeds)[:, 0]

    v, w = 0.1 * moved[:3], 0.5 * moved[3:6]
    np.testing.assert_allclose(v + np.cross(w, point), 0.0, atol=1e-12)
    assert np.linalg.norm(np.cross(normalise(w), R @ D[3:6, 0])) < 1e-12


@pytest.mark.parametrize(
    ("b", "expected"),
    [([1, 0], 0.0), ([2, 0], 0.0), ([0, 1], 0.5), ([-1, 0], 1.0), ([1, 1], None)],
)
def test_the_difference_is_that_of_the_publication(b, expected):
    a, c = np.zeros(7), np.zeros(7)
    a[0], c[:2] = 1.0, b

    got = compute_difference(a, c)

    want = 1.0 - (np.cos(np.pi / 4) + 1.0) / 2.0 if expected is None else expected
    assert got == pytest.approx(want, abs=1e-6)


def test_the_threshold_is_nearly_equal_of_the_engine():
    pairs = RNG.normal(size=(100_000, 2, 7))
    cosine = np.einsum("ij,ij->i", *pairs.swapaxes(0, 1)) / np.prod(
        np.linalg.norm(pairs, axis=2), axis=1
    )
    some = RNG.integers(0, len(pairs), 500)

    for k in some:
        difference = compute_difference(*pairs[k])
        assert (difference > 0.2) == (abs(cosine[k] - 1.0) > 0.4)
    angle = np.arccos(0.6)
    b = np.array([np.cos(angle), np.sin(angle), 0, 0, 0, 0, 0])
    assert compute_difference(np.eye(7)[0], b) == pytest.approx(0.2, abs=1e-6)


def test_a_column_that_moves_nothing_is_like_itself_and_unlike_any_other():
    still, moved = np.zeros(7), np.eye(7)[2]

    assert compute_difference(still, still) == 0.0
    assert compute_difference(still, moved) == compute_difference(moved, still) == 1.0


def test_hovering_does_not_flicker_about_its_radius():
    hover, n = Hover(0.03), 0
    for k in range(1000):
        before = hover.is_near
        n += hover.step(0.03 + 0.002 * np.sin(k)) != before

    assert n == 1
    assert not hover.step(0.04)


def test_a_crossing_is_told_once_whatever_noise_there_is():
    crossing = Crossing(0.2, 0.05, 0.1)
    t = np.arange(0.0, 600.0, 0.01)  # ten minutes of an operator who stopped just there
    for now, noise in zip(t, RNG.uniform(-0.04, 0.04, len(t)), strict=True):
        crossing.step(0.2 + noise, now)

    assert crossing.n_times <= 1


def test_each_crossing_is_told_exactly_once_and_glitches_are_not():
    crossing = Crossing(0.2, 0.05, 0.1)
    t = np.arange(0.0, 50.0, 0.01)
    for k, now in enumerate(t):
        glitch = 0.5 * (k % 100 == 7)  # one sample of 10 ms
        swing = 0.2 + 0.15 * np.sin(2 * np.pi * now / 10.0)
        crossing.step(max(swing, glitch), now)

    assert crossing.n_times == 5


def test_an_object_is_held_where_fingers_that_close_are_kept_apart():
    hold = Hold()

    assert not hold.step(0.5, 0.5, 0.01), "it closes freely"
    assert not hold.step(0.1, 0.4, 0.2), "it squeezes something else"
    assert hold.step(0.1, 0.4, 0.01)
    assert hold.step(0.35, 0.4, 0.01), "a hand that trembles"
    assert not hold.step(0.5, 0.41, 0.01), "it was opened"
    assert hold.step(0.1, 0.4, 0.01)
    assert not hold.step(0.1, 0.1, 0.1), "it slipped out"
