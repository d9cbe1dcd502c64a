"""YAML settings of a phone or a headset."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, MinLen, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.hardware.web.settings import WebSettings


@settings
class AppConfig:
    """ARBot's Android app in place of the page."""

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


@settings
class SightSettings:
    """The robot's camera in the headset, sent by observers.sight."""

    host: Annotated[str, doc("Address of the host where observers.sight runs.")]
    key: Annotated[str, Unit("path"), doc("Its secret: the file of link.key.")]
    udp_port: Annotated[
        int, Ge(1024), Le(65535), doc("observers.sight.udp_port there.")
    ] = 47300
    number: Annotated[
        int, Ge(0), Le(127), doc("Of the camera there: 0 is the first by name.")
    ] = 0
    turns_with_head: Annotated[
        bool,
        doc(
            "The camera turns as the head does, so that a picture is shown where the "
            "head looked when it was taken; false: it hangs straight ahead."
        ),
    ] = False


@settings
class WebxrConfig(WebSettings):
    """Settings of the page, its device and hands."""

    device: Annotated[
        Literal["phone", "headset"],
        doc("What opens the page: a phone is one hand, whose limb is called hand."),
    ] = "headset"
    hands: Annotated[
        tuple[Literal["left", "right"], ...],
        MinLen(1),
        doc(
            "Hands at a headset; with two, both hold their dead-men, or neither moves."
        ),
    ] = ("right",)
    rate: Annotated[
        float, Gt(0), Le(240), Unit("Hz"), doc("Nominal rate of its messages.")
    ] = 72.0  # chosen: a Quest's display as it is delivered
    app: Annotated[
        AppConfig | None,
        doc("ARBot's app on the phone may command, too; absent: the page alone."),
    ] = None

    sight: Annotated[
        SightSettings | None,
        doc("The robot's camera that a headset shows; absent: none."),
    ] = None

    def __post_init__(self) -> None:
        if len(set(self.hands)) != len(self.hands):
            raise ValueError("each hand once")
        if self.app is not None and self.device != "phone":
            raise ValueError("a phone, for ARBot's app")
        if self.sight is not None and self.device != "headset":
            raise ValueError("a headset, for the robot's camera")

    @property
    def limbs(self) -> tuple[str, ...]:
        """Names of the hands."""
        return ("hand",) if self.device == "phone" else self.hands
