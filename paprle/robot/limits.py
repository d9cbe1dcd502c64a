"""Limits and home of a robot, by URDF and settings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paprle.contracts.errors import suggest
from paprle.contracts.settings.core import LimbSettings, RobotSettings
from paprle.contracts.settings.jerk import LONGEST_TURNING
from paprle.contracts.settings.limits import LimitSettings
from paprle.contracts.types import LimbInfo, Vec, readonly
from paprle.robot.tree import UrdfJoint

HOME_MARGIN = 0.1  # chosen: share of the range a guessed home keeps from its limits
# spec: [1/s] libfranka, of all its joints: A turns around within 4 ms
_JERK_SHARE = 500.0
_BY_JOINT = ("q_min", "q_max", "dq_max", "ddq_max_joints", "dddq_max_joints")
_MARGIN_SHARE = 0.05  # chosen: a margin never takes more than this of a joint's range


def resolve_limits(
    joints: Sequence[UrdfJoint],
    limbs: Sequence[LimbInfo],
    settings: RobotSettings,
    limb_settings: Mapping[str, LimbSettings],
    problems: list[str],
) -> dict[str, Any]:
    """Return limits and home of all actuated joints, by the fields of ``RobotInfo``.

    V = min(limits.dq_max, velocity_scale · URDF). A = limits.ddq_max, for grippers V /
    gripper_time; J = limits.dddq_max, or 500 / s · A. ``ddq_max_joints``,
    ``dddq_max_joints`` and URDF bound both.
    """
    limits = settings.limits
    names = [joint.name for joint in joints]
    for key in _BY_JOINT:
        for name in getattr(limits, key):
            if name not in names:
                problems.append(
                    f"limits.{key}.{name}: expected an actuated joint; "
                    f"{suggest(name, names)}"
                )
    ranges = [_position_range(joint, limits, problems) for joint in joints]
    dq_max = [_velocity(joint, limits, problems) for joint in joints]
    grippers = {limb.gripper.joint for limb in limbs if limb.gripper}
    ddq_max = [
        min(
            dq / limits.gripper_time
            if joint.name in grippers
            else _accelerate(joint, limits),
            _find_own(joint, "ddq_max_joints", joint.acceleration, limits, problems),
        )
        for joint, dq in zip(joints, dq_max, strict=True)
    ]
    dddq_max = _jerks(joints, ddq_max, limits, problems)
    home = _home(dict(zip(names, ranges, strict=True)), limbs, settings, limb_settings)
    home.report(problems)
    found = {
        "q_min": [low for low, _ in ranges],
        "q_max": [high for _, high in ranges],
        "dq_max": dq_max,
        "ddq_max": ddq_max,
        "dddq_max": dddq_max,
        "home": [home.positions[name] for name in names],
    }
    return {name: readonly(values) for name, values in found.items()}


def _position_range(
    joint: UrdfJoint, limits: LimitSettings, problems: list[str]
) -> tuple[float, float]:
    low = limits.q_min.get(joint.name, joint.lower)
    high = limits.q_max.get(joint.name, joint.upper)
    if low < joint.lower or high > joint.upper:
        problems.append(
            f"limits of {joint.name}: expected within the URDF's {joint.lower:g} … "
            f"{joint.upper:g}, got {low:g} … {high:g}; settings may only tighten"
        )
        low, high = max(low, joint.lower), min(high, joint.upper)
    if not low < high:
        problems.append(
            f"limits of {joint.name}: expected q_min < q_max, got {low:g} and {high:g}"
        )
    return low, high


def _accelerate(joint: UrdfJoint, limits: LimitSettings) -> float:
    slides = joint.kind == "prismatic" and limits.ddq_max_sliding is not None
    return (limits.ddq_max_sliding or 0.0) if slides else limits.ddq_max


def _find_own(
    joint: UrdfJoint,
    key: str,
    most: float,
    limits: LimitSettings,
    problems: list[str],
) -> float:
    given: float | None = getattr(limits, key).get(joint.name)
    if given is not None and given > most:
        problems.append(
            f"limits.{key}.{joint.name}: expected at most the URDF's {most:g}, got "
            f"{given:g}; settings may only tighten"
        )
    return most if given is None else min(given, most)


def _jerks(
    joints: Sequence[UrdfJoint],
    ddq_max: Sequence[float],
    limits: LimitSettings,
    problems: list[str],
) -> list[float]:
    found: list[float] = []
    short: dict[str, tuple[float, float]] = {}
    for joint, A in zip(joints, ddq_max, strict=True):
        own = _find_own(joint, "dddq_max_joints", joint.jerk, limits, problems)
        key, J = f"limits.dddq_max_joints.{joint.name}", own
        if limits.dddq_max is not None and limits.dddq_max < own:
            key, J = "limits.dddq_max", limits.dddq_max
        least = 2.0 * A / LONGEST_TURNING
        if least > J:
            short[key] = max(least, short.get(key, (0.0, J))[0]), J
        found.append(J if math.isfinite(J) else _JERK_SHARE * A)
    for key, (least, J) in short.items():
        problems.append(
            f"{key}: expected at least {least:g}, which turns the acceleration around "
            f"within {LONGEST_TURNING:g} s, got {J:g}"
        )
    return found


def _velocity(joint: UrdfJoint, limits: LimitSettings, problems: list[str]) -> float:
    given = limits.dq_max.get(joint.name)
    if given is not None and not given > 0:
        problems.append(f"limits.dq_max.{joint.name}: expected above 0, got {given:g}")
        return math.nan
    if joint.velocity > 0:
        if given is not None and given > joint.velocity:
            problems.append(
                f"limits.dq_max.{joint.name}: expected at most the URDF's "
                f"{joint.velocity:g}, got {given:g}; settings may only tighten"
            )
        scaled = limits.velocity_scale * joint.velocity
        return scaled if given is None else min(given, scaled)
    if given is None:
        problems.append(
            f"joint {joint.name}: expected a velocity limit above 0 in the URDF, got "
            f"{joint.velocity:g}; set limits.dq_max.{joint.name} in the robot's YAML, "
            "or in Python RobotModel.from_settings with "
            f"LimitSettings(dq_max={{{joint.name!r}: …}}) (docs/library.md)"
        )
        return math.nan
    return given


@dataclass(slots=True)
class _Home:
    positions: dict[str, float]
    ranges: Mapping[str, tuple[float, float]]
    keys: dict[str, str]
    strangers: list[str]

    def report(self, problems: list[str]) -> None:
        problems += self.strangers
        for name, key in self.keys.items():
            low, high = self.ranges[name]
            if not low <= self.positions[name] <= high:
                problems.append(
                    f"{key}: expected {name} within {low:g} … {high:g}, got "
                    f"{self.positions[name]:g}"
                )


def _home(
    ranges: Mapping[str, tuple[float, float]],
    limbs: Sequence[LimbInfo],
    settings: RobotSettings,
    limb_settings: Mapping[str, LimbSettings],
) -> _Home:
    home = _Home({n: default_home(*r) for n, r in ranges.items()}, ranges, {}, [])
    taken = set()
    for limb in limbs:
        given = limb_settings[limb.name]
        taken |= set(limb.joint_names)
        if given.home is not None:
            for name, q in zip(
                given.joints or limb.joint_names, given.home, strict=True
            ):
                home.positions[name] = q
                home.keys[name] = f"limbs.{limb.name}.home"
        if limb.gripper is not None:
            taken.add(limb.gripper.joint)
            home.positions[limb.gripper.joint] = limb.gripper.open
            home.keys[limb.gripper.joint] = f"limbs.{limb.name}.gripper.open"
            low, high = ranges[limb.gripper.joint]
            if not low <= limb.gripper.closed <= high:
                home.strangers.append(
                    f"limbs.{limb.name}.gripper.closed: expected within {low:g} … "
                    f"{high:g}, got {limb.gripper.closed:g}"
                )
    for name, q in settings.hold.items():
        if name in taken or name not in ranges:
            free = [n for n in ranges if n not in taken]
            home.strangers.append(
                f"hold.{name}: expected a joint in no limb; {suggest(name, free)}"
            )
            continue
        home.positions[name] = q
        home.keys[name] = f"hold.{name}"
    return home


def find_margin(q_min: Vec, q_max: Vec, asked: float) -> Vec:
    """Return the margin to position limits (M2), (n,), [rad] or [m]."""
    margin: Vec = np.minimum(asked, _MARGIN_SHARE * (q_max - q_min))
    return margin


def default_home(low: float, high: float) -> float:
    """Return 0, or the nearest position 10 % of the range off limits."""
    if not math.isfinite(high - low):
        return min(max(0.0, low), high)
    margin = HOME_MARGIN * (high - low)
    return min(max(0.0, low + margin), high - margin)
