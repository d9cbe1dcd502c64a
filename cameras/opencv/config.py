"""Settings of an OpenCV camera."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.camera import CameraSettings


@settings(slots=False)
class OpencvConfig(CameraSettings):
    """Source of the images, and their requested format."""

    device: Annotated[
        str,
        doc(
            "A device (/dev/v4l/by-id/… stays the same after a restart), a URL (http, "
            "rtsp), or a video file."
        ),
    ]
    width: Annotated[int, Ge(16), Le(8192), Unit("px"), doc("Of an image.")] = 640
    height: Annotated[int, Ge(16), Le(8192), Unit("px"), doc("Of an image.")] = 480
    fourcc: Annotated[
        str,
        doc("What a device sends: MJPG, YUYV; its own choice when empty."),
    ] = "MJPG"
    timeout: Annotated[
        float, Gt(0), Le(60), Unit("s"), doc("How long it is waited for on opening.")
    ] = 5.0

    def __post_init__(self) -> None:
        if self.fourcc and len(self.fourcc) != 4:
            raise ValueError("a fourcc of four letters, or none")
