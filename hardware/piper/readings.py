"""What the SDK made of the arm, copied at once: its own objects go on changing.

Called on the reader's thread alone, right after the frame that completes a reading.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hardware.piper.protocol import (
    GRIPPER_STATE,
    JOINT_STATES,
    MOTORS_FAST,
    N_JOINTS,
)

_OTHERS_LATER_NS = 50_000_000  # [ns] chosen: speeds may be that much older than angles


@dataclass(frozen=True, slots=True)
class Motion:
    """Where the arm was at one instant, in its own units.

    Attributes:
        stamp_ns: Arrival of the oldest frame in it, [ns].
        angles: Six joints, [0.001°].
        speeds: Six joints, [0.001 rad/s].
        efforts: Six joints, from their current, [0.001 N·m].
        opening: Of the gripper, [0.001 mm].
        grip: Torque of the gripper's motor, [0.001 N·m].
        gripper_bits: Status bits of that motor.
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
    """What the arm says of itself, as the SDK names it.

    Attributes:
        stamp_ns: When it said so, [ns].
        mode: Control mode: 0 standby, 1 CAN, 2 teaching.
        status: Arm status: 0 normal.
        move_mode: 1: joint moves.
        error: Joints over their limit in the high byte, lost ones in the low byte.
    """

    stamp_ns: int
    mode: int
    status: int
    move_mode: int
    error: int


@dataclass(frozen=True, slots=True)
class Motor:
    """Slow report of a motor: status bits, temperatures [°C] and voltage [0.1 V]."""

    bits: int
    temperature: int
    voltage: int


def copy_motion(sdk: Any, arrivals: Mapping[int, int]) -> Motion:
    """Return where the arm is; the reports in it have all come, at ``arrivals``."""
    joints = sdk.GetArmJointMsgs().joint_state
    fast = sdk.GetArmHighSpdInfoMsgs()
    gripper = sdk.GetArmGripperMsgs().gripper_state
    motors = [getattr(fast, f"motor_{i + 1}") for i in range(N_JOINTS)]
    oldest = min(arrivals[can_id] for can_id in (GRIPPER_STATE, *MOTORS_FAST))
    return Motion(
        stamp_ns=min(*(arrivals[i] for i in JOINT_STATES), oldest + _OTHERS_LATER_NS),
        angles=tuple(getattr(joints, f"joint_{i + 1}") for i in range(N_JOINTS)),
        speeds=tuple(motor.motor_speed for motor in motors),
        efforts=tuple(motor.effort for motor in motors),
        opening=gripper.grippers_angle,
        grip=gripper.grippers_effort,
        gripper_bits=gripper.status_code,
    )


def copy_condition(sdk: Any, stamp_ns: int) -> Condition:
    """Return what the arm says of itself."""
    said = sdk.GetArmStatus().arm_status
    return Condition(
        stamp_ns=stamp_ns,
        mode=int(said.ctrl_mode),
        status=int(said.arm_status),
        move_mode=int(said.mode_feed),
        error=int(said.err_code),
    )


def copy_motors(sdk: Any) -> tuple[Motor, ...]:
    """Return the slow reports of the joints' motors."""
    slow = sdk.GetArmLowSpdInfoMsgs()
    motors = [getattr(slow, f"motor_{i + 1}") for i in range(N_JOINTS)]
    return tuple(
        Motor(motor.foc_status_code, max(motor.motor_temp, motor.foc_temp), motor.vol)
        for motor in motors
    )


def copy_limits(sdk: Any) -> dict[int, tuple[int, int]]:
    """Return one joint's limits, [0.1°]; the SDK's list is one of them six times."""
    said = sdk.GetCurrentMotorAngleLimitMaxVel().current_motor_angle_limit_max_vel
    limits = (int(said.min_angle_limit), int(said.max_angle_limit))
    return {int(said.motor_num): limits}
