"""Settings below ``paprle.observers.view``."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.kit.motion_cues import CueSettings
from paprle.contracts.reality_levels import Side
from paprle.contracts.settings.base import settings


@settings
class ViewConfig:
    """Address of the page, and its contents."""

    listen: Annotated[
        str,
        doc(
            "usb: this machine alone; lan: its address on the network, with TLS; or "
            "one of its addresses, with TLS. Only at usb a stop may be cleared."
        ),
    ] = "usb"
    port: Annotated[
        int,
        Ge(1024),
        Le(65500),
        doc("Where the page is; the next free port where it is taken."),
    ] = 8080
    certificate: Annotated[
        str,
        Unit("path"),
        doc("Folder of the certificate; empty: ~/.config/paprle/web."),
    ] = ""
    scene: Annotated[bool, doc("Show the robot in 3-D, which needs viser.")] = True
    rate: Annotated[
        float, Gt(0), Le(60), Unit("Hz"), doc("How often the picture changes.")
    ] = 30.0
    cues: Annotated[
        CueSettings | None,
        doc("What shows where axes lead, and suggestions; null: nothing does."),
    ] = field(default_factory=CueSettings)
    levels: Annotated[
        Side,
        doc(
            "Offers the levels between real and virtual, to a session whose robot is "
            "real (3 and 5 hold it) or simulated; off: everything is drawn."
        ),
    ] = "off"
    trail: Annotated[
        float, Ge(0), Le(120), Unit("s"), doc("How long end-effectors leave a trail.")
    ] = 10.0
    speed: Annotated[
        float, Gt(0), Le(1), Unit("m/s"), doc("Of a limb moved by keys or a pad.")
    ] = 0.15  # chosen: quicker than a person aims with keys
    turn_speed: Annotated[
        float, Gt(0), Le(3), Unit("rad/s"), doc("Likewise, of its turns.")
    ] = 0.8  # chosen: the same
