"""Numbers of a robot that no robot has: degrees for radians, millimetres for metres.

A URDF tells no units. Each doubt is a sentence for the person who knows the robot;
nothing here refuses a robot.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from paprle.contracts.types import RobotInfo
from paprle.robot.tree import UrdfJoint

# chosen: [rad] the widest turning joints of industrial arms reach 455° (7.9 rad)
_WIDEST = 3.0 * math.pi
# chosen: [rad] three turns in degrees; beyond, the URDF states that there is no limit
_WIDEST_IN_DEGREES = 1080.0
_LONGEST = 5.0  # chosen: [m] longer than the rail of any arm but a gantry's
_QUICKEST = {"revolute": 50.0, "continuous": 50.0, "prismatic": 10.0}
"""chosen: [rad/s or m/s] above this a stated limit means that there is none."""
_TURN = 2.0 * math.pi


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherUnit:
    """Limits of a joint, read in another unit.

    Attributes:
        lower: Lower limit, [rad] or [m].
        upper: Upper limit.
        per_unit: What one unit of the URDF is, [rad] or [m].
        reason: What the URDF says and how it is read, for the operator.
    """

    lower: float
    upper: float
    per_unit: float
    reason: str


def read_in_other_unit(joint: UrdfJoint) -> OtherUnit | None:
    """Return the limits that a joint has in degrees, or millimetres; None: none."""
    most = max(abs(joint.lower), abs(joint.upper))
    if joint.kind == "revolute" and _WIDEST < most <= _WIDEST_IN_DEGREES:
        per_unit, unit, other = math.pi / 180.0, "rad", "degrees"
    elif joint.kind == "prismatic" and _LONGEST < most < math.inf:
        per_unit, unit, other = 1e-3, "m", "millimetres"
    else:
        return None
    return OtherUnit(
        lower=joint.lower * per_unit,
        upper=joint.upper * per_unit,
        per_unit=per_unit,
        reason=f"the URDF's limits {joint.lower:g} … {joint.upper:g} {unit} look like "
        f"{other}",
    )


def is_too_quick(joint: UrdfJoint) -> bool:
    """Return whether a stated velocity limit is none."""
    return joint.velocity > _QUICKEST[joint.kind]


def list_doubts(info: RobotInfo, joints: Sequence[UrdfJoint]) -> list[str]:
    """Return what cannot be true of a robot, as a session would move it.

    Args:
        info: The robot, its limits tightened by its settings.
        joints: Its actuated joints, as the URDF has them, in the same order.
    """
    found: dict[str, list[str]] = {}
    for i, joint in enumerate(joints):
        low, high = float(info.q_min[i]), float(info.q_max[i])
        for doubt in _doubt_joint(joint, low, high, float(info.home[i])):
            found.setdefault(doubt, []).append(joint.name)
        if info.dq_max[i] >= 0.8 * _QUICKEST[joint.kind]:
            unit = "m/s" if joint.kind == "prismatic" else "rad/s"
            other = "millimetres" if joint.kind == "prismatic" else "degrees"
            doubt = (
                f"it may move at {info.dq_max[i]:g} {unit}: is the URDF's velocity "
                f"limit in {other}? set limits.dq_max in the robot's YAML"
            )
            found.setdefault(doubt, []).append(joint.name)
    return [f"joint {', '.join(names)}: {doubt}" for doubt, names in found.items()]


def _doubt_joint(
    joint: UrdfJoint, low: float, high: float, home: float
) -> Iterator[str]:
    other = read_in_other_unit(joint)
    if other is not None:
        is_kept = (low, high) == (joint.lower, joint.upper)
        taken = f"they are taken as {low:.4g} … {high:.4g}: correct the URDF"
        would = f"that would be {other.lower:.4g} … {other.upper:.4g}: correct the URDF"
        yield (
            f"{other.reason}; "
            + (f"{would}, or set limits.q_min and limits.q_max" if is_kept else taken)
        )
    if joint.kind == "revolute" and max(-joint.lower, joint.upper) > _WIDEST_IN_DEGREES:
        yield (
            f"the URDF's limits {joint.lower:g} … {joint.upper:g} rad limit nothing: "
            "set limits.q_min and limits.q_max if the joint has stops or cables"
        )
    if joint.kind != "prismatic" and abs(home) > _TURN:
        yield (
            f"home is {home:.4g} rad, {abs(home) / _TURN:.2g} turns: is it in degrees?"
        )
