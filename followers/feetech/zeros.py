"""Joint zeros and limits by calibration; pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from paprle.contracts.types import GripperInfo, Vec
from paprle.hardware.feetech.calibration import MotorCalibration
from paprle.hardware.feetech.eeprom import Stored
from paprle.hardware.feetech.models import COUNTS, count_angle

_WHOLE = 0, COUNTS - 1
_FULL = math.radians(355.0)  # chosen: LeRobot gives such a range to joints that turn
_TIGHT = math.radians(3.0)  # chosen: a person stops a sweep that short of a stop
_WIDE = math.radians(25.0)  # chosen: more travel than that is another arm, or no arm


@dataclass(frozen=True, slots=True)
class JointMap:
    """q = sign · angle + shift; arrays (n,).

    Attributes:
        q_min: Of the calibrated ranges, [rad].
        q_max: [rad].
    """

    sign: Vec
    shift: Vec
    q_min: Vec
    q_max: Vec

    def to_joints(self, angle: Vec) -> Vec:
        """Return joint positions, [rad]."""
        q: Vec = self.sign * angle + self.shift
        return q

    def to_servos(self, q: Vec) -> Vec:
        """Return servo angles, clipped to calibrated ranges, [rad]."""
        angle: Vec = self.sign * (np.clip(q, self.q_min, self.q_max) - self.shift)
        return angle


def make_map(
    motors: Sequence[MotorCalibration],
    homings: Sequence[int],
    middles: Sequence[float],
    gripper: GripperInfo | None,
) -> JointMap:
    """Return an arm's map, the gripper's last.

    Args:
        motors: Calibration of each servo.
        homings: Current offsets, [counts].
        middles: Arm joints at mid-range, [rad].
        gripper: None without one.
    """
    sign = np.array([float(motor.sign) for motor in motors])
    shift, q_min, q_max = np.zeros((3, len(motors)))
    for i, (motor, homing) in enumerate(zip(motors, homings, strict=True)):
        if gripper is not None and i == len(motors) - 1:
            is_rising = gripper.open > gripper.closed
            end = motor.find_end(homing, is_low=is_rising)
            shift[i] = gripper.closed - sign[i] * end
            low = gripper.closed if is_rising else gripper.closed - motor.span
            q_min[i], q_max[i] = low, low + motor.span
        else:
            shift[i] = middles[i] - sign[i] * motor.find_middle(homing)
            q_min[i] = middles[i] - 0.5 * motor.span
            q_max[i] = middles[i] + 0.5 * motor.span
    return JointMap(sign, shift, q_min, q_max)


def find_tight_limits(
    names: Sequence[str], found: JointMap, q_min: Vec, q_max: Vec
) -> Mapping[str, float]:
    """Return limits beyond the calibrated ranges, by config key."""
    keys: dict[str, float] = {}
    for i, name in enumerate(names):
        if found.q_min[i] > q_min[i] + _TIGHT:
            keys[f"follower.limits.q_min.{name}"] = float(found.q_min[i])
        if found.q_max[i] < q_max[i] - _TIGHT:
            keys[f"follower.limits.q_max.{name}"] = float(found.q_max[i])
    return keys


def find_unreachable(
    names: Sequence[str], found: JointMap, stored: Sequence[Stored]
) -> list[str]:
    """Return joints whose calibrated range exceeds a servo's positions.

    Beyond the end of its counts, a servo goes the other way round.
    """
    ends = found.sign * (np.array([found.q_min, found.q_max]) - found.shift)
    low, high = np.sort(ends, axis=0)
    unreachable = []
    for i, (name, one) in enumerate(zip(names, stored, strict=True)):
        first, last = (one.range_min, one.range_max) if one.is_limited else _WHOLE
        is_low = low[i] < count_angle(first) - _TIGHT
        if is_low or high[i] > count_angle(last) + _TIGHT:
            unreachable.append(name)
    return unreachable


def find_wide_ranges(
    names: Sequence[str], found: JointMap, q_min: Vec, q_max: Vec
) -> list[str]:
    """Return joints calibrated wider than the robot's."""
    span, known = found.q_max - found.q_min, q_max - q_min
    return [
        f"{name}: expected a travel of {math.degrees(known[i]):.0f} [deg], got "
        f"{math.degrees(span[i]):.0f}"
        for i, name in enumerate(names)
        if known[i] + _WIDE < span[i] < _FULL
    ]
