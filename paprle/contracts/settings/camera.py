"""Settings common to cameras."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal

import numpy as np
import pinocchio as pin
from annotated_types import Gt, Le, Unit, doc

from paprle.contracts.images import CameraInfo, Encoding
from paprle.contracts.settings.base import settings
from paprle.contracts.types import readonly

Video = Literal["h264", "jpeg", "none"]
"""Formats of recorded images."""


@settings
class PoseSettings:
    """A pose."""

    xyz: Annotated[tuple[float, float, float], Unit("m"), doc("Where it is.")] = (
        0.0,
        0.0,
        0.0,
    )
    rpy_xyz_extrinsic: Annotated[
        tuple[float, float, float],
        Unit("rad"),
        doc("How it is turned: about fixed x, then y, then z."),
    ] = (0.0, 0.0, 0.0)

    def to_se3(self) -> pin.SE3:
        """Return the pose."""
        rotation = pin.rpy.rpyToMatrix(*self.rpy_xyz_extrinsic)
        return pin.SE3(rotation, np.array(self.xyz))


@settings(slots=False)
class FilmSettings:
    """Settings of recorded cameras; without slots, for multiple inheritance."""

    video: Annotated[
        Video,
        doc(
            "How it is recorded: h264 is small, jpeg costs the least for cameras that "
            "give it, none leaves it out. Depth is always lossless."
        ),
    ] = "h264"


@settings(slots=False)
class CameraSettings(FilmSettings):
    """Settings of a camera that does not know its own pose."""

    fps: Annotated[float, Gt(0), Le(1000), Unit("Hz"), doc("Images a second.")] = 30.0
    focal: Annotated[
        tuple[float, float] | None,
        Unit("px"),
        doc("Focal lengths fx, fy; absent: the camera was not calibrated."),
    ] = None
    centre: Annotated[
        tuple[float, float] | None,
        Unit("px"),
        doc("Principal point cx, cy; the middle of the picture when absent."),
    ] = None
    distortion: Annotated[
        tuple[float, float, float, float, float],
        Unit("1"),
        doc("Of the lens, k1, k2, p1, p2, k3 as in OpenCV; recorded beside K."),
    ] = (0.0, 0.0, 0.0, 0.0, 0.0)
    link: Annotated[
        str, doc("Link of the robot that carries the camera; empty: the world.")
    ] = ""
    T_link_camera: Annotated[
        PoseSettings,
        doc("Where it is on it; its axes are x to the right, y down, z ahead."),
    ] = field(default_factory=PoseSettings)

    def make_info(
        self,
        width: int,
        height: int,
        encoding: Encoding,
        *,
        depth_unit: float = 0.0,
        is_noisy: bool = False,
    ) -> CameraInfo:
        """Return the properties of images, sized in [px].

        ``depth_unit`` is one count of depth, [m], 0 without.
        """
        K = np.full((3, 3), np.nan)
        if self.focal is not None:
            middle = ((width - 1) / 2.0, (height - 1) / 2.0)
            K[:] = np.diag([*self.focal, 1.0])
            K[:2, 2] = self.centre or middle
        return CameraInfo(
            width=width,
            height=height,
            fps=self.fps,
            encoding=encoding,
            K=readonly(K),
            link=self.link,
            distortion=self.distortion,
            T_link_cam=self.T_link_camera.to_se3(),
            depth_unit=depth_unit,
            is_noisy=is_noisy,
        )
