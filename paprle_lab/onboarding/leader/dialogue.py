"""Measurement of a new leader."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from paprle.contracts.errors import ConfigError
from paprle.contracts.searches.servo_search import (
    FoundServo,
    MountedGripper,
    MountedServo,
    ServoSearch,
)
from paprle.contracts.types import Vec
from paprle.contracts.urdf.turn_words import describe_turns, reverse
from paprle_lab.onboarding.leader.arm_words import GRIPPER
from paprle_lab.onboarding.leader.geometry import Geometry
from paprle_lab.onboarding.leader.imported import Imported
from paprle_lab.onboarding.leader.posture_words import describe_posture
from paprle_lab.onboarding.leader.tracker import Tracker
from paprle_lab.onboarding.leader.two_poses import (
    DOUBT,
    JointPoses,
    ServoFit,
    choose_turns,
    compare_home,
    find_lone_turns,
    find_mirrored,
    find_residual,
    fit_servos,
)
from paprle_lab.onboarding.notes import Note

_WATCH = 0.3  # [s] chosen: a hand that holds a posture is still for so long
_STILL = math.radians(1.5)  # chosen: a held joint sways less
_SWEPT = math.radians(15.0)  # chosen: a joint that was turned on purpose
_SAID = math.radians(15.0)  # chosen: of a joint's turn between two words about it
_TRAVEL = 0.2  # [rad] chosen: a trigger that moves less cannot be held half open

Ask = Generator[str, str, Vec]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredLeader:
    """The result; ``lines`` with doubts begin with CHECK."""

    joints: tuple[MountedServo, ...]
    gripper: MountedGripper | None
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewArm:
    """The measured arm; ``home``: first posture, [rad]."""

    geometry: Geometry
    home: tuple[float, ...]
    imported: Imported | None = None


def count_servos(arm: NewArm) -> int:
    """Return the least number of servos."""
    return len(arm.home) + bool(arm.geometry.has_gripper)


def measure_leader(
    arm: NewArm, servos: Sequence[FoundServo], search: ServoSearch, note: Note
) -> Generator[str, str, MeasuredLeader]:
    """Measure the opened arm of found servos.

    ``search`` has those that obey no other one, in order; ``note`` takes observations
    from any thread.

    Yields:
        Requests to the operator; expects Enter when done.

    Returns:
        The servos of the joints.

    Raises:
        ConfigError: If there are more or fewer servos than joints.
    """
    first = [one for one in servos if one.obeys is None]
    with Tracker(search.read) as tracker:
        session = _Session(arm, first, tracker, note)
        yield from session.check_number()
        fits, gripper = yield from session.measure()
    twins = {one.obeys: one.id for one in servos if one.obeys is not None}
    return session.conclude(fits, gripper, twins)


class _Session:
    def __init__(
        self, arm: NewArm, servos: list[FoundServo], tracker: Tracker, note: Note
    ) -> None:
        self._arm, self._tracker, self.note = arm, tracker, note
        self._servos = servos
        self._names = arm.geometry.joint_names
        self._order = list(range(len(servos)))  # places of the joints' servos
        self._n = len(self._names)
        geometry = arm.geometry
        turns = choose_turns(self._names, arm.home, geometry.limits)
        self._poses = [
            JointPoses(name=name, first=q, turn=turn, gear=geometry.gears.get(name))
            for name, q, turn in zip(self._names, arm.home, turns, strict=True)
        ]
        q = dict(zip(self._names, arm.home, strict=True))
        self._words = describe_turns(geometry.urdf, self._names, geometry.eef_link, q)
        ends = (geometry.base_link, geometry.eef_link)
        self._picture = describe_posture(geometry.urdf, self._names, ends, q)

    @property
    def _has_gripper(self) -> bool:
        return len(self._servos) > self._n

    def check_number(self) -> Generator[str, str, None]:
        known, n = self._arm.geometry.has_gripper, len(self._servos)
        wanted = {self._n, self._n + 1} if known is None else {self._n + known}
        if n in wanted:
            if self._arm.imported is not None:
                self._sort_by_id(self._arm.imported)
            return
        listed = ", ".join(str(one.id) for one in self._servos)
        text = (
            f"expected {' or '.join(map(str, sorted(wanted)))} servos for "
            f"{', '.join(self._names)}{' and the gripper' if known else ''}, got {n}: "
            f"ids {listed}"
        )
        if n < min(wanted):
            raise ConfigError(f"{text}; check cables and ids of those that are missing")
        sweep = yield from self._ask_sweep(
            f"{text}. Two servos at one joint turn together: turn each joint to and "
            "fro, one after the other, and press Enter"
        )
        pairs = find_mirrored([str(one.id) for one in self._servos], sweep)
        if not pairs:
            raise ConfigError(f"{text}; describe every joint that has one")
        raise ConfigError([
            f"servos {a} and {b} turn one joint together: set the Secondary ID (12) of "
            f"{b} to {a} with DYNAMIXEL Wizard, and start again"
            for a, b in pairs
        ])  # fmt: skip

    def _sort_by_id(self, imported: Imported) -> None:
        wanted = [*imported.ids, *([imported.gripper[0]] if imported.gripper else [])]
        place = {one.id: i for i, one in enumerate(self._servos)}
        if sorted(wanted) != sorted(place):
            raise ConfigError(
                f"imported values: expected those of servos {sorted(place)}, got those "
                f"of {wanted}; is it another arm's file?"
            )
        self._order = [place[i] for i in wanted]

    def measure(self) -> Generator[str, str, tuple[list[ServoFit], Vec | None]]:
        """Return each joint's fit, and the gripper's angles closed and open."""
        imported, before = self._arm.imported, ""
        while True:
            first = yield from self._ask_posture(before + self._describe_first())
            second = None
            if imported is None:
                second = yield from self._ask_posture(self._describe_second())
            fits, problems = self._fit(first, second)
            before = "\n".join(problems) + "\nonce more, from the beginning:\n"
            if problems:
                continue
            is_same = yield from self._check_order(fits)
            if is_same:
                break
            before = ""
            fits, problems = self._fit(first, second)
            if not problems:
                break
            before = "\n".join(problems) + "\nonce more, from the beginning:\n"
        return fits, self._take_gripper(first, second)

    def _take_gripper(self, first: Vec, second: Vec | None) -> Vec | None:
        if not self._has_gripper:
            return None
        if second is None:
            imported = self._arm.imported
            gripper = None if imported is None else imported.gripper
            return None if gripper is None else np.array(gripper[1:])
        place = self._order[self._n]
        return np.array([first[place], second[place]])

    def _fit(self, first: Vec, second: Vec | None) -> tuple[list[ServoFit], list[str]]:
        places = self._order[: self._n]
        imported = self._arm.imported
        if imported is not None or second is None:
            fits = self._take_imported(first)
            return fits, compare_home(self._poses, fits, first[places])
        fits, problems = fit_servos(self._poses, first[places], second[places])
        if self._has_gripper:
            place = self._order[self._n]
            travel = abs(float(second[place] - first[place]))
            if travel < _TRAVEL:
                problems.append(
                    f"gripper: expected its servo to turn by {_TRAVEL} [rad] or more "
                    f"from closed to open, got {travel:.2f}"
                )
        return fits, problems

    def _take_imported(self, first: Vec) -> list[ServoFit]:
        imported = self._arm.imported
        if imported is None:
            return []
        fits = []
        for i, pose in enumerate(self._poses):
            fit = ServoFit(
                sign=imported.signs[i],
                offset=imported.offsets[i],
                gear=1.0,
                residual=0.0,
            )
            off = find_residual(pose.first, fit, float(first[self._order[i]]))
            fits.append(
                ServoFit(sign=fit.sign, offset=fit.offset, gear=1.0, residual=off)
            )
        return fits

    def _describe_first(self) -> str:
        degrees = ", ".join(
            f"{pose.name} {math.degrees(pose.first):+.0f}" for pose in self._poses
        )
        picture = "\n".join(f"  {line}" for line in self._picture)
        closed = ", the gripper closed" if self._has_gripper else ""
        return (
            f"first posture: put the arm as follows{closed}, and hold it still\n"
            f"{picture}\n  joints in [deg]: {degrees}"
        )

    def _describe_second(self) -> str:
        rows = [
            f"  {pose.name}: by {abs(math.degrees(pose.turn)):.0f} [deg], so that "
            f"{self._say_turn(pose.name, pose.turn)}"
            for pose in self._poses
        ]
        if self._has_gripper:
            rows.append("  gripper: until it is open")
        return "\n".join([
            "second posture: from there turn each joint, and hold the arm still", *rows,
        ])  # fmt: skip

    def _say_turn(self, name: str, turn: float) -> str:
        words = self._words[name]
        return words if turn >= 0.0 else reverse(words)

    def _ask_posture(self, text: str) -> Ask:
        asked = text
        while True:
            yield asked
            rows = self._tracker.watch(_WATCH)
            if len(rows) and np.ptp(rows, axis=0).max() < _STILL:
                mean: Vec = rows.mean(axis=0)
                return mean
            asked = f"{text} (expected all servos to answer and to stand still)"

    def _ask_sweep(self, text: str) -> Ask:
        first = max(self._tracker.n - 1, 0)
        yield text
        return self._tracker.take(first)

    def _check_order(self, fits: Sequence[ServoFit]) -> Generator[str, str, bool]:
        listed = [*self._names, *([GRIPPER] if self._has_gripper else [])]
        text = (
            "turn each joint to and fro by 30 [deg] or more, one after the other, from "
            f"the base to the hand: {', '.join(listed)}; compare the words that come, "
            "and press Enter when all are done"
        )
        before = ""
        while True:
            self._tracker.listen = _Narrator(self, fits).listen
            sweep = yield from self._ask_sweep(before + text)
            self._tracker.listen = None
            travels, moved = find_lone_turns(sweep)
            travel = travels[self._order]
            still = [n for n, t in zip(listed, travel, strict=True) if not t >= _SWEPT]
            if still:
                named = ", ".join(still)
                before = f"expected every joint to turn alone, got {named} still\n"
                continue
            if moved == self._order:
                return True
            answer = yield self._describe_exchange(listed, moved)
            if answer == "y":
                self._order = moved
                return False
            before = ""

    def _describe_exchange(self, listed: Sequence[str], moved: Sequence[int]) -> str:
        rows = [
            f"{name}: expected its servo ({self._servos[mine].id}) to move as number "
            f"{i + 1} of the sweep, got servo {self._servos[other].id}"
            for i, (name, mine, other) in enumerate(
                zip(listed, self._order, moved, strict=True)
            )
            if mine != other
        ]
        ids = ", ".join(str(self._servos[place].id) for place in moved)
        return "\n".join([
            *rows,
            f"type y if you turned them in this order, so that the ids are {ids} from "
            "the base to the hand; else press Enter to turn them again",
        ])  # fmt: skip

    def conclude(
        self,
        fits: Sequence[ServoFit],
        gripper: Vec | None,
        twins: Mapping[int, int],
    ) -> MeasuredLeader:
        found = [self._servos[place] for place in self._order]
        joints = tuple(
            MountedServo(
                joint=name,
                id=servo.id,
                model=servo.model,
                twin=twins.get(servo.id),
                sign=fit.sign,
                offset=fit.offset,
                gear=fit.gear,
            )
            for name, servo, fit in zip(self._names, found, fits, strict=False)
        )
        hand = None
        if gripper is not None:
            closed, opened = gripper.tolist()
            last = found[self._n]
            hand = MountedGripper(
                joint=GRIPPER, id=last.id, model=last.model, closed=closed, open=opened
            )
        lines = [self._report(one, fit) for one, fit in zip(joints, fits, strict=True)]
        return MeasuredLeader(joints=joints, gripper=hand, lines=tuple(lines))

    def _report(self, one: MountedServo, fit: ServoFit) -> str:
        off = math.degrees(fit.residual)
        twin = "" if one.twin is None else f" and {one.twin}"
        shown = "the file" if self._arm.imported else "each other"
        text = (
            f"{one.joint}: servo {one.id}{twin}, sign {one.sign:+d}, gear "
            f"{one.gear:.4g}; the postures differ from {shown} by {off:+.1f} [deg]"
        )
        if abs(fit.residual) <= DOUBT:
            return text
        return (
            f"CHECK: {text}: its zero is uncertain by half of that; show the postures "
            "again, or run paprle calibrate"
        )

    def name_motion(self, place: int, turned: float, fits: Sequence[ServoFit]) -> str:
        servo = self._servos[place]
        i = self._order.index(place)
        if i >= self._n:
            return f"gripper (servo {servo.id})"
        words = self._say_turn(self._names[i], fits[i].sign * turned)
        return f"{self._names[i]} (servo {servo.id}): {words}"


class _Narrator:
    def __init__(self, session: _Session, fits: Sequence[ServoFit]) -> None:
        self._session, self._fits = session, fits
        self._said: Vec | None = None

    def listen(self, angle: Vec) -> None:
        """Take the newest angles, [rad]; in the tracker's thread."""
        if self._said is None:
            self._said = angle.copy()
        turned = angle - self._said
        place = int(np.abs(turned).argmax())
        if abs(turned[place]) < _SAID:
            return
        way = float(turned[place])
        self._session.note(self._session.name_motion(place, way, self._fits))
        self._said = angle.copy()
