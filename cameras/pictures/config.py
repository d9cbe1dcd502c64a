"""What the config may say of a folder of pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from annotated_types import Gt, Le, Unit, doc

from paprle.contracts.settings import STRICT


@dataclass(frozen=True, kw_only=True, slots=True)
class PicturesConfig:
    """Which pictures are played, how fast, and where they were taken."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    folder: Annotated[str, Unit("path"), doc("Its *.png are played, by name.")]
    fps: Annotated[float, Gt(0), Le(1000), Unit("Hz"), doc("Pictures a second.")] = 30.0
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
    link: Annotated[
        str, doc("Link of the robot that carries the camera; empty: the world.")
    ] = ""
    xyz: Annotated[
        tuple[float, float, float], Unit("m"), doc("Where the camera is on it.")
    ] = (0.0, 0.0, 0.0)
    rpy: Annotated[
        tuple[float, float, float],
        Unit("rad"),
        doc(
            "How it is turned: about fixed x, then y, then z; its own axes are x to "
            "the right, y down, z ahead."
        ),
    ] = (0.0, 0.0, 0.0)
