"""Pairing of a leader's limbs with a robot's, and the choice of rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from paprle.contracts.errors import ConfigError
from paprle.contracts.settings.retarget import LimbRuleSettings, RetargetSettings
from paprle.contracts.types import LeaderInfo
from paprle.retargeting.joint_sources import (
    JointFinder,
    JointSource,
    expect_one_of,
    listed,
)
from paprle.retargeting.leader_arms import find_difference
from paprle.retargeting.namesakes import (
    Namesakes,
    match_first,
    match_names,
    tell_crossed,
    tell_unused,
)
from paprle.robot import RobotModel
from paprle.robot.chain import Limb
from paprle.robot.discovery.limb_names import find_side

LED_BY_SIGHT = ("look_at", "follow")
"""Rules whose motion is not the leader's: it says when."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimbSource:
    """A source that may drive a limb.

    Attributes:
        joints: Sources of joints, None holds; empty for poses and axes.
    """

    leader_limb: str
    rule: str
    joints: tuple[JointSource | None, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimbPairing:
    """Sources of a limb; the first permitted one drives."""

    sources: tuple[LimbSource, ...]

    @property
    def rule(self) -> str:
        """The rule of its first source."""
        return self.sources[0].rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Pairing of a leader's limbs with a robot's.

    Attributes:
        arms: Arms whose poses drive, by leader limb.
        doubts: Guesses for the operator to check.
    """

    limbs: Mapping[str, LimbPairing]
    arms: Mapping[str, Limb]
    doubts: tuple[str, ...] = ()

    @property
    def rules(self) -> frozenset[str]:
        """The rules in use."""
        return frozenset(s.rule for pair in self.limbs.values() for s in pair.sources)

    def of_leader(self, leader: str) -> Pairing:
        """Return one leader's pairing, in its own names."""
        if not leader:
            return self
        prefix = f"{leader}."
        limbs = {
            name: replace(pair, sources=own)
            for name, pair in self.limbs.items()
            if (
                own := tuple(
                    _strip_source(source, prefix)
                    for source in pair.sources
                    if source.leader_limb.startswith(prefix)
                )
            )
        }
        arms = {
            name.removeprefix(prefix): arm
            for name, arm in self.arms.items()
            if name.startswith(prefix)
        }
        return Pairing(limbs=limbs, arms=arms)

    def list_driven(self, leader_limb: str) -> list[tuple[str, LimbSource]]:
        """Return the limbs that a leader limb moves."""
        return [
            (name, source)
            for name, pair in self.limbs.items()
            for source in pair.sources
            if source.leader_limb == leader_limb and source.rule not in LED_BY_SIGHT
        ]


def make_pairing(
    robot: RobotModel,
    leader: LeaderInfo,
    settings: RetargetSettings,
    arms: Mapping[str, Limb],
) -> Pairing:
    """Return the pairing of a robot with a leader.

    Raises:
        ConfigError: With all problems.
    """
    maker = _PairingMaker(robot, leader, settings, arms)
    limbs = maker.pair_limbs()
    if maker.problems:
        raise ConfigError(maker.problems)
    posed = {
        source.leader_limb
        for pair in limbs.values()
        for source in pair.sources
        if source.rule not in {"joints", "axes", *LED_BY_SIGHT}
    }
    return Pairing(
        limbs=limbs,
        arms={name: arm for name, arm in arms.items() if name in posed},
        doubts=tuple(maker.doubts),
    )


class _PairingMaker:
    def __init__(
        self,
        robot: RobotModel,
        leader: LeaderInfo,
        settings: RetargetSettings,
        arms: Mapping[str, Limb],
    ) -> None:
        self.problems: list[str] = []
        self.doubts: list[str] = []
        self._robot, self._leader = robot, leader
        self._settings, self._arms = settings, arms
        self._finder = JointFinder(robot, leader, settings, arms, self.problems)

    def pair_limbs(self) -> dict[str, LimbPairing]:
        settings = self._settings
        if settings.through is not None and settings.mode == "joints":
            self.problems.append(
                "retarget.through: expected a mode in which poses drive, got 'joints'; "
                "use retarget.mode=auto, or leave retarget.through out"
            )
        if not self._robot.limbs:
            self.problems.append(
                f"follower '{self._robot.name}': expected a limb that a leader can "
                "drive, got none; describe one in follower.limbs of its YAML"
            )
            return {}
        wishes = self._list_wishes()
        found: dict[str, LimbPairing] = {}
        for name in self._robot.limbs:
            pair = self._pair(name, *wishes[name]) if name in wishes else None
            if pair is not None:
                found[name] = pair
        is_used = any(source.joints for p in found.values() for source in p.sources)
        if settings.joint_map and found and not is_used:
            used = {source.rule for p in found.values() for source in p.sources}
            rules = "', '".join(sorted(used))
            self.problems.append(
                f"retarget.joint_map: expected none in mode '{rules}', got "
                f"{len(settings.joint_map)} joints; remove it, or a leader that emits "
                "joints is needed"
            )
        if not found and not self.problems:
            self.problems.append(self._finder.say_nothing_fits())
        return found

    def _list_wishes(self) -> dict[str, tuple[str, list[str]]]:
        settings = self._settings
        if settings.limbs and settings.limb_map:
            self.problems.append(
                "retarget.limb_map: expected none beside retarget.limbs, got both; say "
                "it in retarget.limbs"
            )
        if settings.limbs:
            wishes = self._read_rules(settings.limbs)
            self._note_crossed(
                {name: own for name, (rule, own) in wishes.items() if rule != "look_at"}
            )
            return wishes
        chosen = self._read_limb_map()
        self._note_crossed(chosen)
        if not chosen:
            matched = self._match_names()
            self.problems += matched.problems
            self._note_doubts(matched, matched.limbs)
            unused = tell_unused(self._leader, matched.limbs.values())
            self.doubts += [unused] if unused else []
            chosen = {name: [own] for name, own in matched.limbs.items()}
        return {name: (settings.mode, limbs) for name, limbs in chosen.items()}

    def _note_doubts(self, matched: Namesakes, names: Iterable[str]) -> None:
        self.doubts += [
            matched.doubts[name] for name in names if name in matched.doubts
        ]

    def _note_crossed(self, chosen: Mapping[str, Iterable[str]]) -> None:
        crossed = tell_crossed(self._robot.info.limbs, self._leader, chosen)
        self.doubts += [text for text in crossed if text not in self.doubts]

    def _read_rules(
        self, rules: Mapping[str, LimbRuleSettings]
    ) -> dict[str, tuple[str, list[str]]]:
        wishes: dict[str, tuple[str, list[str]]] = {}
        matched = self._match_names()
        for name, rule in rules.items():
            where = f"retarget.limbs.{name}"
            if name not in self._robot.limbs:
                what = f"a limb of follower '{self._robot.name}'"
                self.problems.append(
                    expect_one_of("retarget.limbs", what, name, self._robot.limbs)
                )
                continue
            if rule.rule == "hold":
                continue
            name_of = self._find_watched(name, rule) if rule.rule == "look_at" else name
            if not name_of:
                continue
            from_ = rule.from_ or rules[name_of].from_
            given = [from_] if isinstance(from_, str) else list(from_)
            limbs = [self._find_limb(f"{where}.from", text) for text in given]
            if not given and name_of in matched.limbs:
                limbs = [matched.limbs[name_of]]
                self._note_doubts(matched, [name_of])
            if not limbs:
                self.problems.append(
                    f"{where}.from: expected a leader limb, got none, and none is "
                    f"named '{name}'; there are {listed(self._leader.limbs)}"
                )
            mode = self._settings.mode if rule.rule == "auto" else rule.rule
            wishes[name] = mode, [limb for limb in limbs if limb]
        return wishes

    def _find_watched(self, name: str, rule: LimbRuleSettings) -> str:
        others = {"look_at", "hold"}
        rules = self._settings.limbs.items()
        driven = [limb for limb, one in rules if one.rule not in others]
        if rule.of in driven:
            return rule.of
        self.problems.append(
            expect_one_of(
                f"retarget.limbs.{name}.of",
                "a limb that a leader drives",
                rule.of or "",
                driven,
            )
        )
        return ""

    def _find_limb(self, where: str, text: str) -> str:
        if text in self._leader.limbs:
            return text
        own = [limb for limb in self._leader.limbs if limb.startswith(f"{text}.")]
        if len(own) == 1:
            return own[0]
        self.problems.append(
            expect_one_of(where, "a leader limb", text, self._leader.limbs)
        )
        return ""

    def _read_limb_map(self) -> dict[str, list[str]]:
        where, chosen = "retarget.limb_map", dict[str, list[str]]()
        for name, text in self._settings.limb_map.items():
            if name not in self._robot.limbs:
                what = f"a limb of follower '{self._robot.name}'"
                self.problems.append(
                    expect_one_of(where, what, name, self._robot.limbs)
                )
                continue
            limb = self._find_limb(where, text)
            chosen[name] = [limb] if limb else []
        return chosen

    def _match_names(self) -> Namesakes:
        robot, leader = self._robot, self._leader
        found = match_names(robot.info.limbs, leader, self._match_joints())
        if found.limbs or found.problems:
            return found
        is_posed = not leader.emits_joints(leader.limbs[0]) or bool(self._arms)
        if len(leader.limbs) == 1 and (is_posed or self._settings.mode != "auto"):
            return match_first(robot.info.limbs, leader)
        if any(not leader.emits_joints(own) for own in leader.limbs):
            found.problems.append(
                "retarget.limb_map: expected follower limbs "
                f"({listed(robot.limbs)}) named as the leader's "
                f"({listed(leader.limbs)}), got none; map them in retarget.limb_map"
            )
        return found

    def _match_joints(self) -> dict[str, str]:
        # Arms are left out: they are compared by how they are built.
        is_mapped = bool(self._settings.joint_map)
        limbs = [
            own for own in self._leader.limbs if is_mapped or own not in self._arms
        ]
        found: dict[str, str] = {}
        for name, limb in self._robot.limbs.items():
            joints = [
                source.leader_limb
                for own in limbs
                for source in self._finder.find(own, limb.joint_names)
                if source is not None
            ]
            if joints:
                best = max(map(joints.count, limbs))
                equal = [own for own in limbs if joints.count(own) == best]
                same = [own for own in equal if find_side(own) == find_side(name)]
                found[name] = (same or equal)[0]
        return found

    def _pair(self, name: str, mode: str, limbs: list[str]) -> LimbPairing | None:
        found: list[LimbSource] = []
        for limb in limbs:
            rule, reason = self._choose_rule(name, mode, limb)
            if not rule:
                continue
            joints = self._finder.join(name, limb, mode) if rule == "joints" else ()
            found.append(
                LimbSource(leader_limb=limb, rule=rule, joints=joints, reason=reason)
            )
        return LimbPairing(sources=tuple(found)) if found else None

    def _choose_rule(self, name: str, mode: str, limb: str) -> tuple[str, str]:
        if mode in LED_BY_SIGHT:  # whatever its leader gives, it says when alone
            return mode, ""
        through = self._settings.through
        reason = "" if through is None else f"through {through}"
        if mode == "auto":
            is_posed = reason and not self._leader.emits_axes(limb)
            return ("relative", reason) if is_posed else self._find_rule(name, limb)
        got = "joints" if self._leader.emits_joints(limb) else "pose"
        got = "axes" if self._leader.emits_axes(limb) else got
        needed = mode if mode in {"joints", "axes"} else "pose"
        if got != needed and not (needed == "pose" and limb in self._arms):
            self.problems.append(
                f"retarget.mode: '{mode}' expected a leader that emits {needed}, "
                f"got one that emits {got}; use retarget.mode=auto"
            )
            return "", ""
        return mode, reason

    def _find_rule(self, name: str, limb: str) -> tuple[str, str]:
        if self._leader.emits_axes(limb):
            return "axes", ""
        if not self._leader.emits_joints(limb):
            is_absolute = self._leader.emits_places(limb)
            return ("absolute" if is_absolute else "relative"), ""
        if self._settings.joint_map or limb not in self._arms:
            return "joints", ""
        reason = find_difference(self._arms[limb], self._robot.limbs[name])
        return ("relative", reason) if reason else ("joints", "built alike")


def _strip_source(source: LimbSource, prefix: str) -> LimbSource:
    joints = tuple(
        replace(joint, leader_limb=joint.leader_limb.removeprefix(prefix))
        if joint is not None and joint.leader_limb.startswith(prefix)
        else None
        for joint in source.joints
    )
    return replace(
        source, leader_limb=source.leader_limb.removeprefix(prefix), joints=joints
    )
