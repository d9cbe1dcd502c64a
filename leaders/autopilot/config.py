"""YAML settings of the autopilot."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.types import Reposture


@settings
class AutopilotConfig:
    """A shape, its plane, and its speed."""

    shape: Annotated[
        Literal["circle", "square", "rectangle", "triangle", "s"],
        doc("What to draw; it begins in the middle of its lower side."),
    ] = "circle"
    plane: Annotated[
        Literal["xy", "xz", "yz"],
        doc("Plane of the shape, its width along the first axis."),
    ] = "yz"
    size: Annotated[
        float, Gt(0), Le(2), Unit("m"), doc("Width of the shape (of an S: its height).")
    ] = 0.1
    aspect: Annotated[
        float,
        Gt(0),
        Le(10),
        Unit("1"),
        doc("Height over width of a rectangle, width over height of an S."),
    ] = 0.5
    speed: Annotated[
        float, Gt(0), Le(2), Unit("m/s"), doc("Speed along the path, constant.")
    ] = 0.05
    ramp: Annotated[
        float, Ge(0), Le(5), Unit("s"), doc("Time to reach the speed, and to stop.")
    ] = 0.3
    laps: Annotated[
        int, Ge(1), doc("Laps an episode; an S is drawn there and back in turn.")
    ] = 1
    reposture: Annotated[
        Reposture,
        doc(
            "Where a limb is stuck and another posture reaches its target: ask the "
            "operator, or change over slowly without being asked."
        ),
    ] = "ask"
    gripper: Annotated[
        bool, doc("Open and close the gripper once a lap, as a sine.")
    ] = False
    episodes: Annotated[
        int | None, Ge(0), doc("Episodes until it is done; 0: endless; absent: one.")
    ] = None
