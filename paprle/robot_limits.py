"""Limits and home of a robot: its URDF's, tightened by its settings.

Everything that is wrong goes into one list of problems, so that a user sees all of it
at once.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from paprle.robot_chain import Step, chain_between
from paprle.robot_tree import Urdf, UrdfJoint
from paprle.settings import GripperSettings, LimbSettings, LimitSettings, RobotSettings
from paprle.types import GripperInfo, LimbInfo, Vec, readonly

HOME_MARGIN = 0.1  # chosen: share of the range a guessed home keeps from its limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Vectors of shape (n,), in the order of the robot's joints, SI units."""

    q_min: Vec
    q_max: Vec
    dq_max: Vec
    ddq_max: Vec
    home: Vec


def suggest(name: str, existing: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the nearest that exists."""
    names = list(existing)
    near = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"


class LimbResolver:
    """Checks limb settings against a URDF.

    Attributes:
        problems: What was found wrong.
        steps: The way from base to eef, by limb.
    """

    def __init__(self, urdf: Urdf, problems: list[str]) -> None:
        self.urdf = urdf
        self.problems = problems
        self.steps: dict[str, list[Step]] = {}
        self._actuated = {j.name: j for j in urdf.joints if j.is_actuated}
        self._owner: dict[str, str] = {}

    def resolve(self, limbs: Mapping[str, LimbSettings]) -> tuple[LimbInfo, ...]:
        """Return the limbs that are right; problems tell of the others."""
        grippers = {s.gripper.joint for s in limbs.values() if s.gripper}
        found = [self._limb(name, s, grippers) for name, s in limbs.items()]
        return tuple(limb for limb in found if limb is not None)

    def _limb(
        self, name: str, settings: LimbSettings, grippers: set[str]
    ) -> LimbInfo | None:
        where = f"limbs.{name}"
        n_before = len(self.problems)
        for key in ("base_link", "eef_link"):
            link = getattr(settings, key)
            if link not in self.urdf.links:
                self.problems.append(
                    f"{where}.{key}: expected a link of {self.urdf.path.name}, got "
                    f"{link!r}; {suggest(link, self.urdf.links)}"
                )
        if len(self.problems) > n_before:
            return None
        steps = chain_between(self.urdf, settings.base_link, settings.eef_link)
        names = self._joints(where, settings, steps, grippers)
        gripper = self._gripper(where, settings.gripper)
        for joint in (*names, *([gripper.joint] if gripper else [])):
            owner = self._owner.setdefault(joint, name)
            if owner != name:
                self.problems.append(
                    f"{where}: expected joints of no other limb, got {joint}, which "
                    f"limbs.{owner} has; name the joints of each limb"
                )
        if len(self.problems) > n_before:
            return None
        self.steps[name] = steps
        return LimbInfo(
            name=name,
            base_link=settings.base_link,
            eef_link=settings.eef_link,
            joint_names=names,
            gripper=gripper,
        )

    def _joints(
        self, where: str, settings: LimbSettings, steps: list[Step], grippers: set[str]
    ) -> tuple[str, ...]:
        """Return the limb's joints from base to eef, whatever order they are given."""
        on_way = [j.name for j, _ in steps if j.is_actuated]
        wanted = settings.joints
        if wanted is None:
            wanted = tuple(name for name in on_way if name not in grippers)
        for name in dict.fromkeys(wanted):
            if name not in on_way or wanted.count(name) > 1:
                self.problems.append(
                    f"{where}.joints: expected each joint between {settings.base_link} "
                    f"and {settings.eef_link} once, got {name!r}; "
                    f"{suggest(name, on_way)}"
                )
        if not wanted:
            self.problems.append(
                f"{where}: expected movable joints between {settings.base_link} and "
                f"{settings.eef_link}, got none"
            )
        if settings.home is not None and len(settings.home) != len(wanted):
            self.problems.append(
                f"{where}.home: expected {len(wanted)} positions "
                f"({', '.join(wanted)}), got {len(settings.home)}"
            )
        return tuple(name for name in on_way if name in wanted)

    def _gripper(
        self, where: str, settings: GripperSettings | None
    ) -> GripperInfo | None:
        if settings is None:
            return None
        if settings.joint not in self._actuated:
            sources = {j.name: j.mimic.source for j in self.urdf.joints if j.mimic}
            hint = suggest(settings.joint, self._actuated)
            if settings.joint in sources:
                hint = f"it mimics {sources[settings.joint]}: name that one"
            self.problems.append(
                f"{where}.gripper.joint: expected an actuated joint, got "
                f"{settings.joint!r}; {hint}"
            )
        if settings.closed == settings.open:
            self.problems.append(
                f"{where}.gripper: expected closed and open to differ, got "
                f"{settings.open:g} twice"
            )
        return GripperInfo(
            joint=settings.joint, closed=settings.closed, open=settings.open
        )


def resolve_limits(
    joints: Sequence[UrdfJoint],
    limbs: Sequence[LimbInfo],
    settings: RobotSettings,
    limb_settings: Mapping[str, LimbSettings],
    problems: list[str],
) -> Limits:
    """Return limits and home of all actuated joints.

    V = min(limits.dq_max, velocity_scale · URDF). A = limits.ddq_max, for grippers
    V / gripper_time.

    Args:
        joints: The actuated joints, in the order of the robot's vector.
        limbs: Its limbs.
        settings: Its settings.
        limb_settings: Its limbs' settings, given or found.
        problems: Takes what is wrong.
    """
    limits = settings.limits
    names = [joint.name for joint in joints]
    for key in ("q_min", "q_max", "dq_max"):
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
        dq / limits.gripper_time if joint.name in grippers else limits.ddq_max
        for joint, dq in zip(joints, dq_max, strict=True)
    ]
    home = _home(dict(zip(names, ranges, strict=True)), limbs, settings, limb_settings)
    home.report(problems)
    return Limits(
        q_min=readonly([low for low, _ in ranges]),
        q_max=readonly([high for _, high in ranges]),
        dq_max=readonly(dq_max),
        ddq_max=readonly(ddq_max),
        home=readonly([home.positions[name] for name in names]),
    )


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
            f"{joint.velocity:g}; set limits.dq_max.{joint.name} in the robot's YAML"
        )
        return math.nan
    return given


@dataclass(slots=True)
class _Home:
    """Home positions and where each stands in the YAML."""

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


def default_home(low: float, high: float) -> float:
    """Return 0, or the nearest position that keeps 10 % of the range from limits."""
    if not math.isfinite(high - low):
        return min(max(0.0, low), high)
    margin = HOME_MARGIN * (high - low)
    return min(max(0.0, low + margin), high - margin)
