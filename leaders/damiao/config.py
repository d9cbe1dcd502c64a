"""YAML settings of leaders of Damiao motors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings
from paprle.contracts.settings.plugin import DescentSettings


@settings
class LimbSettings:
    """One arm: channel and description."""

    channel: Annotated[
        str,
        doc(
            "Network interface, its USB port (usb:1-2:1.0), or the emulated arm's "
            "socket."
        ),
    ]
    urdf: Annotated[str, Unit("path"), doc("URDF of this arm, with its masses.")]
    base_link: Annotated[str, doc("Link in which its pose is expressed.")]
    eef_link: Annotated[str, doc("Link that the operator holds.")]
    joints: Annotated[
        tuple[str, ...], doc("Joints of its URDF, by motor, from the base to the hand.")
    ]
    gripper: Annotated[str, doc("Joint of its URDF that turns as the gripper's motor.")]
    base_rpy_xyz_extrinsic: Annotated[
        tuple[float, float, float],
        Unit("rad"),
        doc("How its base stands in the operator's axes: x forward, y left, z up."),
    ] = (0.0, 0.0, 0.0)
    reset_q: Annotated[
        tuple[float, ...],
        Unit("rad"),
        doc("Where the arm rests and episodes end; absent: joints at 0."),
    ] = ()


@settings
class DamiaoLeaderConfig(DescentSettings):
    """A leader of one or more arms."""

    model: Annotated[
        Literal["openarm", "yam"], doc("Motors, damping and gripper of its arms.")
    ] = "openarm"
    interface: Annotated[
        Literal["socketcan", "emucan"],
        doc("Kind of CAN adapter; emucan: paprle-emulate damiao."),
    ] = "socketcan"
    limbs: Annotated[Mapping[str, LimbSettings], doc("Its arms by limb name.")] = field(
        default_factory=dict
    )
    rate: Annotated[
        float, Ge(100), Le(250), Unit("Hz"), doc("Torques and readings a second.")
    ] = 200.0
    timeout: Annotated[
        float,
        Ge(0.1),
        Le(1.0),
        Unit("s"),
        doc("Longest silence before the motors give up their torque and brake."),
    ] = 0.4
    reset_box: Annotated[
        float,
        Gt(0),
        Le(1),
        Unit("rad"),
        doc("How near to reset_q each joint is at the end signal."),
    ] = 0.2  # chosen: an arm put back on its stand is within a few degrees
