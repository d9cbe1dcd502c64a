"""YAML settings of arms on Feetech buses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.plugin import FollowerSettings
from paprle.contracts.settings.robotiq import RobotiqSettings


@settings
class FeetechConfig(FollowerSettings):
    """Ports, servos and calibration of each arm."""

    port: Annotated[str, doc("Serial port of a single arm.")] = "/dev/ttyACM0"
    ports: Annotated[
        Mapping[str, str],
        doc("The port of each limb by name, for robots of several arms."),
    ] = field(default_factory=dict)
    ids: Annotated[
        Mapping[str, int],
        doc("Servo id of each joint; absent: 1, 2 … in the order of the limb."),
    ] = field(default_factory=dict)
    middles: Annotated[
        Mapping[str, float],
        Unit("rad"),
        doc("Joint position in the middle of its calibrated range; absent: 0."),
    ] = field(default_factory=dict)
    calibration: Annotated[
        str,
        doc(
            "LeRobot's file of a single arm, or its name there (robot.id); absent: "
            "what LeRobot has written to the servos."
        ),
    ] = ""
    calibrations: Annotated[
        Mapping[str, str],
        doc("The calibration of each limb by name, for robots of several arms."),
    ] = field(default_factory=dict)
    baud: Annotated[int, Ge(9600), Le(1_000_000), doc("Rate of the bus, [bit/s].")] = (
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
    ] = 0.1  # measured: the emulated arm at LeRobot's gains; a real arm differs
    sag: Annotated[
        float,
        Ge(0),
        Le(0.2),
        Unit("rad"),
        doc("How far a joint hangs below its command by weight; this is no fault."),
    ] = 0.06  # measured: the emulated arm at LeRobot's gains, 3°; a real arm differs
    timeout: Annotated[
        float,
        Ge(0.002),
        Le(0.1),
        Unit("s"),
        doc("How long a servo may take to answer."),
    ] = 0.02
    torque_limit: Annotated[
        float,
        Gt(0),
        Le(1),
        Unit("1"),
        doc("Largest torque of the arm's servos, of all they have."),
    ] = 1.0
    gripper_torque_limit: Annotated[
        float,
        Gt(0),
        Le(1),
        Unit("1"),
        doc("Largest torque of the gripper's servo, likewise."),
    ] = 0.5  # spec: LeRobot's SO followers: a stalled gripper burns out
    torque_constant: Annotated[
        float,
        Gt(0),
        Le(10),
        Unit("N·m/A"),
        doc("Torque of a servo by its current; 0.78 for the 7.4 V model."),
    ] = 1.08  # spec: datasheet ST-3215-C018: 11 kg·cm/A
    robotiq: Annotated[
        RobotiqSettings, doc("Robotiq gripper on a serial port of its own.")
    ] = field(default_factory=RobotiqSettings)
