"""Damiao's CAN frames from the motor's side.

Positions have 16 bits over ±PMAX, speeds and torques 12 bits over ±VMAX and ±TMAX, kp
12 bits over 0 … 500, kd 12 bits over 0 … 5. Source: Damiao's manuals of the DM-J4310,
DM-J4340P and DM-J8009.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

REGISTERS = 0x7FF  # spec: manual, arbitration ID of all register frames
READ, WRITE, SAVE, REFRESH = 0x33, 0x55, 0xAA, 0xCC  # spec: manual, byte 2 of them
ENABLE, DISABLE, SET_ZERO, CLEAR = 0xFC, 0xFD, 0xFE, 0xFB  # spec: manual, last byte
SPECIAL = bytes([0xFF] * 7)  # spec: manual, the seven bytes before it
KP_MAX, KD_MAX = 500.0, 5.0  # spec: manual, MIT frame
TIMEOUT_UNIT = 50e-6  # [s] spec: manual, register 9


class Register(IntEnum):
    """Emulated registers; spec: manual, openarm_can's constants."""

    UNDER_VOLTAGE = 0
    OVER_TEMPERATURE = 2
    OVER_CURRENT = 3
    MASTER_ID = 7
    ESC_ID = 8
    TIMEOUT = 9
    CONTROL_MODE = 10
    HARDWARE = 13
    SOFTWARE = 14
    GEAR = 20
    P_MAX = 21
    V_MAX = 22
    T_MAX = 23
    OVER_VOLTAGE = 29
    CAN_RATE = 35


class Status(IntEnum):
    """Upper half of a feedback's first byte; spec: manual."""

    DISABLED = 0x0
    ENABLED = 0x1
    OVER_VOLTAGE = 0x8
    UNDER_VOLTAGE = 0x9
    OVER_CURRENT = 0xA
    MOS_HOT = 0xB
    COIL_HOT = 0xC
    COMMUNICATION_LOST = 0xD
    OVERLOAD = 0xE


class Mit(NamedTuple):
    """A MIT command: [rad], [rad/s], [N·m/rad], [N·m·s/rad], [N·m]."""

    q: float
    dq: float
    kp: float
    kd: float
    tau: float


class Ranges(NamedTuple):
    """PMAX [rad], VMAX [rad/s] and TMAX [N·m]."""

    q: float
    dq: float
    tau: float


def is_integer(register: int) -> bool:
    """Return whether a register holds an integer."""
    return 7 <= register <= 10 or 13 <= register <= 16 or 35 <= register <= 36


def unpack_mit(data: bytes, ranges: Ranges) -> Mit:
    """Return an eight-byte command."""
    bits = int.from_bytes(data, "big")
    return Mit(
        q=_to_float(bits >> 48, -ranges.q, ranges.q, 16),
        dq=_to_float(bits >> 36 & 0xFFF, -ranges.dq, ranges.dq, 12),
        kp=_to_float(bits >> 24 & 0xFFF, 0.0, KP_MAX, 12),
        kd=_to_float(bits >> 12 & 0xFFF, 0.0, KD_MAX, 12),
        tau=_to_float(bits & 0xFFF, -ranges.tau, ranges.tau, 12),
    )


def pack_feedback(
    head: int, state: tuple[float, float, float], heat: tuple[int, int], ranges: Ranges
) -> bytes:
    """Return a feedback's eight bytes.

    ``head`` is status and low half of the ID, ``state`` in [rad], [rad/s] and [N·m],
    ``heat`` in [°C].
    """
    q = _to_int(state[0], ranges.q, 16)
    dq = _to_int(state[1], ranges.dq, 12)
    tau = _to_int(state[2], ranges.tau, 12)
    packed = q << 24 | dq << 12 | tau
    return bytes([head]) + packed.to_bytes(5, "big") + bytes(heat)


def pack_value(register: int, value: float) -> bytes:
    """Return a register's bytes, little-endian."""
    return (
        struct.pack("<I", int(value))
        if is_integer(register)
        else struct.pack("<f", value)
    )


def unpack_value(register: int, data: bytes) -> float:
    """Return a register's value."""
    form = "<I" if is_integer(register) else "<f"
    return float(struct.unpack(form, data)[0])


def _to_float(number: int, low: float, high: float, bits: int) -> float:
    return low + number * (high - low) / ((1 << bits) - 1)


def _to_int(value: float, bound: float, bits: int) -> int:
    """Convert over ±bound; firmware truncates."""
    share = (min(max(value, -bound), bound) + bound) / (2.0 * bound)
    return int(share * ((1 << bits) - 1))
