"""YAML settings of a puppeteer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings


@settings
class ServoSettings:
    """A servo: q = sign · (angle − offset) / gear."""

    id: Annotated[int, Ge(0), Le(252), doc("Id on its bus.")]
    model: Annotated[str, doc("Model, for example xl330-m288.")]
    twin: Annotated[
        int | None,
        Ge(0),
        Le(252),
        doc("Id of a second servo at this joint, whose Secondary ID is this one's."),
    ] = None
    sign: Annotated[Literal[-1, 1], doc("1: the joint turns as the servo does.")] = 1
    offset: Annotated[
        float, Unit("rad"), doc("Angle of the servo at joint position 0.")
    ] = 0.0
    gear: Annotated[
        float, Gt(0), Le(100), Unit("1"), doc("Turns of the servo a turn of the joint.")
    ] = 1.0
    torque_map: Annotated[
        Literal["motor", "supply"] | None,
        doc("Which current it regulates, by paprle calibrate; absent: its model's."),
    ] = None
    torque_gain: Annotated[
        float,
        Ge(0.25),
        Le(4),
        Unit("1"),
        doc("Its torque over that of its model, by paprle calibrate."),
    ] = 1.0  # chosen: bounds, beyond which the model or the URDF is another one


@settings
class GripperServoSettings:
    """Servo of a gripper or trigger."""

    joint: Annotated[str, doc("Its joint in the leader's URDF.")]
    id: Annotated[int, Ge(0), Le(252), doc("Id on its bus.")]
    model: Annotated[str, doc("Model, for example xl330-m077.")]
    closed: Annotated[float, Unit("rad"), doc("Joint position at opening 0.")]
    open: Annotated[float, Unit("rad"), doc("Joint position at opening 1.")]
    sign: Annotated[Literal[-1, 1], doc("1: the joint turns as the servo does.")] = 1
    offset: Annotated[
        float, Unit("rad"), doc("Angle of the servo at joint position 0.")
    ] = 0.0
    gear: Annotated[
        float, Gt(0), Le(100), Unit("1"), doc("Turns of the servo a turn of the joint.")
    ] = 1.0
    torque_map: Annotated[
        Literal["motor", "supply"] | None,
        doc("Which current it regulates, by paprle calibrate; absent: its model's."),
    ] = None
    torque_gain: Annotated[
        float,
        Ge(0.25),
        Le(4),
        Unit("1"),
        doc("Its torque over that of its model, by paprle calibrate."),
    ] = 1.0  # chosen: bounds, beyond which the model or the URDF is another one


@settings
class PuppetSettings:
    """One arm: port, URDF and servos."""

    port: Annotated[str, doc("Serial port; several arms may share one.")]
    urdf: Annotated[str, Unit("path"), doc("URDF of this arm alone.")]
    base_link: Annotated[str, doc("Link in which its pose is expressed.")]
    eef_link: Annotated[str, doc("Link that the operator holds.")]
    servos: Annotated[
        Mapping[str, ServoSettings],
        doc("Servo of each joint of its URDF, from the base to the hand."),
    ]
    gripper: Annotated[
        GripperServoSettings | None, doc("Its gripper or trigger; absent: none.")
    ] = None
    base_rpy_xyz_extrinsic: Annotated[
        tuple[float, float, float],
        Unit("rad"),
        doc("How its base stands in the operator's axes: x forward, y left, z up."),
    ] = (0.0, 0.0, 0.0)
    calibration: Annotated[
        str,
        doc(
            "LeRobot's file of an arm of Feetech servos, or its name there "
            "(teleop.id); absent: what LeRobot has written to the servos."
        ),
    ] = ""
    reset_q: Annotated[
        tuple[float, ...],
        Unit("rad"),
        doc("Where the arm rests and episodes end; absent: joints at 0."),
    ] = ()


@settings
class PuppeteerConfig:
    """A rig of one or more arms."""

    limbs: Annotated[Mapping[str, PuppetSettings], doc("Its arms by limb name.")] = (
        field(default_factory=dict)
    )
    baud: Annotated[int, Ge(9600), Le(4_000_000), doc("Rate of the bus, [bit/s].")] = (
        4_000_000
    )
    rate: Annotated[
        float, Ge(50), Le(1000), Unit("Hz"), doc("Readings a second of each bus.")
    ] = 400.0
    timeout: Annotated[
        float,
        Ge(0.001),
        Le(0.1),
        Unit("s"),
        doc("How long a servo's reply may take; a servo silent for five is lost."),
    ] = 0.01  # chosen: an adapter takes 1 ms, a busy host some more
    on_loss: Annotated[
        Literal["stop", "go_on"],
        doc(
            "Of one arm. stop: all its limbs hold; go_on: its limb holds, the others "
            "are driven (D1)."
        ),
    ] = "stop"
    reset_box: Annotated[
        float,
        Gt(0),
        Le(1),
        Unit("rad"),
        doc("How near to reset_q each joint is at the end signal."),
    ] = 0.2  # chosen: an arm put back on its stand is within a few degrees
