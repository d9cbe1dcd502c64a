"""Settings of a rendered camera."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.camera import CameraSettings


@settings(slots=False)
class MujocoCameraConfig(CameraSettings):
    """View and rendering."""

    width: Annotated[int, Ge(16), Le(4096), Unit("px"), doc("Of an image.")] = 640
    height: Annotated[int, Ge(16), Le(4096), Unit("px"), doc("Of an image.")] = 480
    fovy: Annotated[
        float, Gt(0), Le(170), Unit("deg"), doc("From the top to the bottom.")
    ] = 58.0
    depth: Annotated[bool, doc("Depth beside each image, in millimetres.")] = False
    picture: Annotated[
        Literal["colour", "infrared", "segmentation"],
        doc(
            "Infrared: one channel, as bright as the colours are; segmentation: a "
            "number for each thing."
        ),
    ] = "colour"
    fine: Annotated[
        bool,
        doc(
            "Shadows, reflections and smooth edges; they take four fifths of the time."
        ),
    ] = False

    def __post_init__(self) -> None:
        if self.focal is not None or self.centre is not None:
            raise ValueError("fovy in place of focal and centre: it is drawn by it")
        if any(self.distortion):
            raise ValueError("no distortion: it is drawn without a lens")
        if self.picture == "segmentation" and self.depth:
            raise ValueError("a second camera for depth beside a segmentation")
