"""First guesses of lens, board poses and mounting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import cv2
import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.contracts.errors import ConfigError
from paprle.contracts.types import Vec
from paprle_lab.calibration.lens import BoardView, Lens

Mounting = Literal["wall", "hand"]
"""The camera stands beside the robot, which carries the board; or the other way."""

LEAST_VIEWS = 10
"""Fewest views of a calibration."""

_LEAST_TURN = np.deg2rad(4.0)  # chosen: forty times the play; the spread says more
_LEAST_TILT = np.deg2rad(10.0)  # chosen: a flatter set leaves the focal length open
_POOR = 3.0  # [px] chosen: far beyond a lens's fit, far below a wrong corner's error
_FEW_POOR, _MOST_POOR = 0.1, 0.5  # chosen: of all views; beyond the latter none is sure
_DRAWS, _DRAWN = 24, 6  # chosen: with a fifth of bad views, one draw in four is good


class Guess(NamedTuple):
    """Initial poses.

    Attributes:
        T_mount_cam: In the base (wall) or the eef (hand).
        T_mount_board: In the eef (wall) or the base (hand).
    """

    T_mount_cam: pin.SE3
    T_mount_board: pin.SE3


def find_lens(views: Sequence[BoardView], width: int, height: int) -> Lens:
    """Return a lens by OpenCV's ``calibrateCamera``, k3 = 0.

    Raises:
        ConfigError: If the views do not determine it.
    """
    check_number(views)
    lens = _fit_lens(views, width, height)
    if lens is None or _is_poor(views, lens).mean() > _FEW_POOR:
        lens = _draw_lens(views, width, height)
    if lens is None:
        raise ConfigError(
            "calibrate camera: expected views of a flat board, got corners that no "
            "lens explains; are columns, rows and sizes those of the printed board?"
        )
    sound = [v for v, bad in zip(views, _is_poor(views, lens), strict=True) if not bad]
    lens = _fit_lens(sound, width, height) or lens
    _check_tilts([place_board(view, lens) for view in sound])
    return lens


def _draw_lens(views: Sequence[BoardView], width: int, height: int) -> Lens | None:
    rng = np.random.default_rng(0)
    best, least = None, _MOST_POOR
    for _ in range(_DRAWS):
        drawn = [views[k] for k in rng.permutation(len(views))[:_DRAWN]]
        lens = _fit_lens(drawn, width, height)
        share = 1.0 if lens is None else float(_is_poor(views, lens).mean())
        if share < least:
            best, least = lens, share
    return best


def _fit_lens(views: Sequence[BoardView], width: int, height: int) -> Lens | None:
    try:
        _, K, distortion, _, _ = cv2.calibrateCamera(
            [view.p_board.astype(np.float32) for view in views],
            [view.pixels.astype(np.float32) for view in views],
            (width, height),
            None,
            None,
            flags=cv2.CALIB_FIX_K3,
        )
    except cv2.error:
        return None
    if not (np.isfinite(K).all() and np.isfinite(distortion).all()):
        return None
    focal, centre = (float(K[0, 0]), float(K[1, 1])), (float(K[0, 2]), float(K[1, 2]))
    return Lens(focal, centre, np.array(distortion).ravel()[:5])


def _is_poor(views: Sequence[BoardView], lens: Lens) -> npt.NDArray[np.bool_]:
    is_poor = np.ones(len(views), dtype=bool)
    for k, view in enumerate(views):
        T_cam_board = place_board(view, lens)
        if T_cam_board is not None:
            p_cam = view.p_board @ T_cam_board.rotation.T + T_cam_board.translation
            off = np.linalg.norm(lens.project(p_cam) - view.pixels, axis=1)
            is_poor[k] = not np.sqrt(np.mean(off**2)) < _POOR
    return is_poor


def _check_tilts(Ts_cam_board: Sequence[pin.SE3 | None]) -> None:
    normals = np.array([T.rotation[:, 2] for T in Ts_cam_board if T is not None])
    middle = normals.mean(axis=0) / np.linalg.norm(normals.mean(axis=0))
    tilts = np.arccos(np.clip(normals @ middle, -1.0, 1.0))
    if np.sort(tilts)[-3] < _LEAST_TILT:
        raise ConfigError(
            "calibrate camera: expected three views or more tilted by "
            f"{np.rad2deg(_LEAST_TILT):.0f}° to the others, got "
            f"{np.rad2deg(tilts.max()):.1f}° at most: the focal length stays open; "
            "tilt the board, or give focal and centre"
        )


def place_board(view: BoardView, lens: Lens) -> pin.SE3 | None:
    """Return T_cam_board of a view; None if no pose before the camera fits.

    A board seen from behind is rejected.
    """
    try:
        _, turns, shifts, errors = cv2.solvePnPGeneric(
            view.p_board,
            view.pixels,
            lens.K,
            lens.distortion,
            flags=cv2.SOLVEPNP_IPPE,
        )
    except cv2.error:
        return None
    best, least = None, np.inf
    for turn, shift, error in zip(turns, shifts, np.ravel(errors), strict=True):
        T = pin.SE3(pin.exp3(turn.ravel()), shift.ravel())
        # z of OpenCV's boards points away from the viewer
        is_front = T.translation[2] > 0.0 and T.rotation[:, 2] @ T.translation > 0.0
        if is_front and error < least:
            best, least = T, float(error)
    return best


def guess_lens(width: int, height: int) -> Lens:
    """Return a usual lens of 53°."""
    return Lens((float(width), float(width)), ((width - 1) / 2.0, (height - 1) / 2.0))


def check_fronts(Ts_cam_board: Sequence[pin.SE3 | None]) -> None:
    """Check that most boards are seen from their front.

    Raises:
        ConfigError: If mirrored.
    """
    n_seen = sum(T is not None for T in Ts_cam_board)
    if 2 * n_seen <= len(Ts_cam_board):
        raise ConfigError(
            "calibrate camera: expected a board seen from its front, got corners that "
            f"are mirrored, or on a line, in {len(Ts_cam_board) - n_seen} of "
            f"{len(Ts_cam_board)} views; switch off the camera's mirror, and print the "
            "board unmirrored"
        )


def find_mounting(
    Ts_cam_board: Sequence[pin.SE3], Ts_base_eef: Sequence[pin.SE3], mounting: Mounting
) -> Guess:
    """Return the best poses of OpenCV's hand-eye methods.

    Raises:
        ConfigError: If none explains the views.
    """
    check_number(Ts_cam_board)
    Ts = [T if mounting == "wall" else T.inverse() for T in Ts_base_eef]
    rng = np.random.default_rng(0)
    everything = np.arange(len(Ts))
    draws = [everything]
    draws += [rng.permutation(len(Ts))[:_DRAWN] for _ in range(_DRAWS)]
    best, least = None, np.inf
    for draw in draws:
        for method in (cv2.CALIB_HAND_EYE_PARK, cv2.CALIB_HAND_EYE_DANIILIDIS):
            guess = _solve(draw, Ts_cam_board, Ts, method)
            if guess is None:
                continue
            score = float(np.median(measure_misfits(guess, Ts_cam_board, Ts)))
            if score < least:
                best, least = guess, score
    if best is None:
        raise ConfigError(
            "calibrate camera: expected a mounting that explains the views, got none; "
            "does the board or the camera move on its mounting?"
        )
    return best


def measure_misfits(
    guess: Guess, Ts_cam_board: Sequence[pin.SE3], Ts: Sequence[pin.SE3]
) -> Vec:
    """Return the board's distance from its predicted place, [m]."""
    T_cam_mount = guess.T_mount_cam.inverse()
    return np.array(
        [
            np.linalg.norm(
                (T_cam_mount * T * guess.T_mount_board).translation - seen.translation
            )
            for seen, T in zip(Ts_cam_board, Ts, strict=True)
        ]
    )


def _solve(
    draw: npt.NDArray[np.int64],
    Ts_cam_board: Sequence[pin.SE3],
    Ts: Sequence[pin.SE3],
    method: int,
) -> Guess | None:
    """Return X, Z of T_cam_board = X⁻¹ T Z; None if OpenCV fails."""
    seen = [Ts_cam_board[k] for k in draw]
    moved = [
        Ts[k].inverse() for k in draw
    ]  # OpenCV: gripper in base, with ours as base
    try:
        R, p = cv2.calibrateHandEye(
            [T.rotation for T in moved],
            [T.translation for T in moved],
            [T.rotation for T in seen],
            [T.translation for T in seen],
            method=method,
        )
    except cv2.error:
        return None
    if not (np.isfinite(R).all() and np.isfinite(p).all()):
        return None
    T_mount_cam = pin.SE3(R, p.ravel())
    boards = [
        T.inverse() * T_mount_cam * T_seen
        for T, T_seen in zip((Ts[k] for k in draw), seen, strict=True)
    ]
    middle = len(boards) // 2
    steps = np.array([pin.log6(boards[middle].inverse() * T).vector for T in boards])
    return Guess(T_mount_cam, boards[middle] * pin.exp6(np.median(steps, axis=0)))


def check_number(views: Sequence[object]) -> None:
    """Check for ten views.

    Raises:
        ConfigError: If there are fewer.
    """
    if len(views) < LEAST_VIEWS:
        raise ConfigError(
            f"calibrate camera: expected {LEAST_VIEWS} views of the board or more, got "
            f"{len(views)}; begin where the whole board is seen, with room around the "
            "arm"
        )


def check_turns(Ts: Sequence[pin.SE3]) -> None:
    """Check that postures turn about several axes.

    Raises:
        ConfigError: If they do not.
    """
    turns = np.array([pin.log3(Ts[0].rotation.T @ T.rotation) for T in Ts])
    turns -= turns.mean(axis=0)
    spreads = np.linalg.svd(turns, compute_uv=False) / np.sqrt(len(Ts))
    if spreads[1] < _LEAST_TURN:
        raise ConfigError(
            "calibrate camera: expected postures that turn about two axes, by "
            f"{np.rad2deg(_LEAST_TURN):.0f}° on average about each, got "
            f"{np.rad2deg(spreads[0]):.1f}° and {np.rad2deg(spreads[1]):.1f}°: along "
            "the axis of the turns the camera's place stays open; tilt the hand about "
            "another axis, too"
        )
