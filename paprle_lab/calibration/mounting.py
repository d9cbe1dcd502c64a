"""A camera's mounting by the least error of all corners.

It is estimated with board, errors of joints (constant, by the side of approach) and of
postures (bent links, the rest of the play), and any unknown lens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.errors import ConfigError
from paprle.contracts.types import Vec
from paprle_lab.calibration.first_guess import (
    LEAST_VIEWS,
    Guess,
    Mounting,
    check_fronts,
    check_number,
    check_turns,
    find_lens,
    find_mounting,
    guess_lens,
    measure_misfits,
    place_board,
)
from paprle_lab.calibration.least_squares import Model, find_covariance, minimise
from paprle_lab.calibration.lens import (
    N_LENS,
    BoardView,
    Lens,
    stack_corners,
)

_PIXEL = 0.3  # [px] chosen: a found corner, until its own noise is known
_LEAST_PIXEL, _MOST_PIXEL = 0.05, 1.0  # [px] chosen: noise of usual cameras
_MEDIAN = 1.4826  # spec: median absolute deviation of a normal distribution
_FAR = 5.0  # chosen: sigmas; of 1e6 sound views none is as far, a slipped one is
_FAR_GUESS = 0.05  # [m] chosen: a view that far off the first guess is another board's
_MOST_DROPPED = 1.0 / 3.0  # chosen: if more are bad, nobody knows which
_STEP = 1e-6  # chosen: of numeric slopes, [m], [rad] or of a lens's own scale
_OFFSET_STEP = 1e-3  # chosen: the same of offsets, whose unit is about 1e-3 rad
_TANGENTIAL = 5e-4  # chosen: p1, p2 of a lens that sits straight; they hide a turn
_LENS_SCALE = np.array([100.0, 100.0, 100.0, 100.0, 1.0, 1.0, 0.1, 0.1])
_SURE = 8e-4, np.deg2rad(0.08)  # [m], [rad] chosen: 2.5 sigmas are 2 mm and 0.2°
_WORST = 0.01, np.deg2rad(1.0)  # [m], [rad] chosen: beyond it nothing is determined


class MountingFit(NamedTuple):
    """A point of the search.

    Attributes:
        deviations: True minus measured eef poses beyond the offsets, shape (n, 6).
        offsets: Errors that all views share, in standard deviations, shape (k,).
    """

    T_mount_cam: pin.SE3
    T_mount_board: pin.SE3
    deviations: Vec
    offsets: Vec
    lens: Lens


@dataclass(frozen=True, kw_only=True)
class CameraResult:
    """A calibrated camera.

    Attributes:
        T_mount_cam: In the limb's base (wall) or eef (hand).
        T_mount_board: In the eef (wall) or base (hand).
        sigma_place: Standard deviation of the place, [m].
        sigma_turn: Of the turn, [rad].
        residuals: Corner errors, shape (m,), [px].
        views: Numbers of used views.
        dropped: Reasons by number.
        deviations: True minus measured eef poses of used views, shape (n, 6), [m] and
            [rad].
    """

    mounting: Mounting
    lens: Lens
    is_lens_found: bool
    T_mount_cam: pin.SE3
    T_mount_board: pin.SE3
    sigma_place: float
    sigma_turn: float
    residuals: Vec
    views: tuple[int, ...]
    dropped: dict[int, str]
    deviations: Vec

    @property
    def is_sure(self) -> bool:
        """Whether standard deviations are below 0.8 mm and 0.08°."""
        return self.sigma_place <= _SURE[0] and self.sigma_turn <= _SURE[1]

    @property
    def rms(self) -> float:
        """RMS of the residuals, [px]."""
        return float(np.sqrt(np.mean(self.residuals**2)))


class MountingProblem:
    """Corners of views, compared with a fit."""

    def __init__(
        self,
        views: Sequence[BoardView],
        mounting: Mounting,
        *,
        pixel: float,
        is_lens_free: bool,
    ) -> None:
        self._corners = stack_corners(views)
        self._Ts = [view.T_base_eef for view in views]
        self._is_wall, self._is_lens_free = mounting == "wall", is_lens_free
        self.n, self._pixel = len(views), pixel
        # chol(Σ)⁻¹ δ has unit covariance
        spreads = np.array([view.spread for view in views])
        self._weights = np.linalg.inv(np.linalg.cholesky(spreads))
        self._offsets = np.array([view.offsets for view in views])
        self.n_offsets = self._offsets.shape[2]
        self.model = Model(self.compute_residuals, self._compute_jacobian, self._move)

    def compute_deviations(self, fit: MountingFit) -> Vec:
        """Return true minus measured eef poses, shape (n, 6)."""
        deviations: Vec = fit.deviations + self._offsets @ fit.offsets
        return deviations

    def compute_pixel_errors(self, fit: MountingFit) -> Vec:
        """Return corner errors, shape (m, 2), [px]."""
        T_cam_mount = fit.T_mount_cam.inverse()
        R, p = np.empty((self.n, 3, 3)), np.empty((self.n, 3))
        deviations = self.compute_deviations(fit)
        for k, T in enumerate(self._Ts):
            off = pin.exp6(deviations[k])
            T_moved = T * off if self._is_wall else (T * off).inverse()
            T_cam_board = T_cam_mount * T_moved * fit.T_mount_board
            R[k], p[k] = T_cam_board.rotation, T_cam_board.translation
        c = self._corners
        p_cam = np.einsum("nij,nj->ni", R[c.view], c.p_board) + p[c.view]
        p_cam[:, 2] = np.maximum(p_cam[:, 2], 1e-3)
        return fit.lens.project(p_cam) - c.pixels

    def compute_residuals(self, fit: MountingFit) -> Vec:
        """Return weighted errors, shape (2 m + 6 n + k + 2,).

        In order: corners, deviations, offsets, lens.
        """
        off = np.einsum("nij,nj->ni", self._weights, fit.deviations)
        errors = self.compute_pixel_errors(fit) / self._pixel
        tangential = fit.lens.distortion[2:4] / _TANGENTIAL * self._is_lens_free
        return np.concatenate([errors.ravel(), off.ravel(), fit.offsets, tangential])

    def measure_views(self, fit: MountingFit) -> Vec:
        """Return each view's deviation from expectation, in sigmas."""
        r, m = self.compute_residuals(fit), 2 * len(self._corners.view)
        counts = np.bincount(self._corners.view, minlength=self.n)
        squares = (r[:m].reshape(-1, 2) ** 2).sum(axis=1)
        corners = np.bincount(self._corners.view, squares, self.n) / (2.0 * counts)
        typical = max(float(np.median(corners)), 1.0)
        places = np.abs(r[m : m + 6 * self.n].reshape(self.n, 6)).max(axis=1)
        far: Vec = np.maximum(np.sqrt(corners / typical), places)
        return far

    def _move(self, fit: MountingFit, step: Vec) -> MountingFit:
        n = 12 + 6 * self.n
        lens, end = fit.lens, n + self.n_offsets
        if self._is_lens_free:
            lens = lens.with_vector(lens.to_vector() + _LENS_SCALE * step[end:])
        return MountingFit(
            fit.T_mount_cam * pin.exp6(step[:6]),
            fit.T_mount_board * pin.exp6(step[6:12]),
            fit.deviations + step[12:n].reshape(self.n, 6),
            fit.offsets + step[n:end],
            lens,
        )

    def _compute_jacobian(self, fit: MountingFit) -> Vec:
        n_all = 12 + 6 * self.n
        n_lens = N_LENS if self._is_lens_free else 0
        r = self.compute_residuals(fit)
        J = np.zeros((len(r), n_all + self.n_offsets + n_lens))
        sizes = np.full(J.shape[1], _STEP)
        sizes[n_all : n_all + self.n_offsets] = _OFFSET_STEP
        for column in (*range(12), *range(n_all, J.shape[1])):
            step = np.zeros(J.shape[1])
            step[column] = size = sizes[column]
            J[:, column] = (self.compute_residuals(self._move(fit, step)) - r) / size
        owner = np.concatenate(
            [np.repeat(self._corners.view, 2), np.repeat(np.arange(self.n), 6)]
        )
        for axis in range(6):
            step = np.zeros(J.shape[1])
            step[12 + axis : n_all : 6] = _STEP
            slopes = (self.compute_residuals(self._move(fit, step)) - r) / _STEP
            J[np.arange(len(owner)), 12 + axis + 6 * owner] = slopes[: len(owner)]
        return J


def calibrate_camera(
    views: Sequence[BoardView],
    mounting: Mounting,
    size: tuple[int, int],
    lens: Lens | None = None,
) -> CameraResult:
    """Return a camera's mounting, and its lens unless given.

    Needs ten views or more of one board; ``size``: width and height, [px].

    Raises:
        ConfigError: If the views do not determine it.
    """
    check_number(views)
    check_fronts([place_board(view, lens or guess_lens(*size)) for view in views])
    first = find_lens(views, *size) if lens is None else lens
    guess, used, dropped = _begin(views, mounting, first)
    pixel, is_noise_known = _PIXEL, False
    while True:
        _check_left(len(used), len(views))
        problem = MountingProblem(
            [views[k] for k in used], mounting, pixel=pixel, is_lens_free=lens is None
        )
        none = np.zeros((len(used), 6)), np.zeros(problem.n_offsets)
        start = MountingFit(*guess, *none, first)
        fit = minimise(start, problem.model)
        far = problem.measure_views(fit)
        worst = int(np.argmax(far))
        if far[worst] <= _FAR and not is_noise_known:
            pixel, is_noise_known = _measure_noise(problem, fit), True
        elif far[worst] <= _FAR:
            return _make_result(problem, fit, (mounting, used, dropped), lens is None)
        else:
            dropped[used.pop(worst)] = f"{far[worst]:.0f} sigmas off the others"


def _measure_noise(problem: MountingProblem, fit: MountingFit) -> float:
    """Return the noise of corners, robust against outliers, [px]."""
    errors = np.abs(problem.compute_pixel_errors(fit))
    noise = _MEDIAN * float(np.median(errors))
    return min(max(noise, _LEAST_PIXEL), _MOST_PIXEL)


def _begin(
    views: Sequence[BoardView], mounting: Mounting, lens: Lens
) -> tuple[Guess, list[int], dict[int, str]]:
    seen = {k: place_board(view, lens) for k, view in enumerate(views)}
    boards = {k: T for k, T in seen.items() if T is not None}
    Ts = [views[k].T_base_eef for k in boards]
    check_turns(Ts)
    guess = find_mounting(list(boards.values()), Ts, mounting)
    Ts = [T if mounting == "wall" else T.inverse() for T in Ts]
    misfits = measure_misfits(guess, list(boards.values()), Ts)
    limit = max(_FAR_GUESS, 6.0 * float(np.median(misfits)))
    far = dict(zip(boards, misfits.tolist(), strict=True))
    dropped = {k: "no board of these sizes" for k in seen if k not in far}
    dropped |= {
        k: f"{1e3 * off:.0f} mm from its place" for k, off in far.items() if off > limit
    }
    return guess, [k for k in far if k not in dropped], dropped


def _check_left(n_used: int, n: int) -> None:
    if n_used >= max(LEAST_VIEWS, int(np.ceil((1.0 - _MOST_DROPPED) * n))):
        return
    raise ConfigError(
        f"calibrate camera: expected {LEAST_VIEWS} views or more that agree, and two "
        f"thirds of all, got {n_used} of {n}; does the board or the camera move on its "
        "mounting, and are the board's sizes those that were printed?"
    )


def _make_result(
    problem: MountingProblem,
    fit: MountingFit,
    which: tuple[Mounting, list[int], dict[int, str]],
    is_lens_found: bool,
) -> CameraResult:
    mounting, used, dropped = which
    covariance = find_covariance(fit, problem.model)
    sigma_place = float(np.sqrt(np.trace(covariance[:3, :3])))
    sigma_turn = float(np.sqrt(np.trace(covariance[3:6, 3:6])))
    if sigma_place > _WORST[0] or sigma_turn > _WORST[1]:
        raise ConfigError(
            "calibrate camera: expected views that determine the camera, got a spread "
            f"of {1e3 * sigma_place:.1f} mm and {np.rad2deg(sigma_turn):.2f}°; take "
            "views that are nearer and turned more"
        )
    return CameraResult(
        mounting=mounting,
        lens=fit.lens,
        is_lens_found=is_lens_found,
        T_mount_cam=fit.T_mount_cam,
        T_mount_board=fit.T_mount_board,
        sigma_place=sigma_place,
        sigma_turn=sigma_turn,
        residuals=np.linalg.norm(problem.compute_pixel_errors(fit), axis=1),
        views=tuple(used),
        dropped=dict(sorted(dropped.items())),
        deviations=problem.compute_deviations(fit),
    )
