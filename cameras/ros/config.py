"""Settings of a ROS camera."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.camera import CameraSettings
from paprle.hardware.ros.transports.choice import NodeSettings


@settings(slots=False)
class RosCameraConfig(NodeSettings, CameraSettings):
    """Settings of node and topic."""

    topic: Annotated[str, doc("Of the Image, for example /camera/color/image_raw.")]
    kind: Annotated[
        Literal["rgb8", "mono8", "depth16", "jpeg", "png"],
        doc(
            "What it holds: the first three are an Image (any order of colours is "
            "rgb8, 16UC1 and 32FC1 are depth16), the others a CompressedImage."
        ),
    ] = "rgb8"
    width: Annotated[int, Ge(1), Le(8192), Unit("px"), doc("Of an image.")] = 640
    height: Annotated[int, Ge(1), Le(8192), Unit("px"), doc("Of an image.")] = 480
    timeout: Annotated[
        float, Gt(0), Le(60), Unit("s"), doc("How long an image is waited for.")
    ] = 5.0
