"""Settings of a RealSense."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.camera import CameraSettings


@settings(slots=False)
class RealsenseConfig(CameraSettings):
    """Device and requested streams."""

    serial: Annotated[str, doc("Its serial number; the only one when absent.")] = ""
    recording: Annotated[
        str, Unit("path"), doc("A file of librealsense (.db3, .bag) in its place.")
    ] = ""
    width: Annotated[int, Ge(16), Le(4096), Unit("px"), doc("Of an image.")] = 640
    height: Annotated[int, Ge(16), Le(4096), Unit("px"), doc("Of an image.")] = 480
    depth: Annotated[
        bool, doc("Depth beside each image, of the same pixels, in millimetres.")
    ] = True
    timeout: Annotated[
        float, Gt(0), Le(60), Unit("s"), doc("How long the first image is waited for.")
    ] = 10.0
