"""Reachable postures with a view of the board."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from paprle.contracts.types import Vec
from paprle.robot import RobotModel
from paprle.robot.chain import Limb
from paprle_lab.calibration.first_guess import Mounting
from paprle_lab.calibration.lens import Lens
from paprle_lab.calibration.spread import choose_spread, describe_view

_SMALL = 0.12  # [rad] chosen: 7°, after which a board in the middle is still seen
_REACH = 0.7  # [rad] chosen: from where the operator has placed the arm
_MARGIN = 0.03  # [rad] chosen: from the limits of a joint
_EDGE = 8.0  # [px] chosen: the frame round a board that has to be seen
_FACING = 0.6  # chosen: cosine of 53°; flatter boards are not found surely
_NEAREST = 0.12  # [m] chosen: nearer than most lenses focus
_TRIALS, _ENOUGH = 12_000, 100  # chosen: some seconds; enough to choose 20 of
_PATH_STEP = 0.05  # [rad] chosen: between checked postures of a way


@dataclass(frozen=True, kw_only=True)
class BoardScene:
    """A first estimate of camera and board.

    Attributes:
        p_board: Corners, shape (n, 3), [m].
        size: Width and height, [px].
    """

    mounting: Mounting
    lens: Lens
    T_mount_cam: pin.SE3
    T_mount_board: pin.SE3
    p_board: Vec
    size: tuple[int, int]

    def place_board(self, T_base_eef: pin.SE3) -> pin.SE3:
        """Return T_cam_board."""
        T = T_base_eef if self.mounting == "wall" else T_base_eef.inverse()
        return self.T_mount_cam.inverse() * T * self.T_mount_board

    def is_seen(self, T_cam_board: pin.SE3) -> bool:
        """Return whether the whole board is visible."""
        p_cam = self.p_board @ T_cam_board.rotation.T + T_cam_board.translation
        middle = p_cam.mean(axis=0)
        facing = T_cam_board.rotation[:, 2] @ middle / np.linalg.norm(middle)
        if p_cam[:, 2].min() < _NEAREST or facing < _FACING:
            return False
        # undistorted: a lens's polynomial holds within its picture alone
        pixels = Lens(self.lens.focal, self.lens.centre).project(p_cam)
        is_in = (pixels > _EDGE) & (pixels < np.array(self.size) - 1.0 - _EDGE)
        return bool(is_in.all())

    def describe(self, T_cam_board: pin.SE3) -> Vec:
        """Return a view's numbers for ``choose_spread``."""
        middle = self.p_board.mean(axis=0)
        return describe_view(T_cam_board, middle, self.lens.K, self.size[0])


class Planner:
    """Free postures of a limb around the operator's."""

    def __init__(self, robot: RobotModel, limb: Limb, q_start: Vec) -> None:
        self._robot, self._limb, self.q_start = robot, limb, q_start.copy()
        self._rng = np.random.default_rng(0)

    def list_small(self) -> Iterator[Vec]:
        """Yield postures near the start, the wrist's first."""
        for joint in reversed(range(len(self._limb.indices))):
            for step in (_SMALL, -_SMALL):
                q = self._limb.take(self.q_start)
                q[joint] += step
                whole = self._limb.put(self.q_start, q)
                if self._is_free(whole):
                    yield whole

    def choose(self, scene: BoardScene, n: int, taken: Sequence[Vec]) -> list[Vec]:
        """Return postures whose views differ most from ``taken``."""
        postures, numbers = [], []
        q_0 = self._limb.take(self.q_start)
        for _ in range(_TRIALS):
            q = q_0 + self._rng.uniform(-_REACH, _REACH, len(q_0))
            T_cam_board = scene.place_board(self._limb.fk(q))
            if not scene.is_seen(T_cam_board):
                continue
            whole = self._limb.put(self.q_start, q)
            if self._is_free(whole):
                postures.append(whole)
                numbers.append(scene.describe(T_cam_board))
            if len(postures) == _ENOUGH:
                break
        return [postures[k] for k in choose_spread(numbers, n, taken)]

    def is_way_free(self, q_from: Vec, q_to: Vec) -> bool:
        """Return whether the straight way is free."""
        n = 2 + int(np.abs(q_to - q_from).max() / _PATH_STEP)
        way = [q_from + s * (q_to - q_from) for s in np.linspace(0.0, 1.0, n)]
        return self._robot.check_path(way) is None

    def _is_free(self, q: Vec) -> bool:
        robot, joints = self._robot, self._limb.indices
        low, high = robot.q_min[joints] + _MARGIN, robot.q_max[joints] - _MARGIN
        is_within = bool(((q[joints] >= low) & (q[joints] <= high)).all())
        return is_within and robot.find_collision(q) is None
