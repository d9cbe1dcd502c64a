"""Cameras without recorded properties."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from paprle.contracts.images import CameraInfo, Encoding


def make_plain_camera(
    width: int, height: int, encoding: Encoding, *, fps: float
) -> CameraInfo:
    """Return an uncalibrated camera without pose."""
    return CameraInfo(
        width=width, height=height, fps=fps, encoding=encoding,
        K=np.full((3, 3), np.nan), link="", T_link_cam=pin.SE3.Identity(),
    )  # fmt: skip
