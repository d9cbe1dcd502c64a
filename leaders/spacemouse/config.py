"""YAML settings of a six-axis mouse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Lt, Unit, doc

from paprle.contracts.settings.axis import AxisSettings
from paprle.contracts.settings.base import settings

Role = Literal[
    "open",
    "close",
    "mode",
    "mode_back",
    "engage",
    "stop",
    "next_episode",
    "discard",
    "clear",
    "quit",
]
"""Actions of a button; the last six are the session's actions."""


@settings
class SpacemouseConfig(AxisSettings):
    """The mouse and its speeds."""

    path: Annotated[
        str, Unit("path"), doc("Its device (/dev/hidraw3); empty: the first found.")
    ] = ""
    serial: Annotated[str, doc("Its serial number, where there are several.")] = ""
    dead_zone: Annotated[
        float, Ge(0), Lt(0.9), Unit("1"), doc("Deflection of an axis that is rest.")
    ] = 0.1  # chosen: pushing the cap one way moves the other axes by so much
    curve: Annotated[
        float,
        Ge(1),
        Le(4),
        Unit("1"),
        doc("Exponent of the deflection: 1 is straight, more is finer about rest."),
    ] = 1.5  # chosen: the cap's way is 1.5 mm, all of it has to be of use
    longest_silence: Annotated[
        float,
        Gt(0),
        Le(1),
        Unit("s"),
        doc("A deflected cap that is silent for longer counts as let go."),
    ] = 0.25  # chosen: it reports every 16 ms while deflected; 15 of them lost
    buttons: Annotated[
        Mapping[str, Role], doc("What its buttons do, by number from 0.")
    ] = field(default_factory=lambda: {"0": "close", "1": "open"})
