"""YAML settings of Sextant's arms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated

from annotated_types import Ge, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.plugin import FollowerSettings
from paprle.contracts.settings.robotiq import RobotiqSettings


@settings
class SextantConfig(FollowerSettings):
    """Address, stream, payload, gripper of each arm."""

    host: Annotated[str, doc("Address of the controller of a single arm.")] = (
        "192.168.7.1"
    )
    hosts: Annotated[
        Mapping[str, str],
        doc("The address of each limb by name, for robots of several arms."),
    ] = field(default_factory=dict)
    rate: Annotated[
        float, Ge(50), Le(250), Unit("Hz"), doc("How often it is written to.")
    ] = 200.0
    lag: Annotated[
        float,
        Ge(0),
        Le(0.5),
        Unit("s"),
        doc("How far the arm is behind a moving command."),
    ] = 0.04  # spec: 2/ω of the emulated joint, and a cycle
    watchdog: Annotated[
        float,
        Ge(0.05),
        Le(1.0),
        Unit("s"),
        doc("Longest silence before the controller ends its program and holds."),
    ] = 0.2
    payload: Annotated[
        float | None,
        Ge(0),
        Le(6),
        Unit("kg"),
        doc("Mass at the flange; null: as set at the controller."),
    ] = None
    payload_centre: Annotated[
        tuple[float, float, float],
        Unit("m"),
        doc("Centre of the payload in the frame of the flange."),
    ] = (0.0, 0.0, 0.0)
    robotiq: Annotated[
        RobotiqSettings, doc("Robotiq gripper of limbs that have one.")
    ] = field(default_factory=RobotiqSettings)
