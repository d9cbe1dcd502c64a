"""YAML settings of game controllers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Lt, Unit, doc

from paprle.contracts.settings.axis import AxisSettings
from paprle.contracts.settings.base import settings

Role = Literal[
    "deadman",
    "mode",
    "mode_back",
    "limb",
    "engage",
    "stop",
    "next_episode",
    "discard",
    "clear",
    "quit",
]
"""Actions of a button; the last six are the session's actions."""

AXES = MappingProxyType(
    {
        "x": "-lefty",
        "y": "-leftx",
        "z": "-righty",
        "roll": "dpright-dpleft",
        "pitch": "dpup-dpdown",
        "yaw": "-rightx",
        "gripper": "lefttrigger-righttrigger",
    }
)
BUTTONS: Mapping[str, Role] = MappingProxyType(
    {
        "leftshoulder": "deadman",
        "rightshoulder": "limb",
        "a": "mode",
        "b": "stop",
        "x": "discard",
        "y": "next_episode",
        "start": "engage",
        "back": "clear",
    }
)


@settings
class PadSettings:
    """One pad: identity, limb and controls."""

    device: Annotated[
        str,
        doc(
            "A part of its name or of SDL's GUID; empty: the first that is free. "
            "virtual:PATH is one that other programs move over a socket."
        ),
    ] = ""
    limbs: Annotated[
        tuple[str, ...],
        doc("Limbs that it moves, one at a time; its button 'limb' goes to the next."),
    ] = ("hand",)
    axes: Annotated[
        Mapping[str, str],
        doc(
            "Its axes: a name, and the controls that move it as SDL calls them, with "
            "signs: -lefty, dpup-dpdown."
        ),
    ] = field(default_factory=lambda: dict(AXES))
    buttons: Annotated[Mapping[str, Role], doc("What its buttons do.")] = field(
        default_factory=lambda: dict(BUTTONS)
    )


@settings
class GamepadConfig(AxisSettings):
    """Pads, speeds, and checks of readings."""

    pads: Annotated[Mapping[str, PadSettings], doc("The pads, by any name.")] = field(
        default_factory=dict
    )
    dead_zone: Annotated[
        float, Ge(0), Lt(0.9), Unit("1"), doc("Deflection of a stick that is rest.")
    ] = 0.15  # chosen: worn sticks rest within 0.1; XInput's own value is 0.24
    trigger_dead_zone: Annotated[
        float, Ge(0), Lt(0.9), Unit("1"), doc("The same, of a trigger.")
    ] = 0.1  # spec: XINPUT_GAMEPAD_TRIGGER_THRESHOLD is 30 of 255
    curve: Annotated[
        float,
        Ge(1),
        Le(4),
        Unit("1"),
        doc("Exponent of the deflection: 1 is straight, more is finer about rest."),
    ] = 2.0  # chosen: half a deflection is a quarter of the speed
    longest: Annotated[
        float,
        Gt(0),
        Le(60),
        Unit("s"),
        doc(
            "Longest motion by sticks and triggers that do not change: a pad whose "
            "radio is gone keeps its last deflection until the system notices."
        ),
    ] = 5.0  # chosen: as a key's `toggle_time`
    rumble: Annotated[
        float, Ge(0), Le(1), Unit("1"), doc("Share of its motors' strength; 0: none.")
    ] = 1.0
    database: Annotated[
        str,
        Unit("path"),
        doc("File of further mappings, as SDL_GameControllerDB has them."),
    ] = ""
