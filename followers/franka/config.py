"""YAML settings of Franka's arms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated

from annotated_types import Ge, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.plugin import FollowerSettings
from paprle.contracts.settings.robotiq import RobotiqSettings


@settings
class FrankaConfig(FollowerSettings):
    """Address, stream, hand and thresholds of each arm."""

    host: Annotated[str, doc("Address of the control unit of a single arm.")] = (
        "172.16.0.2"
    )
    hosts: Annotated[
        Mapping[str, str],
        doc("The address of each limb by name, for robots of several arms."),
    ] = field(default_factory=dict)
    rate: Annotated[
        float,
        Ge(100),
        Le(500),
        Unit("Hz"),
        doc("How often it is written to; the driver commands the arm at 1 kHz."),
    ] = 200.0  # chosen: the arm's lag falls by a few ms at 500
    lag: Annotated[
        float,
        Ge(0),
        Le(0.5),
        Unit("s"),
        doc("How far the arm is behind a moving command; identify it on your arm."),
    ] = 0.025  # measured: 17 ms of goals in reserve and the spline; chosen: the rest
    hand: Annotated[
        bool, doc("Whether the Franka Hand of limbs with a gripper is commanded.")
    ] = True
    robotiq: Annotated[
        RobotiqSettings, doc("Robotiq gripper on a serial port in place of it.")
    ] = field(default_factory=RobotiqSettings)
    grasp_force: Annotated[
        float, Ge(5), Le(70), Unit("N"), doc("Of the hand when it closes.")
    ] = 40.0  # chosen: middle of the 30 to 70 N of the product manual
    collision_torque: Annotated[
        float | None,
        Ge(1),
        Le(100),
        Unit("N·m"),
        doc("Of each joint, beyond which it is a reflex; null: as set at the unit."),
    ] = None
    collision_force: Annotated[
        float,
        Ge(1),
        Le(200),
        Unit("N"),
        doc("Of each axis at the tool, with collision_torque (torques: N·m)."),
    ] = 20.0  # spec: libfranka, examples' collision behaviour
