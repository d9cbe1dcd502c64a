"""Write the YAML of a robot for a bare URDF, every guess marked, and check it."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path

from paprle.config.folders import DATA, find_folders
from paprle.contracts.errors import ConfigError
from paprle.contracts.settings import LimbSettings, LimitSettings, RobotSettings
from paprle.contracts.types import Vec
from paprle.onboarding.exempt_pairs import Unjudged
from paprle.onboarding.home import count_reachable, jacobian_error
from paprle.onboarding.mesh_bodies import Covered, cover_meshes
from paprle.robot import RobotModel
from paprle.robot.chain import Limb
from paprle.robot.collision import OVERLAP_AT_A_JOINT
from paprle.robot.home import guess_home
from paprle.robot.limbs import FoundLimb, find_limbs
from paprle.robot.tree import Urdf, UrdfJoint
from paprle.robot.urdf import read_urdf

_SLOW = {"revolute": 1.0, "continuous": 1.0, "prismatic": 0.1}
"""chosen: [rad/s or m/s] slow enough for any arm whose limit nobody states."""
_IMPLAUSIBLE = {"revolute": 50.0, "continuous": 50.0, "prismatic": 10.0}
"""chosen: [rad/s or m/s] above this a stated limit means that there is none."""
_PLAIN = re.compile(r"[A-Za-z_][\w/-]*")
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}
Pairs = tuple[tuple[str, str], ...]
_FEW = 4  # chosen: of six targets; below, home deserves a look


@dataclass(frozen=True, slots=True, kw_only=True)
class LimbReport:
    """What the check found of one limb.

    Attributes:
        name: Its name.
        chain: Where it begins and ends, and its joints, in words.
        jacobian_error: Largest difference from finite differences.
        n_reachable: Of six targets around home, how many can be reached.
        step: How far from home they are, [m].
    """

    name: str
    chain: str
    jacobian_error: float
    n_reachable: int
    step: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRobotReport:
    """What was written, and what a person has to look at.

    Attributes:
        name: The follower's name.
        path: The YAML.
        joint_names: All actuated joints.
        limbs: Limbs found.
        collision_pairs: Pairs of bodies that are checked; 0 where only meshes are.
        doubts: Guesses to review, one line each.
    """

    name: str
    path: Path
    joint_names: tuple[str, ...]
    limbs: tuple[LimbReport, ...]
    collision_pairs: int
    doubts: tuple[str, ...]

    def findings(self) -> list[str]:
        """Return what was found and guessed, as lines of text."""
        found = [f"{len(self.joint_names)} actuated joints"]
        found += [
            f"limb {limb.name}: {limb.chain}; Jacobian within "
            f"{limb.jacobian_error:.0e} of finite differences; {limb.n_reachable} of 6 "
            f"targets {limb.step:.2f} m from home reachable"
            for limb in self.limbs
        ]
        found.append(f"{self.collision_pairs} pairs of collision bodies")
        return found + [f"CHECK: {doubt}" for doubt in self.doubts]

    def lines(self) -> list[str]:
        """Return the report as lines of text."""
        follower = _name_follower(self.path)
        return [
            f"wrote {self.path}",
            *self.findings(),
            "next: read the CHECK lines, then",
            f"  paprle run leader=autopilot follower={follower} env=kinematic",
        ]


def write_new_robot(
    urdf: Path, out_dir: Path, name: str | None = None, ignored: Pairs = ()
) -> NewRobotReport:
    """Write a follower's YAML for a bare URDF and check it by loading it.

    Args:
        urdf: The URDF; it stays as it is. Where it has meshes to collide with, the
            YAML names a copy with bodies in their place.
        out_dir: Folder of the YAML, and of the copy.
        name: Name of the follower; from the URDF when absent.
        ignored: Pairs of links that nothing is to keep apart.

    Returns:
        What was written and found.

    Raises:
        ConfigError: If the URDF is wrong, the YAML exists already, or no home without
            a contact is found.
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
        covered = cover_meshes(tree, copy)
        used = tree if covered.path is None else read_urdf(copy)
        draft = _draft(used, slug, covered, ignored)
        draft.doubts += _doubt_bodies(covered, _name_follower(path))
        draft.urdf, draft.source = _relative(used.path, path), tree.path.name
        with path.open("x", encoding="utf-8") as file:
            file.write("\n".join(_yaml(draft)) + "\n")
        return _check(path, slug, draft)
    except BaseException:  # a Ctrl-C leaves no half-checked file either
        path.unlink(missing_ok=True)
        copy.unlink(missing_ok=True)
        raise


def make_slug(name: str) -> str:
    """Return a name that a follower may have.

    Raises:
        ConfigError: If nothing is left of it.
    """
    slug = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    if not slug:
        raise ConfigError(f"name: expected letters or digits, got {name!r}")
    return slug


@dataclass(slots=True, kw_only=True)
class _Draft:
    """Settings to be, and the doubts about them."""

    limbs: list[FoundLimb]
    homes: dict[str, Vec]
    dq_max: dict[str, tuple[float, str]]
    ignored: Pairs
    unjudged: Unjudged
    held: dict[str, float]
    doubts: list[str]
    urdf: str = ""
    source: str = ""


def _draft(tree: Urdf, name: str, covered: Covered, ignored: Pairs) -> _Draft:
    limbs = find_limbs(tree)
    dq_max = _guess_velocities([j for j in tree.joints if j.is_actuated])
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
        limits=LimitSettings(dq_max={joint: v for joint, (v, _) in dq_max.items()}),
        ignore_collisions=covered.unjudged.never + covered.unjudged.thick + ignored,
    )
    robot = RobotModel.from_settings(settings, name, DATA)
    home = guess_home(robot.info, robot.limbs, robot.measure_clearances)
    homes = {limb.name: robot.limbs[limb.name].take(home) for limb in limbs}
    in_limbs = {j for limb in limbs for j in limb.joint_names}
    in_limbs |= {limb.gripper.joint for limb in limbs if limb.gripper}
    held = {
        joint: round(float(q), 4)
        for joint, q in zip(robot.joint_names, home, strict=True)
        if joint not in in_limbs
    }
    settings = _with_homes(settings, homes, held)
    _check_home(RobotModel.from_settings(settings, name, DATA), name)
    return _Draft(
        limbs=limbs,
        homes=homes,
        dq_max=dq_max,
        ignored=ignored,
        unjudged=covered.unjudged,
        held=held,
        doubts=_list_doubts(limbs, dq_max),
    )


def _with_homes(
    settings: RobotSettings, homes: dict[str, Vec], held: dict[str, float]
) -> RobotSettings:
    limbs = {
        name: replace(limb, home=tuple(homes[name].tolist()))
        for name, limb in (settings.limbs or {}).items()
    }
    return replace(settings, limbs=limbs, hold=held)


def _check_home(robot: RobotModel, name: str) -> None:
    """Refuse a home at which the robot touches itself: a gate would start in there."""
    touching = robot.find_collisions(robot.home)
    if touching:
        pairs = ", ".join(f"{a} and {b}" for a, b in touching)
        options = " ".join(f"--ignore {a},{b}" for a, b in touching)
        raise ConfigError(
            f"{name}: expected a home where nothing touches, got none; these do "
            f"wherever it was looked for: {pairs}; if they are bodies too wide for "
            f"their links, and only then: paprle new-robot … {options}"
        )


def _relative(urdf: Path, yaml: Path) -> str:
    """Return the URDF as the YAML names it: from the workspace if both are in it."""
    are_inside = all(path.resolve().is_relative_to(DATA) for path in (urdf, yaml))
    return str(urdf.relative_to(DATA) if are_inside else urdf)


def _guess_velocities(joints: list[UrdfJoint]) -> dict[str, tuple[float, str]]:
    """Return a limit and its reason for joints whose URDF has none that is usable."""
    guesses = {}
    for joint in joints:
        if joint.velocity <= 0:
            guesses[joint.name] = (_SLOW[joint.kind], "the URDF states no limit")
        elif joint.velocity > _IMPLAUSIBLE[joint.kind]:
            reason = f"the URDF's {joint.velocity:g} is no limit"
            guesses[joint.name] = (_SLOW[joint.kind], reason)
    return guesses


def _list_doubts(
    limbs: list[FoundLimb], dq_max: dict[str, tuple[float, str]]
) -> list[str]:
    doubts = [
        f"limbs.{limb.name}.{key}: {doubt}"
        for limb in limbs
        for key, doubt in limb.doubts.items()
    ]
    doubts += [
        f"limits.dq_max.{j}: {why}; {v:g} is slow" for j, (v, why) in dq_max.items()
    ]
    return doubts


def _name_follower(yaml: Path) -> str:
    """Return what stands for a YAML in ``follower=…``: its name, or its path."""
    folders = {folder.path / "follower" for folder in find_folders().folders}
    is_found = yaml.resolve().parent in {folder.resolve() for folder in folders}
    return yaml.stem if is_found else shlex.quote(str(yaml.resolve()))


def _doubt_bodies(covered: Covered, follower: str) -> list[str]:
    doubts = list(covered.doubts)
    if covered.path is not None:
        doubts.append(
            f"{covered.path.name}: {covered.n_bodies} meshes were enclosed in bodies; "
            f"`paprle collision follower={follower}` shows what they keep apart"
        )
    doubts += [
        f"{a} and {b} may touch, but their bodies are too thick to tell: ignored"
        for a, b in covered.unjudged.thick
    ]
    return doubts


def _yaml(draft: _Draft) -> list[str]:
    lines = [
        f"# Written by `paprle new-robot` for {_one_line(draft.source)}.",
        "# Lines with CHECK hold guesses: review them before moving a real robot.",
        f"urdf: {_text(draft.urdf)}",
        "limbs:" if draft.limbs else "limbs: {}",
    ]
    for limb in draft.limbs:
        lines += _limb_lines(limb, draft.homes[limb.name])
    if draft.held:
        lines += ["# CHECK: these joints are in no limb and hold still", "hold:"]
        lines += [f"  {_text(joint)}: {q:g}" for joint, q in draft.held.items()]
    lines += ["limits:", "  # CHECK: guessed; the URDF has no accelerations"]
    lines.append("  ddq_max: 5.0")
    if draft.dq_max:
        lines.append("  dq_max:")
    for joint, (velocity, reason) in draft.dq_max.items():
        lines += [
            f"    # CHECK: {reason}; this is slow",
            f"    {_text(joint)}: {velocity}",
        ]
    return [*lines, *_ignored_lines(draft), "envs:", "  kinematic: {}", "  mujoco: {}"]


def _ignored_lines(draft: _Draft) -> list[str]:
    reasons = {
        "their meshes never touch, however the joints between stand": (
            draft.unjudged.never
        ),
        "CHECK: they may touch, but their bodies are too thick to tell": (
            draft.unjudged.thick
        ),
        "CHECK: told to be ignored by --ignore: nothing keeps them apart": (
            draft.ignored
        ),
    }
    lines = []
    for why, pairs in reasons.items():
        lines += [f"  # {why}"] if pairs else []
        lines += [f"  - [{_text(a)}, {_text(b)}]" for a, b in pairs]
    return ["ignore_collisions:", *lines] if lines else []


def _limb_lines(limb: FoundLimb, home: Vec) -> list[str]:
    def check(key: str) -> list[str]:
        doubt = limb.doubts.get(key)
        return [] if doubt is None else [f"    # CHECK: {_one_line(doubt)}"]

    lines = [
        f"  {limb.name}:",
        f"    base_link: {_text(limb.base_link)}",
        *check("eef_link"),
        f"    eef_link: {_text(limb.eef_link)}",
        f"    joints: [{', '.join(_text(joint) for joint in limb.joint_names)}]",
        "    # CHECK: guessed: away from limits, singularities and contact",
        f"    home: [{', '.join(f'{q + 0.0:g}' for q in home)}]",
        *check("gripper"),
    ]
    if limb.gripper is not None:
        lines += [
            "    gripper:",
            f"      joint: {_text(limb.gripper.joint)}",
            f"      closed: {limb.gripper.closed}",
            f"      open: {limb.gripper.open}",
        ]
    return lines


def _text(text: str) -> str:
    """Return text as YAML, quoted where it could be read as something else."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return json.dumps(text)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _check(path: Path, name: str, draft: _Draft) -> NewRobotReport:
    """Load what was written as a session would, and try it."""
    robot = RobotModel.from_yaml(path)
    limbs = tuple(_try_limb(limb) for limb in robot.limbs.values())
    doubts = list(draft.doubts)
    doubts += [
        f"limbs.{limb.name}.home: only {limb.n_reachable} of 6 targets near it can be "
        "reached"
        for limb in limbs
        if limb.n_reachable < _FEW
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


def _try_limb(limb: Limb) -> LimbReport:
    n_reachable, step = count_reachable(limb)
    return LimbReport(
        name=limb.name,
        chain=f"{limb.base_link} → {limb.eef_link}, {len(limb.joint_names)} joints",
        jacobian_error=jacobian_error(limb),
        n_reachable=n_reachable,
        step=step,
    )
