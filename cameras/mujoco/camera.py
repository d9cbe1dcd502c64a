"""The camera of a model."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal

import mujoco
import numpy as np

from paprle.cameras.mujoco.config import MujocoCameraConfig
from paprle.cameras.mujoco.world import World, make_world
from paprle.contracts.errors import DeviceError, MissingDependency
from paprle.contracts.images import Encoding
from paprle.contracts.plugins import Camera, CameraInfo, Clock, Frame, RobotPose
from paprle.contracts.types import RobotInfo, readonly
from paprle.hardware.mujoco.offscreen import Image, NoRendererError, Offscreen

_NAP = 0.001  # [s] chosen: how often the clock is looked at while waiting
_DEPTH_UNIT = 0.001  # [m] chosen: as depth cameras count, which reach 65 m with it
_ENCODINGS: Mapping[str, Encoding] = {
    "colour": "rgb8",
    "infrared": "mono8",
    "segmentation": "ids16",
}
# spec: ITU-R BT.601: how bright red, green and blue are
_BRIGHTNESS = np.array([0.299, 0.587, 0.114])
_CLOSED = "camera 'mujoco': expected an open camera; call open()"


class MujocoCamera(Camera):
    """Renders due images."""

    config: MujocoCameraConfig

    def __init__(self, config: MujocoCameraConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._robot: RobotInfo | None = None
        self._env: Mapping[str, Any] = {}
        self._look: Callable[[], RobotPose | None] = lambda: None
        self._world: World | None = None
        self._screen: Offscreen | None = None
        self._due_ns = self._stamp_ns = 0

    @property
    def info(self) -> CameraInfo:
        """Size and calibration."""
        config = self.config
        unit = _DEPTH_UNIT if config.depth else 0.0
        info = config.make_info(
            config.width, config.height, _ENCODINGS[config.picture], depth_unit=unit
        )
        focal = 0.5 * config.height / np.tan(0.5 * np.deg2rad(config.fovy))
        K = np.diag([focal, focal, 1.0])
        K[:2, 2] = 0.5 * (config.width - 1), 0.5 * (config.height - 1)
        return replace(info, K=readonly(K))

    @property
    def stamped_by(self) -> Literal["device", "arrival"]:
        """Stamps of the rendered measurement."""
        return "device"

    @property
    def notes(self) -> tuple[str, ...]:
        """The renderer in use."""
        return () if self._screen is None else (f"drawn by {self._screen.way}",)

    def watch(
        self,
        robot: RobotInfo,
        world: Mapping[str, Any],
        look: Callable[[], RobotPose | None],
    ) -> None:
        """Set robot and surroundings."""
        self._robot, self._env, self._look = robot, world, look

    def open(self) -> None:
        """Build model and renderer; MissingDependency without EGL and OSMesa."""
        self.close()
        if self._robot is None:
            raise DeviceError(
                "camera 'mujoco': expected a session whose robot it draws, got none"
            )
        config = self.config
        try:
            self._world = make_world(self._robot, self._env, config, self.info)
            size = (config.width, config.height)
            is_plain = not config.fine or config.picture == "segmentation"
            screen = Offscreen(self._world.model, *size, is_plain=is_plain)
        except NoRendererError as err:
            raise MissingDependency(f"camera 'mujoco': {err}") from err
        except (ValueError, mujoco.FatalError) as err:
            raise DeviceError(f"camera 'mujoco': {err}") from err
        self._screen = screen
        self._draw(screen, self._world)  # the first one takes a second
        self._due_ns = self.clock()

    def grab(self, timeout: float) -> Frame | None:
        """Return a due image; None without a new pose."""
        if self._screen is None or self._world is None:
            raise DeviceError(_CLOSED)
        end = time.monotonic() + timeout
        while self.clock() < self._due_ns or not (pose := self._find_new()):
            if time.monotonic() >= end:
                return None
            time.sleep(_NAP)  # noqa: TID251 - a camera may block
        period_ns = round(1e9 / self.config.fps)
        # who is late by more than an image leaves some out
        self._due_ns = max(self._due_ns + period_ns, self.clock())
        self._stamp_ns = pose.stamp_ns
        self._world.put(pose)
        return self._draw(self._screen, self._world)

    def close(self) -> None:
        """Release the renderer."""
        if self._screen is not None:
            self._screen.close()
        self._screen = self._world = None

    def _find_new(self) -> RobotPose | None:
        pose = self._look()
        is_new = pose is not None and pose.stamp_ns > self._stamp_ns
        return (
            pose if is_new and pose is not None and np.isfinite(pose.q).all() else None
        )

    def _draw(self, screen: Offscreen, world: World) -> Frame:
        if self.config.picture == "segmentation":
            ids = world.ids[screen.draw_geoms(world.data, world.camera)]
            return Frame(self._stamp_ns, ids.astype("<u2").tobytes())
        if not self.config.depth:
            return self._make_frame(screen.draw(world.data, world.camera))
        image, z = screen.draw_with_depth(world.data, world.camera)
        counts = np.rint(z / _DEPTH_UNIT)
        counts[counts > np.iinfo(np.uint16).max] = 0  # too far to be known
        return self._make_frame(image, counts.astype("<u2").tobytes())

    def _make_frame(self, image: Image, depth: bytes = b"") -> Frame:
        if self.config.picture == "infrared":
            image = np.rint(image @ _BRIGHTNESS).astype(np.uint8)
        return Frame(self._stamp_ns, image.tobytes(), depth)
