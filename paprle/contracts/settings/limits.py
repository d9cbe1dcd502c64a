"""Limits of a robot's joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated

from annotated_types import Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings


@settings
class LimitSettings:
    """Limits of the robot; they may only tighten the URDF's."""

    velocity_scale: Annotated[
        float, Gt(0), Le(1), Unit("1"), doc("Share of the URDF's velocity limits used.")
    ] = 0.8
    q_min: Annotated[
        Mapping[str, float], Unit("rad or m"), doc("Tighter lower limits by joint.")
    ] = field(default_factory=dict)
    q_max: Annotated[
        Mapping[str, float], Unit("rad or m"), doc("Tighter upper limits by joint.")
    ] = field(default_factory=dict)
    dq_max: Annotated[
        Mapping[str, float],
        Unit("rad/s or m/s"),
        doc("Velocity limits by joint; needed where the URDF has none."),
    ] = field(default_factory=dict)
    ddq_max: Annotated[
        float, Gt(0), Unit("rad/s²"), doc("Acceleration limit of all arm joints.")
    ] = 10.0
    ddq_max_joints: Annotated[
        Mapping[str, Annotated[float, Gt(0)]],
        Unit("rad/s² or m/s²"),
        doc("Lower acceleration limits by joint."),
    ] = field(default_factory=dict)
    ddq_max_sliding: Annotated[
        float | None,
        Gt(0),
        Unit("m/s²"),
        doc("That of joints that slide; ddq_max when absent."),
    ] = None
    dddq_max: Annotated[
        float | None,
        Gt(0),
        Unit("rad/s³"),
        doc(
            "Jerk limit of all joints; 500 times the acceleration limit when absent. "
            "A command is late by the acceleration limit divided by it: 1e9 is none."
        ),
    ] = None
    dddq_max_joints: Annotated[
        Mapping[str, Annotated[float, Gt(0)]],
        Unit("rad/s³ or m/s³"),
        doc("Jerk limits by joint; dddq_max may be lower, and lifts none of them."),
    ] = field(default_factory=dict)
    gripper_time: Annotated[
        float,
        Gt(0),
        Unit("s"),
        doc("Time a gripper takes to reach its top speed; sets its acceleration."),
    ] = 0.1
