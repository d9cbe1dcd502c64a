"""Boards in pictures that OpenCV draws, seen from known places."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from paprle.contracts.errors import ConfigError
from paprle_lab.calibration.board import (
    Board,
    BoardFinder,
    FoundBoard,
    average_boards,
)
from paprle_lab.calibration.first_guess import place_board
from paprle_lab.calibration.lens import BoardView, Lens

BOARDS = {
    "charuco": Board(),
    "apriltag": Board(
        kind="apriltag",
        columns=4,
        rows=3,
        square=0.05,
        marker=0.04,
        family="apriltag_36h11",
    ),
}
LENS = Lens((700.0, 700.0), (319.5, 239.5))


def draw(board, turn, shift):
    """Return a picture of the printed board at a pose before the camera."""
    picture = board.draw()
    height, width = picture.shape
    R, _ = cv2.Rodrigues(np.array(turn))
    margin = board.square
    scale = 4000.0  # dots a metre
    to_board = np.array([[1 / scale, 0, -margin], [0, 1 / scale, -margin], [0, 0, 1.0]])
    H = LENS.K @ np.column_stack([R[:, 0], R[:, 1], shift]) @ to_board
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    seen = cv2.perspectiveTransform(corners[None], H)[0]
    M = cv2.getPerspectiveTransform(corners, seen)
    return cv2.warpPerspective(
        picture, M, (640, 480), flags=cv2.INTER_AREA, borderValue=128
    )


@pytest.mark.parametrize("kind", BOARDS)
@pytest.mark.parametrize(
    "turn", [(0.3, 0.15, -1.0), (0.3, -0.2, 0.4), (-0.4, 0.3, 2.0)]
)
def test_a_drawn_board_is_found_where_it_is(kind, turn):
    board = BOARDS[kind]
    R, _ = cv2.Rodrigues(np.array(turn))
    middle = R @ [
        0.5 * board.columns * board.square,
        0.5 * board.rows * board.square,
        0,
    ]
    shift = np.array([0.0, 0.0, 0.45]) - middle

    found = BoardFinder(board).find(draw(board, turn, shift))

    T = place_board(BoardView(found.p_board, found.pixels, None), LENS)
    assert np.linalg.norm(T.translation - shift) < 2.5e-3
    assert np.allclose(T.rotation, R, atol=0.02)


@pytest.mark.parametrize("kind", BOARDS)
def test_a_mirrored_picture_has_no_board(kind):
    board = BOARDS[kind]
    picture = draw(board, (0.1, 0.1, 0.0), np.array([-0.1, -0.07, 0.45]))

    assert BoardFinder(board).find(np.ascontiguousarray(picture[:, ::-1])) is None


def test_an_empty_picture_has_no_board():
    assert BoardFinder(Board()).find(np.full((480, 640), 90, np.uint8)) is None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"square": 30.0, "marker": 22.0}, "sizes are in metres"),
        ({"marker": 0.04}, "expected 0 < marker < square"),
        ({"columns": 1}, "expected 2 … 30 columns and rows"),
        ({"columns": 20, "rows": 20}, "at most 50 markers of aruco_4x4_50, got 200"),
        ({"family": "qr"}, "expected a family of aruco_4x4_50"),
    ],
)
def test_an_invalid_board_is_refused(words, told):
    with pytest.raises(ConfigError, match=told):
        Board(**words)


def make_found(n, shift=0.0, first=0):
    corners = np.arange(first, first + n, dtype=float)
    p_board = np.column_stack([0.03 * corners, 0.0 * corners, 0.0 * corners])
    return FoundBoard(p_board, np.column_stack([corners + shift, corners]))


def test_corners_are_averaged_where_all_images_with_a_board_show_them():
    found = [make_found(10, 0.3), None, make_found(10, -0.1, first=1)]

    mean = average_boards(found)

    np.testing.assert_allclose(mean.p_board, make_found(9, first=1).p_board)
    np.testing.assert_allclose(mean.pixels, make_found(9, 0.1, first=1).pixels)


@pytest.mark.parametrize(
    "found", [[None, None], [make_found(10), make_found(10, first=3)]]
)
def test_images_without_eight_common_corners_have_no_board(found):
    assert average_boards(found) is None
