"""YAML settings of the markers."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Gt, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.plugin import AdvisorSettings

Family = Literal[
    "apriltag_16h5",
    "apriltag_25h9",
    "apriltag_36h11",
    "aruco_4x4_50",
    "aruco_5x5_50",
    "aruco_6x6_50",
]


@settings
class MarkersConfig(AdvisorSettings):
    """Source of markers: camera, picture or list."""

    camera: Annotated[
        str | None,
        doc("Camera of the session whose images are searched; calibrated and placed."),
    ] = None
    keep: Annotated[
        float,
        Gt(0),
        Unit("s"),
        doc("So long a marker that a camera does not see counts where it was."),
    ] = 10.0  # chosen: a hand hides what it grasps for as long
    picture: Annotated[
        str | None, Unit("path"), doc("Picture in which markers are looked for.")
    ] = None
    poses: Annotated[
        str | None,
        Unit("path"),
        doc("YAML list of markers in place of a picture: id, xyz, quat_xyzw, [m]."),
    ] = None
    family: Annotated[Family, doc("What is printed.")] = "apriltag_36h11"
    size: Annotated[
        float, Gt(0), Unit("m"), doc("Edge of the black square of a marker.")
    ] = 0.05
    focal: Annotated[
        tuple[float, float], Unit("px"), doc("Focal lengths fx, fy of the picture.")
    ] = (1000.0, 1000.0)
    centre: Annotated[
        tuple[float, float] | None,
        Unit("px"),
        doc("Principal point cx, cy; the middle of the picture when absent."),
    ] = None
    xyz: Annotated[
        tuple[float, float, float],
        Unit("m"),
        doc("Where the camera stood in the robot's world."),
    ] = (0.0, 0.0, 0.0)
    rpy: Annotated[
        tuple[float, float, float],
        Unit("rad"),
        doc(
            "How it was turned: about fixed x, then y, then z; its own axes are x to "
            "the right, y down, z ahead."
        ),
    ] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        sources = (self.camera, self.picture, self.poses)
        if sum(one is not None for one in sources) != 1:
            raise ValueError("either camera, or picture or poses, the path of a file")
        if min(self.focal) <= 0:
            raise ValueError(f"focal lengths above 0, not {self.focal}")
