"""Readings of the arm, immutable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from paprle.hardware.piper.protocol import (
    GRIPPER_STATE,
    JOINT_STATES,
    MOTORS_FAST,
    N_JOINTS,
)

_JOINTS = range(1, N_JOINTS + 1)  # spec: the SDK counts joints from 1
_OTHERS_LATER_NS = 50_000_000  # [ns] chosen: speeds may be that much older than angles


@dataclass(frozen=True, slots=True)
class ArmReading:
    """The arm at one instant, in its units.

    Attributes:
        stamp_ns: Oldest frame's arrival, [ns].
        angles: [0.001°].
        speeds: [0.001 rad/s].
        efforts: See QUARTER_UNTIL.
        opening: Of the gripper, [0.001 mm].
        grip: Motor torque, [0.001 N·m].
    """

    stamp_ns: int
    angles: tuple[int, ...]
    speeds: tuple[int, ...]
    efforts: tuple[float, ...]
    opening: int
    grip: int
    gripper_bits: int


@dataclass(frozen=True, slots=True)
class Condition:
    """Condition, in the SDK's numbers.

    Attributes:
        stamp_ns: Arrival, [ns].
        mode: 0 standby, 1 CAN, 2 teaching.
        status: 0 normal.
        move_mode: 1: joint moves.
        error: High byte: joints over limits; low: lost ones.
    """

    stamp_ns: int
    mode: int
    status: int
    move_mode: int
    error: int


@dataclass(frozen=True, slots=True)
class Motor:
    """Motor's status bits, temperatures [°C] and voltage [0.1 V]."""

    bits: int
    temperature: int
    voltage: int


def make_motion(message: Any, arrivals: Mapping[int, int]) -> ArmReading:
    """Return the motion of complete reports."""
    joints, gripper = message.arm_joint_feedback, message.gripper_feedback
    fast = [getattr(message, f"arm_high_spd_feedback_{i}") for i in _JOINTS]
    oldest = min(arrivals[can_id] for can_id in (GRIPPER_STATE, *MOTORS_FAST))
    return ArmReading(
        stamp_ns=min(*(arrivals[i] for i in JOINT_STATES), oldest + _OTHERS_LATER_NS),
        angles=tuple(getattr(joints, f"joint_{i}") for i in _JOINTS),
        speeds=tuple(motor.motor_speed for motor in fast),
        efforts=tuple(motor.cal_effort() for motor in fast),
        opening=gripper.grippers_angle,
        grip=gripper.grippers_effort,
        gripper_bits=gripper.status_code,
    )


def make_condition(message: Any, stamp_ns: int) -> Condition:
    """Return a status message's condition."""
    said = message.arm_status_msgs
    return Condition(
        stamp_ns=stamp_ns,
        mode=int(said.ctrl_mode),
        status=int(said.arm_status),
        move_mode=int(said.mode_feed),
        error=int(said.err_code),
    )


def make_motors(message: Any) -> tuple[Motor, ...]:
    """Return the motors' slow reports."""
    slow = [getattr(message, f"arm_low_spd_feedback_{i}") for i in _JOINTS]
    return tuple(
        Motor(motor.foc_status_code, max(motor.motor_temp, motor.foc_temp), motor.vol)
        for motor in slow
    )


def make_limits(message: Any) -> dict[int, tuple[int, int]]:
    """Return a joint's limits, [0.1°]."""
    said = message.arm_feedback_current_motor_angle_limit_max_spd
    return {said.motor_num: (said.min_angle_limit, said.max_angle_limit)}
