"""Follower's YAML of a bare URDF."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from paprle.config.folders import DATA, find_folders
from paprle.contracts.errors import ConfigError
from paprle.contracts.kit.work import UNSEEN, Work
from paprle.contracts.settings.core import LimbSettings, RobotSettings
from paprle.contracts.settings.limits import LimitSettings
from paprle.contracts.types import Vec
from paprle.robot import RobotModel
from paprle.robot.bodies.collision import OVERLAP_AT_A_JOINT
from paprle.robot.chain import Limb
from paprle.robot.discovery.limbs import FoundLimb, find_limbs
from paprle.robot.discovery.plausible import OtherUnit, is_too_quick, read_in_other_unit
from paprle.robot.tree import Urdf, UrdfJoint
from paprle.robot.urdf import read_urdf
from paprle_lab.onboarding.always_colliding import find_overdrawn
from paprle_lab.onboarding.draft import GENTLE, GENTLE_SLIDING, Draft, Pairs, list_lines
from paprle_lab.onboarding.fixed_overlaps import find_held_overlaps
from paprle_lab.onboarding.home import HomeReach, Room, jacobian_error
from paprle_lab.onboarding.mesh_bodies import Covered, cover_meshes

_SLOW = {"revolute": 1.0, "continuous": 1.0, "prismatic": 0.1}
"""chosen: [rad/s or m/s] slow enough for any arm whose limit nobody states."""
_QUICK = 10.0  # chosen: [unit/s] no joint whose limits are in radians or metres is so
_STOP = 0.5  # asked for: [s] that a joint takes from V to rest at most
_FEW = 4  # chosen: of six targets; below, home deserves a look


@dataclass(frozen=True, slots=True, kw_only=True)
class LimbReport:
    """Findings on one limb.

    Attributes:
        jacobian_error: Largest error by finite differences.
        reach: Reachable targets around home, collisions aside.
    """

    name: str
    chain: str
    jacobian_error: float
    reach: HomeReach


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRobotReport:
    """Written settings, with guesses to review.

    Attributes:
        collision_pairs: Checked pairs; 0: meshes only.
    """

    name: str
    path: Path
    joint_names: tuple[str, ...]
    limbs: tuple[LimbReport, ...]
    collision_pairs: int
    doubts: tuple[str, ...]

    def findings(self) -> list[str]:
        """Return findings and guesses as lines."""
        found = [f"{len(self.joint_names)} actuated joints"]
        found += [
            f"limb {limb.name}: {limb.chain}; Jacobian within "
            f"{limb.jacobian_error:.0e} of finite differences; {limb.reach.n} of 6 "
            f"targets {limb.reach.step:.2f} m from home reachable"
            for limb in self.limbs
        ]
        found.append(f"{self.collision_pairs} pairs of collision bodies")
        return found + [f"CHECK: {doubt}" for doubt in self.doubts]

    def lines(self) -> list[str]:
        """Return the report as lines."""
        follower = name_follower(self.path)
        return [
            f"wrote {self.path}",
            *self.findings(),
            "next: read the CHECK lines, then",
            f"  paprle run leader=autopilot follower={follower} env=kinematic",
        ]


def write_new_robot(
    urdf: Path,
    out_dir: Path,
    name: str | None = None,
    ignored: Pairs = (),
    wanted: tuple[str, ...] = (),
    *,
    work: Work = UNSEEN,
) -> NewRobotReport:
    """Write and check a follower's YAML for a bare URDF.

    With meshes, the YAML names a copy with bodies. ``ignored``: pairs of links exempt
    from clearance; ``wanted``: moving limbs, by default all.

    Returns:
        The settings and findings.

    Raises:
        ConfigError: If the URDF is invalid, the YAML exists, or no home without a
            contact is found.
    """
    tree = read_urdf(urdf.resolve())
    slug = make_slug(tree.name if name is None else name)
    path, copy = out_dir / f"{slug}.yaml", (out_dir / f"{slug}.urdf").resolve()
    for there in (path, copy):
        if there.exists():
            raise ConfigError(
                f"{there}: exists already; choose another name or remove it"
            )
    out_dir.mkdir(parents=True, exist_ok=True)
    try:
        covered = cover_meshes(tree, copy, work)
        used = tree if covered.path is None else read_urdf(copy)
        draft = _draft(used, slug, covered, ignored, wanted, work)
        draft.doubts += _doubt_bodies(covered, name_follower(path))
        draft.urdf, draft.source = name_urdf(used.path, path), tree.path.name
        with path.open("x", encoding="utf-8") as file:
            file.write("\n".join(list_lines(draft)) + "\n")
        work.note("trying targets around home")
        return _check(path, slug, draft)
    except BaseException:  # a Ctrl-C leaves no half-checked file either
        path.unlink(missing_ok=True)
        copy.unlink(missing_ok=True)
        raise


def make_slug(name: str) -> str:
    """Return a valid follower name.

    Raises:
        ConfigError: If no character is left.
    """
    slug = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    if not slug:
        raise ConfigError(f"name: expected letters or digits, got {name!r}")
    return slug


def _draft(
    tree: Urdf,
    name: str,
    covered: Covered,
    ignored: Pairs,
    wanted: tuple[str, ...],
    work: Work,
) -> Draft:
    limbs = _choose_limbs(find_limbs(tree), wanted)
    fingers = {limb.gripper.joint for limb in limbs if limb.gripper}
    joints = [joint for joint in tree.joints if joint.is_actuated]
    ranges = _read_ranges(joints)
    limbs = [_narrow_gripper(limb, ranges) for limb in limbs]
    dq_max = _guess_velocities(joints, fingers, ranges)
    slides = any(
        joint.kind == "prismatic" and joint.name not in fingers
        for joint in tree.joints
        if joint.is_actuated
    )
    ddq_max_sliding = GENTLE_SLIDING if slides else None
    settings = RobotSettings(
        urdf=str(tree.path),
        limbs={
            limb.name: LimbSettings(
                base_link=limb.base_link,
                eef_link=limb.eef_link,
                joints=limb.joint_names,
                gripper=limb.gripper,
            )
            for limb in limbs
        },
        limits=LimitSettings(
            q_min={joint: own.lower for joint, own in ranges.items()},
            q_max={joint: own.upper for joint, own in ranges.items()},
            dq_max={joint: v for joint, (v, _) in dq_max.items()},
            ddq_max=GENTLE,
            ddq_max_sliding=ddq_max_sliding,
        ),
        ignore_collisions=covered.exempt.never + covered.exempt.always + ignored,
    )
    robot = RobotModel.from_settings(settings, name, DATA)
    work.note("looking for bodies that are drawn too thick")
    overdrawn = find_overdrawn(robot, _list_drawn(tree, covered))
    if overdrawn:
        known = settings.ignore_collisions
        settings = replace(settings, ignore_collisions=known + overdrawn)
        robot = RobotModel.from_settings(settings, name, DATA)
    work.note("looking for a home with room around it")
    home = robot.guess_home()
    homes = {limb.name: robot.limbs[limb.name].take(home) for limb in limbs}
    in_limbs = {j for limb in limbs for j in limb.joint_names}
    in_limbs |= {limb.gripper.joint for limb in limbs if limb.gripper}
    held = {
        joint: round(float(q), 4)
        for joint, q in zip(robot.joint_names, home, strict=True)
        if joint not in in_limbs
    }
    settings = _with_homes(settings, homes, held)
    robot = RobotModel.from_settings(settings, name, DATA)
    work.note("looking for bodies that overlap and hold still")
    overlaps = find_held_overlaps(tree, robot, held)
    if overlaps:
        known = settings.ignore_collisions
        settings = replace(settings, ignore_collisions=known + overlaps)
        robot = RobotModel.from_settings(settings, name, DATA)
    _check_home(robot, name)
    return Draft(
        limbs=limbs,
        homes=homes,
        ranges=ranges,
        dq_max=dq_max,
        ignored=ignored,
        exempt=covered.exempt,
        overlaps=overlaps,
        overdrawn=overdrawn,
        held=held,
        slides=slides,
        doubts=_list_doubts(limbs, dq_max, overlaps),
    )


def _list_drawn(tree: Urdf, covered: Covered) -> set[str]:
    return {body.link for body in tree.primitives} - covered.links


def _choose_limbs(found: list[FoundLimb], wanted: tuple[str, ...]) -> list[FoundLimb]:
    names = [limb.name for limb in found]
    for name in wanted:
        if name not in names:
            raise ConfigError(
                f"--limbs: expected limbs of the URDF, got {name!r}; it has "
                f"{', '.join(names) or 'none'}"
            )
    return [limb for limb in found if not wanted or limb.name in wanted]


def _with_homes(
    settings: RobotSettings, homes: dict[str, Vec], held: dict[str, float]
) -> RobotSettings:
    limbs = {
        name: replace(limb, home=tuple(homes[name].tolist()))
        for name, limb in (settings.limbs or {}).items()
    }
    return replace(settings, limbs=limbs, hold=held)


def _check_home(robot: RobotModel, name: str) -> None:
    touching = robot.find_collisions(robot.home)
    if touching:
        pairs = ", ".join(f"{a} and {b}" for a, b in touching)
        options = " ".join(f"--ignore {a},{b}" for a, b in touching)
        raise ConfigError(
            f"{name}: expected a home where nothing touches, got none; these do "
            f"wherever it was looked for: {pairs}; if they are bodies too wide for "
            f"their links, and only then: paprle new-robot … {options}"
        )


def name_urdf(urdf: Path, yaml: Path) -> str:
    """Return a URDF as its follower's YAML names it."""
    are_inside = all(path.resolve().is_relative_to(DATA) for path in (urdf, yaml))
    return str(urdf.relative_to(DATA) if are_inside else urdf)


def _read_ranges(joints: list[UrdfJoint]) -> dict[str, OtherUnit]:
    """Return limits in degrees or millimetres as [rad] or [m]."""
    ranges = {j.name: r for j in joints if (r := read_in_other_unit(j)) is not None}
    problems = [
        f"joint {joint.name}: {own.reason}, {own.lower:.4g} … {own.upper:.4g} in SI "
        "units, which lies outside; correct the URDF"
        for joint in joints
        if (own := ranges.get(joint.name))
        and (own.lower < joint.lower or own.upper > joint.upper)
    ]
    if problems:
        raise ConfigError(problems)
    return ranges


def _narrow_gripper(limb: FoundLimb, ranges: dict[str, OtherUnit]) -> FoundLimb:
    g = limb.gripper
    if g is None or g.joint not in ranges:
        return limb
    per_unit = ranges[g.joint].per_unit
    closed, opened = g.closed * per_unit, g.open * per_unit
    return replace(limb, gripper=replace(g, closed=closed, open=opened))


def _guess_velocities(
    joints: list[UrdfJoint], fingers: set[str], ranges: dict[str, OtherUnit]
) -> dict[str, tuple[float, str]]:
    share = LimitSettings().velocity_scale
    guesses = {}
    for joint in joints:
        stoppable = _STOP * (GENTLE_SLIDING if joint.kind == "prismatic" else GENTLE)
        if joint.velocity <= 0:
            guesses[joint.name] = (_SLOW[joint.kind], "the URDF states no limit")
        elif joint.name in ranges and joint.velocity > _QUICK:
            v = min(share * joint.velocity * ranges[joint.name].per_unit, stoppable)
            reason = f"the URDF's {joint.velocity:g} is read in the unit of its limits"
            guesses[joint.name] = (round(v, 4), reason)
        elif is_too_quick(joint):
            reason = f"the URDF's {joint.velocity:g} is no limit"
            guesses[joint.name] = (_SLOW[joint.kind], reason)
        elif share * joint.velocity > stoppable and joint.name not in fingers:
            reason = f"from the URDF's {joint.velocity:g} it stops too late"
            guesses[joint.name] = (stoppable, reason)
    return guesses


def _list_doubts(
    limbs: list[FoundLimb],
    dq_max: dict[str, tuple[float, str]],
    overlaps: Pairs,
) -> list[str]:
    doubts = [
        f"limbs.{limb.name}.{key}: {doubt}"
        for limb in limbs
        for key, doubt in limb.doubts.items()
    ]
    reasons: dict[str, list[str]] = {}
    for joint, (v, why) in dq_max.items():
        reasons.setdefault(f"{why}; {v:g} is taken", []).append(joint)
    doubts += [f"limits.dq_max.{', '.join(js)}: {why}" for why, js in reasons.items()]
    if overlaps:
        pairs = ", ".join(f"{a} and {b}" for a, b in overlaps)
        doubts.append(
            f"bodies of what holds still overlap, so they are ignored: {pairs}; do "
            "these links touch at `hold`? Once a limb moves them, delete their lines"
        )
    return doubts


def name_follower(yaml: Path) -> str:
    """Return a follower as ``follower=`` names it."""
    folders = {folder.path / "follower" for folder in find_folders().folders}
    is_found = yaml.resolve().parent in {folder.resolve() for folder in folders}
    return yaml.stem if is_found else shlex.quote(str(yaml.resolve()))


def _doubt_bodies(covered: Covered, follower: str) -> list[str]:
    doubts = list(covered.doubts)
    if covered.path is not None:
        doubts.append(
            f"{covered.path.name}: {covered.n_meshes} meshes were enclosed in "
            f"{covered.n_bodies} bodies; `paprle collision follower={follower}` shows "
            "what they keep apart"
        )
    doubts += [
        f"{a} and {b} nearly always overlap or lie close, as they are drawn: ignored"
        for a, b in covered.exempt.always
    ]
    doubts += [
        f"{a} and {b} are kept apart in {share:.0%} of their postures where their "
        "meshes do not touch: thinner bodies would give room"
        for (a, b), share in covered.blocked.items()
    ]
    return doubts


def _check(path: Path, name: str, draft: Draft) -> NewRobotReport:
    robot = RobotModel.from_yaml(path)
    room = Room(robot)
    limbs = tuple(_try_limb(limb, room) for limb in robot.limbs.values())
    doubts = [*draft.doubts, *robot.list_doubts(), *robot.describe_held()]
    doubts += [
        f"limbs.{limb.name}.home: only {limb.reach.n} of 6 targets near it can be "
        f"reached{_name_in_way(limb.reach)}"
        for limb in limbs
        if limb.reach.n < _FEW
    ]
    doubts += [
        f"bodies of {a} and {b} are drawn so thick that they are never as far apart as "
        "the gate keeps them: ignored"
        for a, b in draft.overdrawn
    ]
    doubts += [f"{a} and {b} are ignored, as told" for a, b in draft.ignored]
    doubts += [
        f"{a} and {b} are not kept apart: {why}"
        for (a, b), why in robot.make_collision_model({}).left_out.items()
        if why == OVERLAP_AT_A_JOINT
    ]
    return NewRobotReport(
        name=name,
        path=path,
        joint_names=robot.joint_names,
        limbs=limbs,
        collision_pairs=robot.n_collision_pairs,
        doubts=tuple(doubts),
    )


def _try_limb(limb: Limb, room: Room) -> LimbReport:
    return LimbReport(
        name=limb.name,
        chain=f"{limb.base_link} → {limb.eef_link}, {len(limb.joint_names)} joints",
        jacobian_error=jacobian_error(limb),
        reach=room.try_targets(limb),
    )


def _name_in_way(reach: HomeReach) -> str:
    return f"; too near each other on the way: {', '.join(reach.in_way)}" * bool(
        reach.in_way
    )
