"""Pictures turned by the head's motion since they were drawn."""

import numpy as np
import pinocchio as pin
import pytest

from paprle.reconstruction.reprojection import (
    compute_reprojection,
    move_pixels,
)

K = np.array([[500.0, 0.0, 319.5], [0.0, 500.0, 239.5], [0.0, 0.0, 1.0]])
TURN = pin.exp3(np.deg2rad([2.0, -5.0, 1.0]))


def project(R_world_eye, points):
    rays = points @ R_world_eye @ K.T
    return rays[:, :2] / rays[:, 2:]


@pytest.mark.parametrize("distance", [0.3, 3.0, 300.0])
def test_what_is_shown_is_where_the_turned_eye_sees_it(distance):
    corners = np.array([[0, 0], [639, 0], [639, 479], [0, 479.0]])
    rays = np.column_stack([corners, np.ones(4)]) @ np.linalg.inv(K).T
    points = distance * rays  # drawn by an eye that looks along the world's z

    shown = move_pixels(compute_reprojection(K, np.eye(3), TURN), corners)

    assert np.abs(shown - project(TURN, points)).max() < 1e-6


def test_a_turn_to_the_right_moves_the_picture_to_the_left_by_its_tangent():
    right = pin.exp3(np.array([0.0, 0.1, 0.0]))  # about y, which points down

    (centre,) = move_pixels(
        compute_reprojection(K, np.eye(3), right), np.array([[319.5, 239.5]])
    )

    assert centre == pytest.approx([319.5 - 500.0 * np.tan(0.1), 239.5])


def test_a_picture_of_one_instant_stays():
    assert np.abs(compute_reprojection(K, TURN, TURN) - np.eye(3)).max() < 1e-9


def test_pixels_behind_the_eye_are_not_shown():
    back = pin.exp3(np.array([0.0, np.pi, 0.0]))

    shown = move_pixels(
        compute_reprojection(K, np.eye(3), back), np.array([[319.5, 239.5]])
    )

    assert np.isnan(shown).all()
