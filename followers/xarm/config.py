"""YAML settings of UFACTORY's arms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal

from annotated_types import Ge, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.plugin import FollowerSettings
from paprle.contracts.settings.robotiq import RobotiqSettings


@settings
class XArmConfig(FollowerSettings):
    """Address, stream, gripper, payload of each arm."""

    host: Annotated[str, doc("Address of the control box of a single arm.")] = (
        "192.168.1.203"
    )
    hosts: Annotated[
        Mapping[str, str],
        doc("The address of each limb by name, for robots of several arms."),
    ] = field(default_factory=dict)
    rate: Annotated[
        float, Ge(50), Le(250), Unit("Hz"), doc("How often it is written to.")
    ] = 200.0  # spec: user manual, 100 or 200 Hz; the box takes 250 at most
    lag: Annotated[
        float,
        Ge(0),
        Le(0.5),
        Unit("s"),
        doc("How far the arm is behind a moving command; identify it on your arm."),
    ] = 0.03  # measured: the emulated arm; a real arm differs
    gripper: Annotated[
        Literal["xarm", "bio"],
        doc("UFACTORY's gripper of limbs that have one: xArm or BIO gripper."),
    ] = "xarm"
    robotiq: Annotated[
        RobotiqSettings, doc("Robotiq gripper on a serial port in place of it.")
    ] = field(default_factory=RobotiqSettings)
    collision_sensitivity: Annotated[
        int | None,
        Ge(0),
        Le(5),
        doc("0 feels no collision, 5 the lightest; null: as set at the box."),
    ] = None
    payload: Annotated[
        float | None,
        Ge(0),
        Le(10),
        Unit("kg"),
        doc("Mass at the flange, gripper included; null: as set at the box."),
    ] = None
    payload_centre: Annotated[
        tuple[float, float, float],
        Unit("m"),
        doc("Centre of the payload in the frame of the flange."),
    ] = (0.0, 0.0, 0.0)
