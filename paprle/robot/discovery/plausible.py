"""Doubts about numbers, such as degrees for radians."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from paprle.contracts.types import RobotInfo
from paprle.robot.discovery.masses import list_mass_doubts
from paprle.robot.tree import Urdf, UrdfJoint

# chosen: [rad] the widest turning joints of industrial arms reach 455° (7.9 rad)
_WIDEST = 3.1 * math.pi
# chosen: [rad] three turns in degrees; beyond, the URDF states that there is no limit
_WIDEST_IN_DEGREES = 1080.0
_LONGEST = 5.0  # chosen: [m] longer than the rail of any arm but a gantry's
_QUICKEST = {"revolute": 50.0, "continuous": 50.0, "prismatic": 10.0}
"""chosen: [rad/s or m/s] above this a stated limit means that there is none."""
_TURN = 2.0 * math.pi
_FAR = 5.0  # chosen: [m] no link of an arm is as long
_DOUBTFUL = {"revolute": 20.0, "continuous": 20.0, "prismatic": 8.0}
"""chosen: [rad/s or m/s] the quickest wrist of an industrial arm turns at 16 rad/s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherUnit:
    """Limits of a joint, [rad] or [m], read in units of ``per_unit``."""

    lower: float
    upper: float
    per_unit: float
    reason: str


def read_in_other_unit(joint: UrdfJoint) -> OtherUnit | None:
    """Return a joint's limits if in degrees or millimetres."""
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
    """Return whether a velocity limit is implausible."""
    return joint.velocity > _QUICKEST[joint.kind]


def list_doubts(info: RobotInfo, urdf: Urdf) -> list[str]:
    """Return doubts about a robot."""
    found: dict[str, list[str]] = {}
    for i, joint in enumerate(joint for joint in urdf.joints if joint.is_actuated):
        low, high = float(info.q_min[i]), float(info.q_max[i])
        for doubt in _doubt_joint(joint, low, high, float(info.home[i])):
            found.setdefault(doubt, []).append(joint.name)
        if info.dq_max[i] >= _DOUBTFUL[joint.kind]:
            unit = "m/s" if joint.kind == "prismatic" else "rad/s"
            other = "millimetres" if joint.kind == "prismatic" else "degrees"
            doubt = (
                f"it may move at {info.dq_max[i]:g} {unit}: is the URDF's velocity "
                f"limit in {other}? set limits.dq_max in the robot's YAML"
            )
            found.setdefault(doubt, []).append(joint.name)
    joints = [f"joint {', '.join(names)}: {doubt}" for doubt, names in found.items()]
    far = [
        f"{joint.name} {distance:g} m"
        for joint in urdf.joints
        if (distance := float(np.linalg.norm(joint.T_parent_joint.translation))) > _FAR
    ]
    origins = (
        [
            f"joints far from the one before: {', '.join(far)}; are these millimetres "
            "or centimetres?"
        ]
        if far
        else []
    )
    return [*urdf.notes, *joints, *origins, *list_mass_doubts(urdf)]


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
