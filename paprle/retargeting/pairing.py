"""Which part of a leader drives which part of a robot, decided once and said aloud.

``make_pairing`` checks names and resolves mode ``auto``; every mistake is told at once,
before anything is opened. It moves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from paprle.contracts.errors import ConfigError, suggest
from paprle.contracts.settings import JointMapSettings, RetargetSettings
from paprle.contracts.types import LeaderInfo
from paprle.retargeting.leader_arms import find_difference
from paprle.robot import RobotModel
from paprle.robot.chain import Limb


@dataclass(frozen=True, slots=True, kw_only=True)
class JointSource:
    """A joint's position: gain · q[index] of a leader limb + offset."""

    leader_limb: str
    index: int
    gain: float
    offset: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Who drives whom.

    Attributes:
        mode: ``joints``, ``relative`` or ``absolute``.
        limbs: Leader limb by driven follower limb, in the robot's order.
        joints: Sources of each driven limb's joints, in its order; None holds. Empty
            where the leader gives poses.
        arms: The arms whose poses drive, by leader limb; none in mode ``joints``.
        reason: Why the mode is what it is, where there is something to say.
    """

    mode: str
    limbs: Mapping[str, str]
    joints: Mapping[str, tuple[JointSource | None, ...]]
    arms: Mapping[str, Limb]
    reason: str = ""


def make_pairing(
    robot: RobotModel,
    leader: LeaderInfo,
    settings: RetargetSettings,
    arms: Mapping[str, Limb],
) -> Pairing:
    """Decide who drives whom.

    Args:
        robot: The follower's robot.
        leader: What the leader says of itself.
        settings: What the config asks for.
        arms: The leader's arms, or what stands for them, by leader limb.

    Returns:
        The pairing.

    Raises:
        ConfigError: If leader and robot do not fit; lists all problems.
    """
    problems: list[str] = []
    mode = _resolve_mode(leader, settings, problems)
    is_needed = mode != "joints" or bool(arms)
    limbs = _pair_limbs(robot, leader, settings, problems, is_needed=is_needed)
    joints: dict[str, tuple[JointSource | None, ...]] = {}
    reason = f"through {settings.through}" if settings.through is not None else ""
    if mode == "auto":
        reason = _compare_arms(robot, limbs, arms)
        mode = "relative" if reason else "joints"
        reason = reason or "built alike"
    if mode == "joints" and arms and not settings.joint_map:
        joints = _join_arms(robot, arms, limbs, problems)
    elif mode == "joints":
        joints = _pair_joints(robot, leader, settings, limbs, problems)
        limbs = {name: _main_source(sources) for name, sources in joints.items()} | {
            name: limb for name, limb in limbs.items() if name in joints
        }
    elif settings.joint_map:
        problems.append(
            f"retarget.joint_map: expected none in mode '{mode}', got "
            f"{len(settings.joint_map)} joints; remove it, or a leader that emits "
            "joints is needed"
        )
    if problems:
        raise ConfigError(problems)
    posed = {} if mode == "joints" else arms
    return Pairing(mode=mode, limbs=limbs, joints=joints, arms=posed, reason=reason)


def expect_one_of(where: str, what: str, got: str, names: Iterable[str]) -> str:
    """Return the problem of a name that is none of those that exist."""
    return f"{where}: expected {what}, got '{got}'; {suggest(got, names)}"


def _resolve_mode(
    leader: LeaderInfo, settings: RetargetSettings, problems: list[str]
) -> str:
    """Return the mode; ``auto`` stays where arms have yet to be compared."""
    if settings.through is not None and settings.mode == "joints":
        problems.append(
            "retarget.through: expected a mode in which poses drive, got 'joints'; use "
            "retarget.mode=auto, or leave retarget.through out"
        )
    if settings.mode == "auto":
        if settings.through is not None:
            return "relative"
        if leader.emits == "joints":
            is_open = bool(leader.arms) and not settings.joint_map
            return "auto" if is_open else "joints"
        return "absolute" if leader.is_absolute else "relative"
    needed = "joints" if settings.mode == "joints" else "pose"
    if needed != leader.emits and not (needed == "pose" and leader.arms):
        problems.append(
            f"retarget.mode: '{settings.mode}' expected a leader that emits {needed}, "
            f"got one that emits {leader.emits}; use retarget.mode=auto"
        )
    return settings.mode


def _pair_limbs(
    robot: RobotModel,
    leader: LeaderInfo,
    settings: RetargetSettings,
    problems: list[str],
    *,
    is_needed: bool,
) -> dict[str, str]:
    """Return the leader limb of each driven follower limb."""
    where, given = "retarget.limb_map", settings.limb_map
    for follower_limb, leader_limb in given.items():
        if follower_limb not in robot.limbs:
            what = f"a limb of follower '{robot.name}'"
            problems.append(expect_one_of(where, what, follower_limb, robot.limbs))
        if leader_limb not in leader.limbs:
            what = f"a leader limb for '{follower_limb}'"
            problems.append(expect_one_of(where, what, leader_limb, leader.limbs))
    if given:
        return {name: given[name] for name in robot.limbs if name in given}
    equal = {name: name for name in robot.limbs if name in leader.limbs}
    if equal:
        return equal
    if len(leader.limbs) == 1:
        return dict.fromkeys(robot.limbs, leader.limbs[0])
    if is_needed:
        problems.append(
            f"{where}: expected follower limbs ({_listed(robot.limbs)}) named as the "
            f"leader's ({_listed(leader.limbs)}), got none; map them in {where}"
        )
    return {}


def _compare_arms(
    robot: RobotModel, limbs: Mapping[str, str], arms: Mapping[str, Limb]
) -> str:
    """Say why joint cannot drive joint; empty when every limb is built alike."""
    for name, leader_limb in limbs.items():
        if leader_limb not in arms:
            return f"'{leader_limb}' is no arm"
        difference = find_difference(arms[leader_limb], robot.limbs[name])
        if difference:
            return difference
    return ""


def _join_arms(
    robot: RobotModel,
    arms: Mapping[str, Limb],
    limbs: Mapping[str, str],
    problems: list[str],
) -> dict[str, tuple[JointSource | None, ...]]:
    """Return each limb's sources in the order of the chain, whatever their names."""
    found: dict[str, tuple[JointSource | None, ...]] = {}
    for name, leader_limb in limbs.items():
        n = len(robot.limbs[name].joint_names)
        n_leader = len(arms[leader_limb].joint_names) if leader_limb in arms else 0
        if n != n_leader:
            problems.append(
                f"retarget.mode: 'joints' expected {n} joints in leader limb "
                f"'{leader_limb}' for '{name}', got {n_leader}; use "
                "retarget.mode=auto, or name sources in retarget.joint_map"
            )
        found[name] = tuple(
            JointSource(leader_limb=leader_limb, index=i, gain=1.0, offset=0.0)
            for i in range(n)
        )
    return found


def _pair_joints(
    robot: RobotModel,
    leader: LeaderInfo,
    settings: RetargetSettings,
    limbs: Mapping[str, str],
    problems: list[str],
) -> dict[str, tuple[JointSource | None, ...]]:
    """Return the sources of every limb that has some."""
    _check_joint_map(robot, leader, settings, problems)
    found: dict[str, tuple[JointSource | None, ...]] = {}
    for name, limb in robot.limbs.items():
        if settings.limb_map and name not in limbs:
            continue
        order = [limbs[name]] if name in limbs else []
        order += [other for other in leader.limbs if other not in order]
        sources = tuple(
            _find_source(leader, order, settings.joint_map.get(joint), joint)
            for joint in limb.joint_names
        )
        if any(sources):
            found[name] = sources
            if settings.mode == "auto" and not all(sources):
                _tell_missing(limb.joint_names, sources, name, problems)
    if not found and not problems:
        followers = [j for limb in robot.limbs.values() for j in limb.joint_names]
        problems.append(
            f"retarget: expected leader joints named as joints of '{robot.name}' "
            f"({_listed(followers)}), got {_listed(_leader_joints(leader))}; map them "
            "in retarget.joint_map"
        )
    return found


def _tell_missing(
    joint_names: tuple[str, ...],
    sources: tuple[JointSource | None, ...],
    limb: str,
    problems: list[str],
) -> None:
    """Refuse to drive a part of a limb unless that was asked for."""
    missing = [j for j, s in zip(joint_names, sources, strict=True) if s is None]
    problems.append(
        f"retarget: expected a leader joint for each joint of limb '{limb}', got none "
        f"for {_listed(missing)}; map them in retarget.joint_map, or hold them with "
        "retarget.mode=joints"
    )


def _check_joint_map(
    robot: RobotModel,
    leader: LeaderInfo,
    settings: RetargetSettings,
    problems: list[str],
) -> None:
    """Note every name in the joint map that does not exist."""
    followers = [j for limb in robot.limbs.values() for j in limb.joint_names]
    leaders = _leader_joints(leader)
    for joint, source in settings.joint_map.items():
        where = f"retarget.joint_map.{joint}"
        if joint not in followers:
            what = f"a joint of a limb of follower '{robot.name}'"
            problems.append(expect_one_of(where, what, joint, followers))
        if source.joint not in leaders:
            problems.append(
                expect_one_of(where, "a leader joint", source.joint, leaders)
            )


def _find_source(
    leader: LeaderInfo, order: list[str], given: JointMapSettings | None, joint: str
) -> JointSource | None:
    """Return the source of one joint: as mapped, else the leader joint of its name."""
    wanted = given.joint if given else joint
    gain, offset = (given.sign * given.scale, given.offset) if given else (1.0, 0.0)
    for limb in order:
        names = leader.joint_names.get(limb, ())
        if wanted in names:
            index = names.index(wanted)
            return JointSource(leader_limb=limb, index=index, gain=gain, offset=offset)
    return None


def _main_source(sources: tuple[JointSource | None, ...]) -> str:
    """Return the leader limb of the first driven joint."""
    return next(source.leader_limb for source in sources if source is not None)


def _leader_joints(leader: LeaderInfo) -> list[str]:
    return [j for limb in leader.limbs for j in leader.joint_names.get(limb, ())]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "none"
