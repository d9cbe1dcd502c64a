"""Settings of a drawn board."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.camera import CameraSettings, PoseSettings


@settings
class TrueSettings:
    """The simulated rig as it is, apart from what the camera's settings claim."""

    focal: Annotated[
        tuple[float, float], Unit("px"), doc("True focal lengths fx, fy.")
    ] = (640.0, 640.0)
    centre: Annotated[
        tuple[float, float] | None, Unit("px"), doc("True cx, cy; absent: the middle.")
    ] = None
    distortion: Annotated[
        tuple[float, float, float, float, float],
        Unit("1"),
        doc("Of the true lens, k1, k2, p1, p2, k3 as in OpenCV."),
    ] = (0.0, 0.0, 0.0, 0.0, 0.0)
    camera_link: Annotated[
        str, doc("Link that carries the camera in fact; empty: the world.")
    ] = ""
    T_link_camera: Annotated[
        PoseSettings, doc("Where it is on it: x to the right, y down, z ahead.")
    ] = field(default_factory=PoseSettings)
    board_link: Annotated[
        str, doc("Link that carries the board; empty: the world.")
    ] = ""
    T_link_board: Annotated[
        PoseSettings,
        doc("Where the board's first corner is on it: x along rows, z into the board."),
    ] = field(default_factory=PoseSettings)
    play: Annotated[
        float,
        Ge(0),
        Le(0.1),
        Unit("rad"),
        doc("Backlash of each joint, from end to end."),
    ] = 0.0
    noise: Annotated[
        float, Ge(0), Le(100), Unit("1"), doc("Of each pixel, of 255; one sigma.")
    ] = 0.0


@settings(slots=False)
class DrawnBoardConfig(CameraSettings):
    """A ChArUco board of OpenCV's family 4x4_50, and the rig that shows it."""

    width: Annotated[int, Ge(64), Le(4096), Unit("px"), doc("Of an image.")] = 640
    height: Annotated[int, Ge(48), Le(4096), Unit("px"), doc("Of an image.")] = 480
    columns: Annotated[int, Ge(3), Le(10), doc("Squares of a row.")] = 7
    rows: Annotated[int, Ge(3), Le(10), doc("Squares of a column.")] = 5
    square: Annotated[float, Gt(0), Le(1), Unit("m"), doc("Edge of a square.")] = 0.03
    marker: Annotated[float, Gt(0), Le(1), Unit("m"), doc("Edge of a marker.")] = 0.022
    true: Annotated[TrueSettings, doc("What is simulated.")] = field(
        default_factory=TrueSettings
    )

    def __post_init__(self) -> None:
        if self.marker >= self.square:
            raise ValueError(f"marker below square, not {self.marker:g}")
