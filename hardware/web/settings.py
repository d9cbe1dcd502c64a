"""YAML settings of page servers, import-free."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from annotated_types import Ge, Le, Unit, doc


@dataclass(frozen=True, kw_only=True, slots=True)
class WebSettings:
    """Address and certificate of a page: part of the config of all that have one."""

    listen: Annotated[
        str,
        doc(
            "usb: this machine alone, for a device on a cable (adb reverse); lan: its "
            "address on the network, with TLS; or one of its addresses, with TLS."
        ),
    ] = "usb"
    port: Annotated[
        int, Ge(1), Le(65_528), doc("First port to try; seven more, if it is in use.")
    ] = 8443
    certificate: Annotated[
        str,
        Unit("path"),
        doc("Folder of the certificate; empty: ~/.config/paprle/web."),
    ] = ""


class AppSettings(NamedTuple):
    """Connection of ARBot's app.

    Attributes:
        phone: Its only address.
        closed: Value at opening 0.
        open: At opening 1.
    """

    address: str
    port: int
    phone: str
    closed: float
    open: float
