"""YAML settings of the page as a leader."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.types import Emits


@settings
class WebConfig:
    """Settings of the page as a leader."""

    emits: Annotated[
        Emits,
        doc(
            "pose: handles in the picture, keys or a gamepad move the wanted pose; "
            "joints: a slider for each joint; axes: keys or a gamepad say how fast."
        ),
    ] = "pose"
    limbs: Annotated[
        tuple[str, ...], doc("Limbs of the robot that it moves; empty: all but legs.")
    ] = ()
    speed: Annotated[
        float, Gt(0), Le(1), Unit("m/s"), doc("Of axes at full deflection.")
    ] = 0.15  # chosen: as observers.view.speed
    turn_speed: Annotated[
        float, Gt(0), Le(3), Unit("rad/s"), doc("Likewise, of turns.")
    ] = 0.8  # chosen: the same
