"""YAML settings of arms of Damiao motors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal

from annotated_types import Ge, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.plugin import FollowerSettings
from paprle.contracts.settings.robotiq import RobotiqSettings


@settings
class DamiaoConfig(FollowerSettings):
    """Connection of the arm, and its settings."""

    model: Annotated[
        Literal["openarm", "yam"],
        doc("Motors, gains and gripper; each robot's YAML names its own."),
    ] = "openarm"
    interface: Annotated[
        Literal["socketcan", "emucan"],
        doc("Kind of CAN adapter; emucan: paprle-emulate damiao."),
    ] = "socketcan"
    channel: Annotated[
        str,
        doc(
            "Network interface, its USB port (usb:1-2:1.0), or the emulated arm's "
            "socket."
        ),
    ] = "can0"
    channels: Annotated[
        Mapping[str, str],
        doc("The channel of each limb by name, for robots of several arms."),
    ] = field(default_factory=dict)
    rate: Annotated[
        float, Ge(50), Le(250), Unit("Hz"), doc("How often it is written to.")
    ] = 200.0
    lag: Annotated[
        float,
        Ge(0),
        Le(0.5),
        Unit("s"),
        doc("How far the arm is behind a moving command; identify it on your arm."),
    ] = 0.05
    timeout: Annotated[
        float,
        Ge(0.1),
        Le(1.0),
        Unit("s"),
        doc("Longest silence before the motors give up their torque and brake."),
    ] = 0.4
    descent: Annotated[
        float,
        Ge(0),
        Le(2.5),
        Unit("s"),
        doc("Slow descent at the end, before the motors brake by themselves."),
    ] = 2.5
    robotiq: Annotated[
        RobotiqSettings, doc("Robotiq gripper on a serial port of its own.")
    ] = field(default_factory=RobotiqSettings)
