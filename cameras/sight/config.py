"""Settings of a remote camera."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.camera import CameraSettings


@settings(slots=False)
class SightCameraConfig(CameraSettings):
    """Remote camera; size, rate and calibration are its own."""

    host: Annotated[str, doc("Address of the robot's host.")]
    key: Annotated[str, Unit("path"), doc("The link's secret: the file of link.key.")]
    udp_port: Annotated[
        int, Ge(1024), Le(65535), doc("observers.sight.udp_port there.")
    ] = 47300
    number: Annotated[
        int, Ge(0), Le(255), doc("Of the camera there: 0 is the first by name.")
    ] = 0
    width: Annotated[int, Ge(16), Le(4096), Unit("px"), doc("Of an image.")] = 640
    height: Annotated[int, Ge(16), Le(4096), Unit("px"), doc("Of an image.")] = 480
    unit: Annotated[
        float, Gt(0), Le(0.1), Unit("m"), doc("What one count of depth is.")
    ] = 0.001
