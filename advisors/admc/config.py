"""YAML settings of suggestions."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Lt, Unit, doc

from paprle.contracts.axes import AxisSpeeds
from paprle.contracts.settings.base import settings
from paprle.contracts.settings.plugin import AdvisorSettings

_SPEEDS = AxisSpeeds()


@settings
class AdmcConfig(AdvisorSettings):
    """Object, target, hand, and times of suggestions."""

    rate: Annotated[
        float, Gt(0), Le(200), Unit("Hz"), doc("How often it suggests, at most.")
    ] = 100.0  # chosen: a suggestion rests on what was measured 20 ms before at most
    limb: Annotated[str, doc("Limb that grasps; empty: the first with a gripper.")] = ""
    object: Annotated[
        str,
        doc("What is to be grasped: an object of the env, or tags.3, a marker."),
    ] = "block"
    target: Annotated[str, doc("Where it is to be placed, likewise.")] = "target"
    forward: Annotated[
        Literal["x", "z"], doc("Axis of the eef along which the fingers point.")
    ] = "z"
    point: Annotated[
        tuple[float, float, float],
        Unit("m"),
        doc("Middle between the fingertips, in the eef's frame."),
    ] = (0.0, 0.0, 0.0)
    translation: Annotated[
        float, Gt(0), Unit("m/s"), doc("The leader's speed at full deflection.")
    ] = _SPEEDS.translation
    turn: Annotated[float, Gt(0), Unit("rad/s"), doc("Likewise, of turns.")] = (
        _SPEEDS.turn
    )
    gripper: Annotated[float, Gt(0), Unit("1/s"), doc("Likewise, of openings.")] = (
        _SPEEDS.gripper
    )
    min_hover: Annotated[
        float,
        Gt(0),
        Unit("m"),
        doc("Farther off than this, seen from above, the hand goes above the goal."),
    ] = 0.03
    hover_height: Annotated[float, Ge(0), Unit("m"), doc("How far above it.")] = 0.1
    grasp_height: Annotated[
        float, Unit("m"), doc("Where the object is grasped, above its middle.")
    ] = 0.01
    place_height: Annotated[
        float, Ge(0), Unit("m"), doc("Where the object is let go, above the target.")
    ] = 0.03
    reach: Annotated[
        float, Gt(0), Unit("m"), doc("The fingers reach what is as near as this.")
    ] = 0.01
    approach: Annotated[
        float, Ge(0), Unit("m"), doc("So much farther off they close while it nears.")
    ] = 0.015
    communication: Annotated[
        Literal["continuous", "threshold"],
        doc("Show the next best at all times, or where it differs by the threshold."),
    ] = "continuous"
    threshold: Annotated[
        float,
        Gt(0),
        Lt(1),
        Unit("1"),
        doc("Difference of what is in use from the best: 0 alike, 1 opposite."),
    ] = 0.2  # spec: AdaptiX 3.1.3
    hysteresis: Annotated[
        float, Ge(0), Unit("1"), doc("It has to fall so far below to count anew.")
    ] = 0.05  # chosen: 8° at the threshold, more than a hand trembles
    debounce: Annotated[
        float, Ge(0), Unit("s"), doc("And stay beyond for so long.")
    ] = 0.1  # chosen: shorter than a person's reaction

    def __post_init__(self) -> None:
        if self.hysteresis >= self.threshold:
            raise ValueError(
                f"a hysteresis below the threshold {self.threshold:g}, not "
                f"{self.hysteresis:g}"
            )
