"""YAML settings of Universal Robots' arms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated

from annotated_types import Ge, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.plugin import FollowerSettings
from paprle.contracts.settings.robotiq import RobotiqSettings


@settings
class UrConfig(FollowerSettings):
    """Address, stream, payload, gripper of each arm."""

    host: Annotated[str, doc("Address of the controller of a single arm.")] = (
        "192.168.1.10"
    )
    hosts: Annotated[
        Mapping[str, str],
        doc("The address of each limb by name, for robots of several arms."),
    ] = field(default_factory=dict)
    rate: Annotated[
        float, Ge(50), Le(500), Unit("Hz"), doc("How often it is written to.")
    ] = 500.0
    lag: Annotated[
        float,
        Ge(0),
        Le(0.5),
        Unit("s"),
        doc("How far the arm is behind a moving command; identify it on your arm."),
    ] = 0.04  # measured: the emulated arm; a real arm differs
    lookahead_time: Annotated[
        float,
        Ge(0.03),
        Le(0.2),
        Unit("s"),
        doc("Look-ahead of servoj; longer is smoother and further behind."),
    ] = 0.03  # spec: servoj's shortest
    gain: Annotated[
        float, Ge(100), Le(2000), Unit("1"), doc("Gain of servoj; more is stiffer.")
    ] = 300.0  # spec: servoj's default
    watchdog: Annotated[
        float,
        Ge(0.02),
        Le(0.5),
        Unit("s"),
        doc("Longest silence before the controller ends its program and holds."),
    ] = 0.2
    payload: Annotated[
        float,
        Ge(0),
        Le(35),
        Unit("kg"),
        doc("Mass at the flange; 0: as installed at the pendant."),
    ] = 0.0
    payload_centre: Annotated[
        tuple[float, float, float],
        Unit("m"),
        doc("Centre of the payload in the frame of the flange."),
    ] = (0.0, 0.0, 0.0)
    freedrive_input: Annotated[
        int | None,
        Ge(0),
        Le(17),
        doc(
            "Digital input of a button at the arm, which is led by hand while it is "
            "pressed: 0 to 7 standard, 8 to 15 configurable, 16 and 17 tool."
        ),
    ] = None
    robotiq: Annotated[
        RobotiqSettings, doc("Robotiq gripper of limbs that have one.")
    ] = field(default_factory=RobotiqSettings)
