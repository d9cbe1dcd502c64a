"""Settings below ``paprle.observers.sight``."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.hardware.web.settings import WebSettings


@settings
class SightConfig(WebSettings):
    """Access to the pictures, and limits of their rate."""

    key: Annotated[str, Unit("path"), doc("The link's secret: the file of link.key.")]
    udp_port: Annotated[
        int, Ge(1024), Le(65535), doc("UDP port of clouds; the operator asks there.")
    ] = 47300
    most: Annotated[
        float, Gt(0), Le(1000), Unit("Mbit/s"), doc("More than this is never sent.")
    ] = 50.0
    poses: Annotated[
        float,
        Ge(0),
        Le(100),
        Unit("Mbit/s"),
        doc("What goes before clouds on the same link: docs/remote.md, bandwidth."),
    ] = 1.5
    video: Annotated[bool, doc("Serve a page with video (WebRTC).")] = True
