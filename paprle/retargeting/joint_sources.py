"""Sources of a robot's joints in a leader."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from paprle.contracts.errors import suggest
from paprle.contracts.kit.known_motion import find_misfit
from paprle.contracts.kit.leader_group import find_part
from paprle.contracts.settings.retarget import JointMapSettings, RetargetSettings
from paprle.contracts.types import LeaderInfo
from paprle.robot import RobotModel
from paprle.robot.chain import Limb

_GENERIC = re.compile(
    r"((left|right|l|r|arm|leader|follower)_?\d*_)?(joint|j|q|axis|motor|servo)?_?\d+",
    re.IGNORECASE,
)
"""Joint names that many robots have: equal ones do not tell that two arms are alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JointSource:
    """A joint's position: gain · q[index] of a leader limb + offset."""

    leader_limb: str
    index: int
    gain: float
    offset: float


class JointFinder:
    """Finds the sources of joints; collects ``problems``."""

    def __init__(
        self,
        robot: RobotModel,
        leader: LeaderInfo,
        settings: RetargetSettings,
        arms: Mapping[str, Limb],
        problems: list[str],
    ) -> None:
        self.problems = problems
        self._robot, self._leader = robot, leader
        self._settings, self._arms = settings, arms
        _check_joint_map(robot, leader, settings, problems)

    def join(self, name: str, limb: str, mode: str) -> tuple[JointSource | None, ...]:
        """Return a limb's sources: by the arm's order, or by name."""
        own = self._robot.limbs[name]
        if limb in self._arms and not self._settings.joint_map:
            return self._join_arm(own, limb)
        sources = self.find(limb, own.joint_names, is_asked=mode == "joints")
        if not any(sources):
            self.problems.append(self.say_nothing_fits(own))
        elif mode == "auto" and not all(sources):
            missing = [
                j for j, s in zip(own.joint_names, sources, strict=True) if s is None
            ]
            self.problems.append(
                "retarget: expected a leader joint for each joint of limb "
                f"'{name}', got none for {listed(missing)}; map them in "
                "retarget.joint_map, or hold them with retarget.mode=joints"
            )
        self._check_known_motion(name, own, limb, sources)
        return sources

    def _check_known_motion(
        self,
        name: str,
        own: Limb,
        limb: str,
        sources: tuple[JointSource | None, ...],
    ) -> None:
        rows = find_part(self._leader, limb)[1].motion.get(_strip(self._leader, limb))
        if rows is None:
            return
        given = [
            None
            if source is None or source.leader_limb != limb
            else source.gain * rows[:, source.index] + source.offset
            for source in sources
        ]
        misfit = find_misfit(given, own.joint_names, own.q_min, own.q_max)
        if misfit:
            self.problems.append(
                f"retarget: expected a motion of limb '{name}' within its limits, got "
                f"{misfit}; is it another robot's (map it in retarget.joint_map), or "
                "in degrees (leader.units.angle=deg, of data sets leader.angle=deg)?"
            )

    def _join_arm(self, own: Limb, limb: str) -> tuple[JointSource | None, ...]:
        n, n_leader = len(own.joint_names), len(self._arms[limb].joint_names)
        if n != n_leader:
            self.problems.append(
                f"retarget.mode: 'joints' expected {n} joints in leader limb "
                f"'{limb}' for '{own.name}', got {n_leader}; use "
                "retarget.mode=auto, or name sources in retarget.joint_map"
            )
        return tuple(
            JointSource(leader_limb=limb, index=i, gain=1.0, offset=0.0)
            for i in range(n)
        )

    def find(
        self, limb: str, joint_names: tuple[str, ...], *, is_asked: bool | None = None
    ) -> tuple[JointSource | None, ...]:
        """Return each joint's source: as mapped, else of its name.

        Common names count only if asked for, mapped, or of this robot's own motion.
        """
        joint_map = self._settings.joint_map
        order = [limb, *(other for other in self._leader.limbs if other != limb)]
        is_asked = self._settings.mode == "joints" if is_asked is None else is_asked
        is_own = find_part(self._leader, limb)[1].robot == self._robot.name
        is_telling = is_asked or is_own or not all(map(_GENERIC.fullmatch, joint_names))
        return tuple(
            _find_source(self._leader, order, joint_map.get(joint), joint)
            if is_telling or joint in joint_map
            else None
            for joint in joint_names
        )

    def say_nothing_fits(self, own: Limb | None = None) -> str:
        """Return the problem of joints that drive nothing."""
        limbs = [own] if own else list(self._robot.limbs.values())
        names = [joint for limb in limbs for joint in limb.joint_names]
        given = _leader_joints(self._leader)
        same = set(names) & set(given)
        if same:
            return (
                f"retarget: joints named {listed(sorted(same))} on both sides do not "
                f"tell that the leader is built as '{self._robot.name}'; if it is, say "
                "retarget.mode=joints, else map joints in retarget.joint_map"
            )
        return (
            f"retarget: expected leader joints named as joints of '{self._robot.name}' "
            f"({listed(names)}), got {listed(given)}; map them in retarget.joint_map"
        )


def _strip(leader: LeaderInfo, limb: str) -> str:
    part = find_part(leader, limb)[0]
    return limb.removeprefix(f"{part}.") if part else limb


def expect_one_of(where: str, what: str, got: str, names: Iterable[str]) -> str:
    """Return the problem of an unknown name."""
    return f"{where}: expected {what}, got '{got}'; {suggest(got, names)}"


def _check_joint_map(
    robot: RobotModel,
    leader: LeaderInfo,
    settings: RetargetSettings,
    problems: list[str],
) -> None:
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
    wanted = given.joint if given else joint
    gain, offset = (given.sign * given.scale, given.offset) if given else (1.0, 0.0)
    for limb in order:
        names = leader.joint_names.get(limb, ())
        if wanted in names:
            index = names.index(wanted)
            return JointSource(leader_limb=limb, index=index, gain=gain, offset=offset)
    return None


def _leader_joints(leader: LeaderInfo) -> list[str]:
    return [j for limb in leader.limbs for j in leader.joint_names.get(limb, ())]


def listed(names: Iterable[str]) -> str:
    """Return quoted names."""
    return ", ".join(f"'{name}'" for name in names) or "none"
