"""Plausibility of an arm's calibration.

It contradicts the robot if its range is another joint's or ends before a stop, and the
servo if homing offsets differ or the joint stands outside its range. A horn fitted
elsewhere since does not show within the range.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from paprle.hardware.feetech.calibration import MIDDLE, MotorCalibration
from paprle.hardware.feetech.eeprom import Stored
from paprle.hardware.feetech.models import COUNTS, UNIT, ServoSpec

_FREE = math.radians(300.0)  # chosen: LeRobot's files have such joints turn freely
_DRIFT = math.radians(3.0)  # chosen: a person repeats a calibration less exactly
_BEYOND = math.radians(5.0)  # chosen: a joint bends less when pressed into a stop
_NARROW = math.radians(10.0)  # chosen: a sweep that ends at both stops misses less
_WIDE = math.radians(
    25.0
)  # chosen: more than the robot's travel: another joint or gear
_LEAST_SHARE = 0.75  # chosen: as a calibration accepts
_MIDDLE_OFF = math.radians(8.0)  # chosen: a person shows a middle within 5 to 8 degrees
_EXCHANGED = math.radians(4.0)  # chosen: two sweeps of one joint differ less
_LEAST_GRIP = math.radians(20.0)  # chosen: a gripper that moves less does not open
_DEGREES = 360  # counts of a range in the middle of 4096 are more


@dataclass(frozen=True, slots=True, kw_only=True)
class Joint:
    """A joint of the robot.

    Attributes:
        travel: Stop to stop, [rad]; infinite: free.
    """

    name: str
    spec: ServoSpec
    travel: float
    is_gripper: bool = False

    @property
    def has_stops(self) -> bool:
        """Whether its range is less than a turn."""
        return self.travel < _FREE


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A calibrated joint.

    Attributes:
        stored: At the servo.
        position: Present, [counts].
    """

    joint: Joint
    motor: MotorCalibration
    stored: Stored
    position: int

    @property
    def name(self) -> str:
        """Name of the joint."""
        return self.joint.name

    @property
    def drift(self) -> float:
        """Calibrated less the servo's homing offset, [rad]."""
        return find_drift(self.motor, self.stored)

    @property
    def misfit(self) -> float:
        """Calibrated range off the travel, [rad]."""
        return find_misfit(self.joint, self.motor)


def find_drift(motor: MotorCalibration, stored: Stored) -> float:
    """Return the calibrated less the servo's homing offset, [rad]."""
    counts = motor.homing_offset - stored.homing_offset
    return UNIT * ((counts + COUNTS // 2) % COUNTS - COUNTS // 2)


def find_misfit(joint: Joint, motor: MotorCalibration) -> float:
    """Return a calibrated range's difference from the travel, [rad]."""
    if joint.has_stops:
        return abs(motor.span - joint.travel)
    return 0.0 if motor.span >= _FREE else _FREE - motor.span + _WIDE


def find_unusable(arm: Sequence[Calibrated]) -> Iterator[str]:
    """Yield joints without a usable range."""
    for one in arm:
        low, high = one.motor.range_min, one.motor.range_max
        where = f"{one.name}: expected a range of counts from low to high"
        if low == high == 0:
            yield (
                f"{where}, got no limits: the servo counts several turns, which are "
                "lost with its power"
            )
        elif low > high:
            yield f"{where}, got a reversed one, {low} to {high}"
        elif low == high:
            same = ": its gripper would be closed and open at once"
            yield f"{where}, got none, {low} to {high}{same * one.joint.is_gripper}"
        elif high <= _DEGREES:
            yield f"{where}, got {low} to {high}: are these degrees?"


def find_file_doubts(
    motors: Mapping[str, MotorCalibration], joints: Sequence[Joint]
) -> Iterator[str]:
    """Yield contradictions of a file and an arm."""
    ids = {joint.name: joint.spec.id for joint in joints}
    for name, motor in motors.items():
        # a file has no name of a limb before that of a joint
        named = [i for own, i in ids.items() if own == name or own.endswith(f"_{name}")]
        if named and motor.id not in named:
            yield (
                f"{name}: expected its servo {named[0]} in the file, got id "
                f"{motor.id}: entries of two joints are exchanged"
            )
    extra = [name for name, motor in motors.items() if motor.id not in ids.values()]
    if extra:
        yield (
            f"expected motors {', '.join(ids)} in the file, got {', '.join(extra)} as "
            "well: it is another robot's"
        )


def find_drifts(arm: Sequence[Calibrated]) -> Iterator[str]:
    """Yield servos unlike the file's."""
    off = [one for one in arm if abs(one.drift) > _DRIFT]
    pairs = [
        (one, other)
        for i, one in enumerate(off)
        for other in off[i + 1 :]
        if abs(find_drift(one.motor, other.stored)) <= _DRIFT
        and abs(find_drift(other.motor, one.stored)) <= _DRIFT
    ]
    if pairs:
        for one, other in pairs:
            yield (
                f"{one.name} and {other.name}: expected the homing offsets of the "
                "file, got each other's: the ids of their servos are exchanged; give "
                "them theirs with paprle setup-servos"
            )
    elif 2 * len(off) >= len(arm):
        yield (
            f"{_list(off)}: expected the homing offsets of the file, got others at "
            "the servos: the file is another arm's, or of an earlier calibration"
        )
    else:
        for one in off:
            yield (
                f"{one.name}: expected a homing offset of {one.motor.homing_offset}, "
                f"as the file has, got {one.stored.homing_offset} at the servo, "
                f"{math.degrees(one.drift):+.0f} [deg] away: the file is older than "
                "the servo's calibration, or another program has changed it"
            )
    yield from _find_other_limits([one for one in arm if one not in off])


def _find_other_limits(arm: Sequence[Calibrated]) -> Iterator[str]:
    for one in arm:
        motor, stored = one.motor, one.stored
        ends = (
            ("lower", motor.range_min - stored.range_min),
            ("upper", stored.range_max - motor.range_max),
        )
        for end, missing in ends:
            if stored.is_limited and missing * UNIT < -_DRIFT:
                yield (
                    f"{one.name}: expected the range of the file, "
                    f"{motor.range_min} to {motor.range_max}, got limits of "
                    f"{stored.range_min} to {stored.range_max} at the servo, which "
                    f"end {math.degrees(-missing * UNIT):.0f} [deg] before the {end} "
                    "end"
                )


def find_contradictions(arm: Sequence[Calibrated]) -> Iterator[str]:
    """Yield joints contradicting robot or position."""
    exchanged = _find_exchanged(arm)
    for one, other in exchanged:
        yield (
            f"{one.name} and {other.name}: expected calibrated travels of "
            f"{_degrees(one.joint.travel)} and {_degrees(other.joint.travel)} [deg], "
            f"got {_degrees(one.motor.span)} and {_degrees(other.motor.span)}, which "
            "are each other's: the ids of their servos are exchanged; give them theirs "
            "with paprle setup-servos"
        )
    known = [one for pair in exchanged for one in pair]
    for one in arm:
        if one not in known:
            yield from _judge_travel(one)
        yield from _judge_sign(one)
        yield from _judge_position(one)


def _find_exchanged(
    arm: Sequence[Calibrated],
) -> list[tuple[Calibrated, Calibrated]]:
    return [
        (one, other)
        for i, one in enumerate(arm)
        for other in arm[i + 1 :]
        if min(one.misfit, other.misfit) > _EXCHANGED
        and find_misfit(one.joint, other.motor) <= _EXCHANGED
        and find_misfit(other.joint, one.motor) <= _EXCHANGED
    ]


def _judge_travel(one: Calibrated) -> Iterator[str]:
    joint, span = one.joint, one.motor.span
    if not joint.has_stops:
        if span < _FREE:
            yield (
                f"{one.name}: expected a range of a whole turn, got "
                f"{_degrees(span)} [deg]"
            )
        return
    missing = joint.travel - span
    expected = f"{one.name}: expected a calibrated travel of {_degrees(joint.travel)}"
    off = UNIT * (0.5 * (one.motor.range_min + one.motor.range_max) - MIDDLE)
    if joint.is_gripper:  # its opening is what its range is
        if span < _LEAST_GRIP:
            yield (
                f"{expected} [deg], got {_degrees(span)}: it would be closed and open "
                "at the same place"
            )
    elif span < _LEAST_SHARE * joint.travel or (
        missing > _NARROW and abs(off) > _MIDDLE_OFF
    ):
        end = "upper" if off < 0.0 else "lower"
        yield (
            f"{expected} [deg], got {_degrees(span)}: a stop was not reached, by its "
            f"middle the {end} one, so that its zero is {_degrees(0.5 * missing)} "
            "[deg] off"
        )
    if -missing > _WIDE:
        yield (
            f"{expected} [deg], got {_degrees(span)}: it is another joint's, its horn "
            "slips, or its sweep passed a stop"
        )


def _judge_sign(one: Calibrated) -> Iterator[str]:
    if one.motor.drive_mode:
        yield (
            f"{one.name}: expected drive mode 0, as LeRobot has for every servo of "
            "such an arm, got 1: the joint goes the other way; unless its servo is "
            "mounted mirrored set drive_mode 0 in the file"
        )


def _judge_position(one: Calibrated) -> Iterator[str]:
    if not 0 <= one.position < COUNTS:
        yield (
            f"{one.name}: expected a position of one turn, got {one.position} "
            "[counts]: the servo counts turns, and loses them with its power"
        )
        return
    if not one.joint.has_stops:
        return
    middle = 0.5 * (one.motor.range_min + one.motor.range_max)
    place = one.position - one.drift / UNIT - middle
    away = UNIT * ((place + COUNTS / 2) % COUNTS - COUNTS / 2)
    beyond = abs(away) - 0.5 * one.motor.span
    if beyond > _BEYOND:
        end = "upper" if away > 0.0 else "lower"
        yield (
            f"{one.name}: expected it within its calibrated range, got it "
            f"{_degrees(beyond)} [deg] beyond the {end} end: its homing offset was "
            "changed, its horn was fitted anew, or its sweep ended before the stop"
        )


def _list(arm: Sequence[Calibrated]) -> str:
    return ", ".join(one.name for one in arm)


def _degrees(angle: float) -> str:
    return f"{math.degrees(angle):.0f}"
