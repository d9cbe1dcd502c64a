"""Arms with cameras and boards, simulated apart from what is tested.

Links are pinocchio's by the URDF, pictures OpenCV's ``projectPoints``; the estimators
have a projection of their own.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
import pinocchio as pin

from paprle.robot import RobotModel
from paprle_lab.calibration.lens import BoardView, Lens, make_offsets, make_spread
from paprle_lab.calibration.spread import choose_spread, describe_view

ROOT = Path(__file__).resolve().parents[3]
SIZE = 640, 480
PLAY = np.deg2rad(0.1)  # chosen: of a harmonic drive, from end to end


class Truth(NamedTuple):
    """A rig as it is in fact."""

    mounting: str
    lens: Lens
    T_mount_cam: pin.SE3
    T_mount_board: pin.SE3


def make_lens(rng):
    focal = rng.uniform(450.0, 900.0)
    return Lens(
        (focal, focal * rng.uniform(0.995, 1.005)),
        (319.5 + rng.uniform(-15, 15), 239.5 + rng.uniform(-15, 15)),
        np.array(
            [
                rng.uniform(-0.25, 0.1),
                rng.uniform(-0.05, 0.1),
                *rng.uniform(-1e-3, 1e-3, 2),
                0.0,
            ]
        ),
    )


def make_board(columns=7, rows=5, square=0.03):
    """Return the inner corners of a chessboard, shape (n, 3), [m]."""
    x, y = np.meshgrid(np.arange(1, columns), np.arange(1, rows))
    return square * np.column_stack([x.ravel(), y.ravel(), 0.0 * x.ravel()])


class SimulatedRig:
    """One limb; its joints are off by their play, its corners by noise."""

    def __init__(self, follower, mounting, seed, play=PLAY, noise=0.2, lens=None):
        self.rng = np.random.default_rng(seed)
        robot = RobotModel.from_yaml(ROOT / f"configs/follower/{follower}.yaml")
        self.limb = next(iter(robot.limbs.values()))
        self.play, self.noise = play, noise
        self.p_board = make_board()
        self.q_0 = self._choose_posture()
        T_base_eef = self.limb.fk(self.q_0)
        rng = self.rng
        middle = pin.SE3(np.eye(3), self.p_board.mean(axis=0))
        facing = pin.exp3(rng.uniform(-0.4, 0.4, 3))
        lens = make_lens(rng) if lens is None else lens
        distance = lens.focal[0] / 700.0 * rng.uniform(0.4, 0.7)
        T_cam_board = pin.SE3(facing, np.array([0.0, 0.0, distance])) * middle.inverse()
        held = pin.SE3(pin.SE3.Random().rotation, rng.uniform(-0.08, 0.08, 3))
        held.rotation = pin.exp3(rng.uniform(-3.0, 3.0, 3))
        if mounting == "hand":
            X, Z = held, T_base_eef * held * T_cam_board
        else:
            X, Z = T_base_eef * held * T_cam_board.inverse(), held
        self.truth = Truth(mounting, lens, X, Z)

    def _choose_posture(self):
        limb = self.limb
        span = np.minimum(limb.q_max, 2.5) - np.maximum(limb.q_min, -2.5)
        middle = 0.5 * (np.minimum(limb.q_max, 2.5) + np.maximum(limb.q_min, -2.5))
        return middle + self.rng.uniform(-0.15, 0.15, len(middle)) * span

    def place_board(self, T_base_eef):
        """Return T_cam_board."""
        truth = self.truth
        T = T_base_eef if truth.mounting == "wall" else T_base_eef.inverse()
        return truth.T_mount_cam.inverse() * T * truth.T_mount_board

    def see(self, T_base_eef):
        """Return which corners are in a picture, and where; None if it is no view."""
        T_cam_board = self.place_board(T_base_eef)
        p_cam = self.p_board @ T_cam_board.rotation.T + T_cam_board.translation
        facing = T_cam_board.rotation[:, 2] @ T_cam_board.translation
        if p_cam[:, 2].min() < 0.15 or facing < 0.6 * np.linalg.norm(p_cam[0]):
            return None
        # beyond it the polynomial of a distortion folds back into the picture
        is_near = np.hypot(p_cam[:, 0], p_cam[:, 1]) < 0.8 * p_cam[:, 2]
        lens = self.truth.lens
        pixels, _ = cv2.projectPoints(
            self.p_board,
            pin.log3(T_cam_board.rotation),
            T_cam_board.translation,
            lens.K,
            lens.distortion,
        )
        pixels = pixels.reshape(-1, 2)
        is_in = is_near & ((pixels > 5.0) & (pixels < np.array(SIZE) - 5.0)).all(axis=1)
        return (is_in, pixels[is_in]) if is_in.sum() >= 12 else None

    def make_view(self, q):
        """Return a view as a session knows it: from measured joints; None if unseen."""
        off = self.rng.uniform(-0.5, 0.5, len(q)) * self.play
        seen = self.see(self.limb.fk(q + off))
        if seen is None:
            return None
        is_in, pixels = seen
        pixels = pixels + self.rng.normal(0.0, self.noise, pixels.shape)
        J = self.limb.jacobian(q)
        sides = self.rng.choice([-1.0, 1.0], len(q))
        errors = make_spread(J), make_offsets(J, sides)
        return BoardView(self.p_board[is_in], pixels, self.limb.fk(q), *errors)

    def list_postures(self, n=300, spread=0.7):
        """Return postures around the first one from which the board is seen."""
        found = []
        for _ in range(40_000):
            q = self.q_0 + self.rng.uniform(-spread, spread, len(self.q_0))
            q = np.clip(q, self.limb.q_min, self.limb.q_max)
            if self.see(self.limb.fk(q)) is not None:
                found.append(q)
            if len(found) == n:
                break
        return found

    def take_views(self, n=20):
        """Return views that differ as much as those of the verb."""
        postures = self.list_postures()
        p_middle, K = self.p_board.mean(axis=0), self.truth.lens.K
        numbers = [
            describe_view(self.place_board(self.limb.fk(q)), p_middle, K, SIZE[0])
            for q in postures
        ]
        views = [self.make_view(postures[k]) for k in choose_spread(numbers, n)]
        return [view for view in views if view is not None]


def measure_error(T_found, T_true):
    """Return how far a pose is off, [mm] and [deg]."""
    turn = np.linalg.norm(pin.log3(T_true.rotation.T @ T_found.rotation))
    away = np.linalg.norm(T_found.translation - T_true.translation)
    return 1e3 * away, np.rad2deg(turn)
