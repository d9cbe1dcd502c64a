"""The drawn board's camera."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.cameras.drawn_board.config import DrawnBoardConfig
from paprle.contracts.errors import DeviceError, MissingDependency
from paprle.contracts.plugins import Camera, CameraInfo, Clock, Frame, RobotPose
from paprle.contracts.types import RobotInfo, Vec
from paprle.contracts.urdf.link_poses import LinkPoses

_NAP = 0.001  # [s] chosen: how often the clock is looked at while waiting
_DOTS = 4000.0  # [1/m] chosen: a print of 100 dots an inch has as many
_GREY = 110  # chosen: of what is around the board
_SEED = 0  # chosen: the noise of a run can be repeated
_CLOSED = "camera 'drawn_board': expected an open camera; call open()"


@dataclass
class _Scene:
    cv2: Any
    rays: Vec
    print: npt.NDArray[np.uint8]
    links: LinkPoses


class DrawnBoard(Camera):
    """A rendered board; the settings may claim other geometry."""

    config: DrawnBoardConfig

    def __init__(self, config: DrawnBoardConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._robot: RobotInfo | None = None
        self._look: Callable[[], RobotPose | None] = lambda: None
        self._scene: _Scene | None = None
        self._rng = np.random.default_rng(_SEED)
        self._due_ns = self._stamp_ns = 0
        self._q_true: Vec | None = None

    @property
    def info(self) -> CameraInfo:
        """Size and claimed calibration."""
        c = self.config
        is_noisy = c.true.noise > 0.0
        return c.make_info(c.width, c.height, "rgb8", is_noisy=is_noisy)

    @property
    def stamped_by(self) -> Literal["device", "arrival"]:
        """Stamps of the drawn measurement."""
        return "device"

    def watch(
        self,
        robot: RobotInfo,
        world: Mapping[str, Any],  # noqa: ARG002 - there is a board alone
        look: Callable[[], RobotPose | None],
    ) -> None:
        """Set the robot."""
        self._robot, self._look = robot, look

    def open(self) -> None:
        """Prepare rays and print; MissingDependency without OpenCV."""
        self.close()
        if self._robot is None:
            raise DeviceError(
                "camera 'drawn_board': expected a session whose robot it sees, got none"
            )
        try:
            import cv2  # noqa: PLC0415 - whoever asks for ``info`` alone needs none
        except ModuleNotFoundError as err:
            raise MissingDependency(
                "camera 'drawn_board': expected the package 'opencv-python-headless', "
                "got none; install it with: pip install 'paprle[cameras]'"
            ) from err
        links = LinkPoses(self._robot)
        links.update(self._robot.home)
        for link in (self.config.true.camera_link, self.config.true.board_link):
            self._check_link(links, link)
        self._scene = _Scene(cv2, self._make_rays(cv2), self._make_print(cv2), links)
        self._due_ns = self.clock()

    def grab(self, timeout: float) -> Frame | None:
        """Return a due image; None without a new pose."""
        if self._scene is None:
            raise DeviceError(_CLOSED)
        end = time.monotonic() + timeout
        while self.clock() < self._due_ns or not (pose := self._find_new()):
            if time.monotonic() >= end:
                return None
            time.sleep(_NAP)  # noqa: TID251 - a camera may block
        period_ns = round(1e9 / self.config.fps)
        self._due_ns = max(self._due_ns + period_ns, self.clock())
        self._stamp_ns = pose.stamp_ns
        image = self._draw(self._scene, self._play(pose.q))
        return Frame(pose.stamp_ns, image.tobytes())

    def close(self) -> None:
        """Forget the scene."""
        self._scene = None

    def _check_link(self, links: LinkPoses, link: str) -> None:
        try:
            if link:
                links.place(link)
        except (ValueError, IndexError) as err:
            raise DeviceError(
                f"camera 'drawn_board': expected a link of the robot, got '{link}'; "
                "look into its URDF"
            ) from err

    def _find_new(self) -> RobotPose | None:
        pose = self._look()
        if pose is None or pose.stamp_ns <= self._stamp_ns:
            return None
        return pose if np.isfinite(pose.q).all() else None

    def _play(self, q: Vec) -> Vec:
        """Return positions within half of the play."""
        half = 0.5 * self.config.true.play
        before = q if self._q_true is None else self._q_true
        self._q_true = np.clip(before, q - half, q + half)
        return self._q_true

    def _make_rays(self, cv2: Any) -> Vec:
        c, true = self.config, self.config.true
        K = np.diag([*true.focal, 1.0])
        K[:2, 2] = true.centre or (0.5 * (c.width - 1), 0.5 * (c.height - 1))
        u, v = np.meshgrid(np.arange(c.width), np.arange(c.height))
        pixels = np.stack([u.ravel(), v.ravel()], axis=1).astype(np.float64)
        straight = cv2.undistortPoints(
            pixels[:, None], K, np.array(true.distortion)
        ).reshape(-1, 2)
        return np.column_stack([straight, np.ones(len(straight))])

    def _make_print(self, cv2: Any) -> npt.NDArray[np.uint8]:
        c = self.config
        family = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
        board = cv2.aruco.CharucoBoard((c.columns, c.rows), c.square, c.marker, family)
        size = [round(n * c.square * _DOTS) for n in (c.columns, c.rows)]
        margin = round(c.square * _DOTS)
        picture = board.generateImage(size, marginSize=0)
        image: npt.NDArray[np.uint8] = cv2.copyMakeBorder(
            picture, *[margin] * 4, cv2.BORDER_CONSTANT, value=255
        )
        return image

    def _draw(self, scene: _Scene, q: Vec) -> npt.NDArray[np.uint8]:
        c, true = self.config, self.config.true
        scene.links.update(q)
        T_world_cam, T_world_board = (
            (scene.links.place(link) if link else pin.SE3.Identity()) * pose.to_se3()
            for link, pose in (
                (true.camera_link, true.T_link_camera),
                (true.board_link, true.T_link_board),
            )
        )
        T_board_cam = T_world_board.inverse() * T_world_cam
        ways = scene.rays @ T_board_cam.rotation.T
        with np.errstate(divide="ignore", invalid="ignore"):
            depth = -T_board_cam.translation[2] / ways[:, 2]
            at = T_board_cam.translation[:2] + depth[:, None] * ways[:, :2]
        # seen from behind, it is grey: z of the board points away from the camera
        is_seen = (depth > 0.0) & (T_board_cam.translation[2] < 0.0)
        at = np.where(is_seen[:, None], (at + c.square) * _DOTS - 0.5, -1e4)
        at = np.clip(at, -1e4, 1e4).astype(np.float32).reshape(c.height, c.width, 2)
        grey = scene.cv2.remap(
            self._soften(scene, at),
            at,
            None,
            scene.cv2.INTER_LINEAR,
            borderMode=scene.cv2.BORDER_CONSTANT,
            borderValue=_GREY,
        ).astype(np.float64)
        grey += self._rng.normal(0.0, true.noise, grey.shape) if true.noise else 0.0
        image = np.clip(np.rint(grey), 0, 255).astype(np.uint8)
        return np.repeat(image[:, :, None], 3, axis=2)

    def _soften(
        self, scene: _Scene, at: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.uint8]:
        steps = np.linalg.norm(np.diff(at, axis=1), axis=2)
        near = steps[(steps > 0.0) & (steps < 100.0)]
        dots = float(np.median(near)) if near.size else 1.0
        soft: npt.NDArray[np.uint8] = scene.cv2.GaussianBlur(
            scene.print, (0, 0), max(0.4 * dots, 0.3)
        )
        return soft
