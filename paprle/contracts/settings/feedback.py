"""Settings of force feedback."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Any

from annotated_types import Ge, Gt, Le, Unit, doc

from paprle.contracts.settings.base import settings

LagPart = Annotated[float, Ge(0), Le(1)]


@settings
class LawSettings:
    """Settings of every feedback law."""

    weight: Annotated[
        float, Ge(0), Unit("1"), doc("Its torques are multiplied by this.")
    ] = 1.0


@settings
class RigOrigin:
    """Leader, follower and env to which measurements apply; any where unnamed."""

    leader: Annotated[str, doc("Whose loop_delay, viscous and coulomb these are.")] = ""
    follower: Annotated[
        str, doc("Whose dead_time, time_constant and lags these are.")
    ] = ""
    env: Annotated[str, doc("In which env they were measured.")] = ""


@settings
class RigSettings:
    """Measurements of a rig by ``paprle identify``; defaults are cautious guesses."""

    loop_delay: Annotated[
        float,
        Ge(0),
        Le(1),
        Unit("s"),
        doc("T_d: from the leader's motion to the torque that answers it."),
    ] = 0.012
    leader_delay: Annotated[
        float | None,
        Ge(0),
        Le(1),
        Unit("s"),
        doc("The part of T_d that is the leader's own bus; absent: half of it."),
    ] = None
    dead_time: Annotated[
        float, Ge(0), Le(1), Unit("s"), doc("The follower's dead time.")
    ] = 0.02
    time_constant: Annotated[
        float, Ge(0), Le(1), Unit("s"), doc("The follower's first-order lag.")
    ] = 0.04
    lags: Annotated[
        Mapping[str, tuple[LagPart, LagPart]],
        Unit("s"),
        doc("Dead time and time constant of follower joints that have their own."),
    ] = field(default_factory=dict)
    lag_spread: Annotated[
        float,
        Ge(0),
        Le(1),
        Unit("1"),
        doc("Share by which the lag may be learnt to differ, in free motion alone."),
    ] = 0.25
    damping: Annotated[
        float,
        Gt(0),
        Unit("N·m·s/rad"),
        doc("Viscous friction of joints neither viscous nor the URDF gives."),
    ] = 0.05
    viscous: Annotated[
        Mapping[str, Annotated[float, Gt(0)]],
        Unit("N·m·s/rad"),
        doc("Viscous friction by leader joint, limb/joint."),
    ] = field(default_factory=dict)
    coulomb: Annotated[
        Mapping[str, Annotated[float, Gt(0)]],
        Unit("N·m"),
        doc("Dry friction by leader joint."),
    ] = field(default_factory=dict)
    drive_stiffness: Annotated[
        Mapping[str, Annotated[float, Gt(0)]],
        Unit("N·m/rad"),
        doc("Of the drives by follower joint: measured effort over position error."),
    ] = field(default_factory=dict)
    measured_with: RigOrigin = field(default_factory=RigOrigin)


@settings
class FeedbackSettings:
    """Settings of the feedback that the operator feels (docs/feedback.md)."""

    rate: Annotated[
        float, Ge(50), Le(1000), Unit("Hz"), doc("Rate of the feedback thread.")
    ] = 400.0
    stale_after: Annotated[
        float, Gt(0), Le(0.05), Unit("s"), doc("Data older than this is not felt (F1).")
    ] = 0.05
    ramp: Annotated[
        float, Ge(0.05), Le(10), Unit("s"), doc("Torques come in over this time.")
    ] = 0.5
    torque_share: Annotated[
        float,
        Gt(0),
        Le(0.3),
        Unit("1"),
        doc("Torque cap over the motor's effort (F1)."),
    ] = 0.3
    torque_cap: Annotated[
        Mapping[str, float], Unit("N·m"), doc("Lower caps by leader joint, limb/joint.")
    ] = field(default_factory=dict)
    torque_rise: Annotated[
        float, Ge(0.005), Le(1), Unit("s"), doc("Time from zero to the cap (F1).")
    ] = 0.03
    handle_force: Annotated[
        float, Gt(0), Le(15), Unit("N"), doc("Largest force at the handle (F1).")
    ] = 10.0
    overspeed: Annotated[
        float, Gt(0), Unit("rad/s"), doc("A faster leader is only damped (F4).")
    ] = 8.0
    base: Annotated[
        Mapping[str, tuple[float, ...]],
        Unit("rad"),
        doc("Where a leader limb rests, arm, then gripper; absent: its reset pose."),
    ] = field(default_factory=dict)
    touch_effort: Annotated[
        float,
        Gt(0),
        Unit("N·m"),
        doc(
            "Effort of a follower's joint, beyond that of free motion, at which "
            "leaders without motors feel contact fully."
        ),
    ] = 40.0  # chosen: 100 N at 0.4 m, where an arm of 5 kg payload gives up
    rig: Annotated[RigSettings, doc("What was measured of the rig.")] = field(
        default_factory=RigSettings
    )
    laws: Annotated[Any, doc("Laws by name; null switches one off.")] = None
