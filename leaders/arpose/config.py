"""What the YAML of a phone may say."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from annotated_types import Ge, Gt, Le, Unit, doc

from hardware.web.settings import WebSettings
from paprle.contracts.settings import STRICT


@dataclass(frozen=True, kw_only=True, slots=True)
class AppConfig:
    """ARBot's Android app in place of the page."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    phone: Annotated[
        str, doc("The phone's address; nobody else is listened to. It has no token.")
    ]
    address: Annotated[
        str, doc("Where it is listened to: lan, or an address of this machine.")
    ] = "lan"
    port: Annotated[int, Ge(1), Le(65_535), doc("Port that the app is told.")] = (
        8765  # spec: cake-lab/AR-PiPER, websocket_bridge_node4.py
    )
    closed: Annotated[
        float, Unit("1"), doc("What the app says of the gripper at opening 0.")
    ] = 0.0
    open: Annotated[
        float, Unit("1"), doc("What the app says of the gripper at opening 1.")
    ] = 1.0

    def __post_init__(self) -> None:
        try:
            ipaddress.ip_address(self.phone)
        except ValueError as err:
            raise ValueError(f"the address of a phone, got {self.phone!r}") from err
        if self.closed == self.open:
            raise ValueError("an open position that differs from the closed one")


@dataclass(frozen=True, kw_only=True, slots=True)
class ArposeConfig(WebSettings):
    """Where the page is served, and how fast a phone tells."""

    __pydantic_config__: ClassVar[Mapping[str, Any]] = STRICT

    rate: Annotated[
        float, Gt(0), Le(240), Unit("Hz"), doc("Nominal rate of its messages.")
    ] = 60.0  # chosen: ARCore's display rate; ARBot's app tells 30 times a second
    app: Annotated[
        AppConfig | None, doc("ARBot's app may command, too; absent: the page alone.")
    ] = None
