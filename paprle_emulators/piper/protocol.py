"""The PiPER's CAN frames from the arm's side.

Big-endian; joints in 0.001°, the gripper in 0.001 mm of opening and 0.001 N·m.
Source: AgileX's PiPER manual, interface protocol V2.
"""

from __future__ import annotations

import math
import re
import struct
from enum import IntEnum
from typing import NamedTuple

STOP, MODE, GRIPPER, ENABLE = 0x150, 0x151, 0x159, 0x471  # spec: protocol V2
JOINTS = (0x155, 0x156, 0x157)  # spec: two joints each
QUERY_LIMITS, FIRMWARE = 0x472, 0x4AF  # spec: protocol V2
STATUS, POSE, GRIPPER_STATE = 0x2A1, (0x2A2, 0x2A3, 0x2A4), 0x2A8  # spec: protocol V2
JOINT_STATES = (0x2A5, 0x2A6, 0x2A7)  # spec: two joints each
MOTORS_FAST = tuple(range(0x251, 0x257))  # spec: speed and current of joints 1 … 6
MOTORS_SLOW = tuple(range(0x261, 0x267))  # spec: voltage, temperatures, status bits
LIMITS, ACCELERATION = 0x473, 0x47C  # spec: answers to QUERY_LIMITS
QUERY_SETTINGS, GRIPPER_SETTINGS = 0x477, 0x47E  # spec: protocol V2, and its answer
ASKS_GRIPPER = 0x04  # spec: protocol V2, byte 0 of 0x477

N_JOINTS = 6
ANGLE_LIMITS_DEG = (  # spec: manual
    (-150, 150),
    (0, 180),
    (-170, 0),
    (-100, 100),
    (-70, 70),
    (-120, 120),
)
MAX_OPENING_MM = 70.0  # [mm] spec: manual
MOVE_J, MOVE_M = 1, 4  # spec: protocol V2, byte 2 of 0x2A1: joint moves, MIT
QUARTER_UNTIL = (1, 8, 2)
"""Last firmware with which reports of joints 1 to 3, times the SDK's constants, are a
quarter of the torque. spec: piper_sdk, Q&A 3.2, and its issue 104."""

QUARTER = (4.0, 4.0, 4.0, 1.0, 1.0, 1.0)  # spec: the same
STICKY_BELOW = (1, 8, 6)
"""Firmware below this stays in MIT and JS until a reset. spec: piper_sdk, issue 83
(S-V1.8-5 and older); pyAgxArm's move_js says older than S-V1.8-5."""

TORQUE_PER_AMPERE = (1.18125,) * 3 + (0.95844,) * 3  # [N·m/A] spec: SDK's constants

_FRAME = struct.Struct("=IB3x8s")  # spec: struct can_frame of linux/can.h
FRAME_SIZE = _FRAME.size
ERROR_FLAG = 0x20000000  # spec: CAN_ERR_FLAG of linux/can.h
BUS_OFF = 0x40  # spec: CAN_ERR_BUSOFF of linux/can/error.h
_ID_MASK = 0x1FFFFFFF  # spec: CAN_EFF_MASK of linux/can.h


class Frame(NamedTuple):
    """One CAN frame."""

    can_id: int
    data: bytes
    is_error: bool = False


class ControlMode(IntEnum):
    """Source of commands (byte 0 of 0x2A1)."""

    STANDBY = 0
    CAN = 1
    TEACHING = 2


class ArmStatus(IntEnum):
    """Arm status (byte 1 of 0x2A1)."""

    NORMAL = 0
    EMERGENCY_STOP = 1
    TARGET_BEYOND_LIMIT = 4
    JOINT_COMMUNICATION = 5
    COLLISION = 7
    JOINT_ERROR = 9


class MotorBit(IntEnum):
    """Motor status bits (0x261 …, byte 5; 0x2A8, byte 6)."""

    VOLTAGE_LOW = 0
    MOTOR_HOT = 1
    OVERCURRENT = 2
    DRIVER_HOT = 3
    COLLISION = 4
    DRIVER_ERROR = 5
    ENABLED = 6
    STALLED = 7


def pack_frame(frame: Frame) -> bytes:
    """Return a frame as ``struct can_frame``."""
    flag = ERROR_FLAG if frame.is_error else 0
    return _FRAME.pack(frame.can_id | flag, len(frame.data), frame.data)


def unpack_frame(packet: bytes) -> Frame:
    """Return a ``struct can_frame``'s frame."""
    can_id, length, data = _FRAME.unpack(packet)
    is_error = bool(can_id & ERROR_FLAG)
    return Frame(can_id & _ID_MASK, data[: min(length, 8)], is_error)


def to_millideg(angle: float) -> int:
    """Return [rad] in 0.001°."""
    return round(math.degrees(angle) * 1e3)


def from_millideg(angle: int) -> float:
    """Return 0.001° in [rad]."""
    return math.radians(angle * 1e-3)


def pack_pair(first: int, second: int) -> bytes:
    """Return two int32."""
    return struct.pack(">ii", first, second)


def unpack_pair(data: bytes) -> tuple[int, int]:
    """Return two int32."""
    first, second = struct.unpack(">ii", data)
    return first, second


def pack_status(
    mode: int, status: int, move_mode: int, is_moving: bool, error: int
) -> bytes:
    """Return 0x2A1; ``error`` has limit bits in its high byte."""
    return struct.pack(">BBBBBBH", mode, status, move_mode, 0, is_moving, 0, error)


def pack_gripper_state(opening_um: int, torque_mnm: int, bits: int) -> bytes:
    """Return 0x2A8."""
    return struct.pack(">ihBx", opening_um, torque_mnm, bits)


def unpack_gripper(data: bytes) -> tuple[int, int, int]:
    """Return [0.001 mm], [0.001 N·m] and code of 0x159."""
    opening, torque, code, _ = struct.unpack(">ihBB", data)
    return opening, torque, code


def pack_motor_fast(speed: float, current: float, position: float) -> bytes:
    """Return 0x251 …: [rad/s], [A], [rad]."""
    return struct.pack(
        ">hhi", _to_int16(speed * 1e3), _to_int16(current * 1e3), to_millideg(position)
    )


def pack_motor_slow(voltage: float, driver: int, motor: int, bits: int) -> bytes:
    """Return 0x261 …: [V], two temperatures [°C], status bits."""
    return struct.pack(">HhbBH", round(voltage * 10), driver, motor, bits, 0)


def parse_firmware(text: str) -> tuple[int, ...]:
    """Return ``S-V1.6-3`` as (1, 6, 3)."""
    return tuple(map(int, re.findall(r"\d+", text)))


def pack_gripper_settings(stroke_mm: int) -> bytes:
    """Return 0x47E: stroke, 0 if not set."""
    return struct.pack(">BBB5x", 100, stroke_mm, 1)


def pack_limits(joint: int, low_deg: float, high_deg: float, speed: float) -> bytes:
    """Return 0x473: joint from 1, [°], [rad/s]."""
    numbers = (joint, round(high_deg * 10), round(low_deg * 10), round(speed * 1e3))
    return struct.pack(">BhhHx", *numbers)


def pack_acceleration(joint: int, acceleration: float) -> bytes:
    """Return 0x47C: joint from 1, [rad/s²]."""
    return struct.pack(">BH5x", joint, round(acceleration * 1e3))


def _to_int16(value: float) -> int:
    return max(-32768, min(32767, round(value)))
