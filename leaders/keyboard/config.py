"""YAML settings of the keyboard."""

from __future__ import annotations

from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.sound import SoundSettings


@settings
class KeyboardConfig(SoundSettings):
    """Speeds of the keys, and their time-out."""

    speed: Annotated[
        float, Gt(0), Le(1), Unit("m/s"), doc("Translation at level 9.")
    ] = 0.18  # chosen: 0.1 m/s at level 5
    turn_speed: Annotated[
        float, Gt(0), Le(3), Unit("rad/s"), doc("Rotation at level 9.")
    ] = 0.9  # chosen: 0.5 rad/s at level 5
    gripper_speed: Annotated[
        float, Gt(0), Le(10), Unit("1/s"), doc("Gripper openings a second, any level.")
    ] = 1.0  # chosen: a full stroke a second
    level: Annotated[int, Ge(1), Le(9), doc("Speed at the start, in ninths.")] = 5
    deadman: Annotated[
        Literal["repeat", "toggle"],
        doc(
            "repeat: a key moves while it is held; toggle: it moves until it is "
            "pressed again, for terminals that do not repeat keys."
        ),
    ] = "repeat"
    first_time: Annotated[
        float,
        Gt(0),
        Le(1),
        Unit("s"),
        doc("How long the first press moves; bridges the delay before repeats."),
    ] = 0.6  # chosen: X11 and Linux consoles wait 0.25 to 0.66 s before they repeat
    repeat_time: Annotated[
        float,
        Gt(0),
        Le(1),
        Unit("s"),
        doc("How long each repeat moves: it stops so long after the key is let go."),
    ] = 0.15  # chosen: four repeats at 30 Hz, one of them may be late over SSH
    toggle_time: Annotated[
        float, Gt(0), Le(60), Unit("s"), doc("Longest motion of one press in toggle.")
    ] = 5.0  # chosen: a link that is lost must not move the arm for long
    fd: Annotated[int, Ge(0), doc("Descriptor the keys are read from.")] = 0
