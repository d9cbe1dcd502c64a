"""Pinhole camera and views of a board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.contracts.types import Vec

N_LENS = 8
"""Estimated numbers of a lens: fx, fy, cx, cy, k1, k2, p1, p2."""


@dataclass(frozen=True)
class Lens:
    """Intrinsics of a camera.

    Attributes:
        focal: fx, fy, [px].
        centre: cx, cy, [px]; pixel centres are whole numbers.
        distortion: k1, k2, p1, p2, k3 as in OpenCV and ROS's ``plumb_bob``.
    """

    focal: tuple[float, float]
    centre: tuple[float, float]
    distortion: Vec = field(default_factory=lambda: np.zeros(5))

    @property
    def K(self) -> Vec:
        """Pinhole matrix, shape (3, 3), [px]."""
        K = np.diag([*self.focal, 1.0])
        K[:2, 2] = self.centre
        return K

    def to_vector(self) -> Vec:
        """Return estimated numbers, shape (8,)."""
        return np.array([*self.focal, *self.centre, *self.distortion[:4]])

    def with_vector(self, x: Vec) -> Lens:
        """Return a lens of estimated numbers, shape (8,)."""
        fx, fy, cx, cy = x[:4].tolist()
        distortion = np.array([*x[4:N_LENS], self.distortion[4]])
        return Lens((fx, fy), (cx, cy), distortion)

    def project(self, p_cam: Vec) -> Vec:
        """Return the pixels (n, 2) of points (n, 3), [m].

        References:
            OpenCV, "Camera Calibration and 3D Reconstruction".
        """
        x, y = p_cam[:, 0] / p_cam[:, 2], p_cam[:, 1] / p_cam[:, 2]
        k1, k2, p1, p2, k3 = self.distortion
        r2 = x * x + y * y
        radial = 1.0 + r2 * (k1 + r2 * (k2 + r2 * k3))
        u = x * radial + 2.0 * p1 * x * y + p2 * (r2 + 2.0 * x * x)
        v = y * radial + p1 * (r2 + 2.0 * y * y) + 2.0 * p2 * x * y
        return np.column_stack(
            [self.focal[0] * u + self.centre[0], self.focal[1] * v + self.centre[1]]
        )


_PLAY = np.deg2rad(0.05)  # chosen: standard deviation of a joint with 0.1° of play
_BENT = 2e-4, np.deg2rad(0.02)  # [m], [rad] chosen: links bend, and a URDF is rounded

USUAL_SPREAD = np.diag(np.repeat([1e-3, np.deg2rad(0.1)], 3) ** 2)
"""Of an arm whose joints are not known: 1 mm and 0.1°."""
NO_OFFSETS = np.zeros((6, 0))
"""Of such an arm."""


def make_spread(J_eef: Vec) -> Vec:
    """Return the covariance (6, 6) of a hand with joint play.

    ``J_eef``: Jacobian in the eef's axes, linear first, shape (6, n).
    """
    floor = np.repeat(_BENT, 3)
    spread: Vec = _PLAY**2 * J_eef @ J_eef.T + np.diag(floor**2)
    return spread


def make_offsets(J_eef: Vec, sides: Vec) -> Vec:
    """Return motions of the hand by the joints' errors in all views, shape (6, 2 n).

    Columns are a standard deviation each: of a constant error, as where gravity takes
    up the play, then of one that changes its sign with the side of approach.

    Args:
        J_eef: Jacobian in the eef's axes, linear first, shape (6, n).
        sides: Signs of each joint's last motion, shape (n,); 0 if unknown.
    """
    offsets: Vec = _PLAY * np.hstack([J_eef, J_eef * sides])
    return offsets


class BoardView(NamedTuple):
    """A board's corners in a picture, and the robot's posture.

    Attributes:
        p_board: Shape (n, 3), [m]; z points away from a viewer.
        pixels: Shape (n, 2), [px].
        T_base_eef: Measured pose of the limb with camera or board.
        spread: Covariance of the true pose in the eef's axes, linear first, shape
            (6, 6), [m] and [rad].
        offsets: Motions of the eef by errors that all views share, one standard
            deviation a column, shape (6, k).
    """

    p_board: Vec
    pixels: Vec
    T_base_eef: pin.SE3
    spread: Vec = USUAL_SPREAD
    offsets: Vec = NO_OFFSETS


class Corners(NamedTuple):
    """Stacked corners of all views.

    Attributes:
        p_board: Shape (m, 3), [m].
        pixels: Shape (m, 2), [px].
        view: Number of the view, shape (m,).
    """

    p_board: Vec
    pixels: Vec
    view: npt.NDArray[np.int64]


def stack_corners(views: Sequence[BoardView]) -> Corners:
    """Return the stacked corners of all views."""
    counts = [len(view.pixels) for view in views]
    return Corners(
        np.vstack([view.p_board for view in views]),
        np.vstack([view.pixels for view in views]),
        np.repeat(np.arange(len(views)), counts),
    )
