"""YAML settings of arms on Dynamixel buses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.plugin import FollowerSettings
from paprle.contracts.settings.robotiq import RobotiqSettings


@settings
class DynamixelConfig(FollowerSettings):
    """Ports and servos of each arm."""

    port: Annotated[str, doc("Serial port of a single arm.")] = "/dev/ttyUSB0"
    ports: Annotated[
        Mapping[str, str],
        doc("The port of each limb by name, for robots of several arms."),
    ] = field(default_factory=dict)
    ids: Annotated[
        Mapping[str, int],
        doc("Servo id of each joint; absent: 1, 2 … in the order of the limb."),
    ] = field(default_factory=dict)
    twins: Annotated[
        Mapping[str, int],
        doc("Id of the second servo of a joint, which also obeys the first one's id."),
    ] = field(default_factory=dict)
    model: Annotated[str, doc("Servo model of joints that `models` lacks.")] = (
        "xm430-w350"
    )
    models: Annotated[Mapping[str, str], doc("Servo model of each joint.")] = field(
        default_factory=dict
    )
    reversed: Annotated[
        tuple[str, ...],
        doc("Joints that turn clockwise, seen on the horn, as their position rises."),
    ] = ()
    offsets: Annotated[
        Mapping[str, float],
        Unit("rad"),
        doc("Angle of the servo at joint position 0, from count 2048; absent: 0."),
    ] = field(default_factory=dict)
    gripper_closed: Annotated[
        float, Unit("rad"), doc("Angle of the gripper's servo where it is closed.")
    ] = 0.0
    gripper_open: Annotated[
        float, Unit("rad"), doc("Angle of the gripper's servo where it is open.")
    ] = 1.0
    baud: Annotated[int, Ge(9600), Le(4_000_000), doc("Rate of the bus, [bit/s].")] = (
        1_000_000
    )
    rate: Annotated[
        float, Ge(30), Le(400), Unit("Hz"), doc("How often it is written to.")
    ] = 200.0
    lag: Annotated[
        float,
        Ge(0),
        Le(0.5),
        Unit("s"),
        doc("How far the arm is behind a moving command; identify it on your arm."),
    ] = 0.05  # chosen: between the emulated arms; a real arm differs
    sag: Annotated[
        float,
        Ge(0),
        Le(0.2),
        Unit("rad"),
        doc("How far a joint hangs below its command by weight; this is no fault."),
    ] = 0.1  # chosen: the stretched ViperX at a P gain of 800, by its weight: 0.1 rad
    timeout: Annotated[
        float,
        Ge(0.002),
        Le(0.05),
        Unit("s"),
        doc("How long a servo may take to answer."),
    ] = 0.01
    gripper_torque_limit: Annotated[
        float,
        Gt(0),
        Le(1),
        Unit("1"),
        doc("Largest current or PWM of the gripper's servo, of all it has."),
    ] = 0.3  # chosen: a stalled servo at half of its current shuts down in seconds
    robotiq: Annotated[
        RobotiqSettings, doc("Robotiq gripper on a serial port of its own.")
    ] = field(default_factory=RobotiqSettings)
