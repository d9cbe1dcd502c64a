"""YAML settings of the PiPER's CAN bus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.plugin import FollowerSettings
from paprle.contracts.settings.robotiq import RobotiqSettings


@settings
class PiperConfig(FollowerSettings):
    """Connection of the arm, and its settings."""

    interface: Annotated[
        Literal["socketcan", "slcan", "emucan"],
        doc("Kind of CAN adapter; emucan: python -m paprle_emulators.piper."),
    ] = "socketcan"
    channel: Annotated[
        str,
        doc(
            "Network interface, its USB port (usb:1-2:1.0), serial port, or the "
            "emulated arm's socket."
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
    ] = 0.025
    gripper_torque: Annotated[
        float, Ge(0), Le(5), Unit("N·m"), doc("Largest torque of the gripper's motor.")
    ] = 1.0
    gripper_lever: Annotated[
        float,
        Gt(0),
        Le(1),
        Unit("m"),
        doc("From that torque to a finger's force; not published, only a scale."),
    ] = 0.025
    robotiq: Annotated[
        RobotiqSettings, doc("Robotiq gripper on a serial port of its own.")
    ] = field(default_factory=RobotiqSettings)
