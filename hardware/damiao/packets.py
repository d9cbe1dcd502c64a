"""Damiao's CAN frames.

Source: Damiao's manuals of the DM-J4310, DM-J4340P and DM-J8009.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

from paprle.hardware.damiao.models import MotorModel

REGISTERS = 0x7FF  # spec: arbitration ID of all register frames
FEEDBACK = 0x10  # spec: openarm_can and i2rt, an answer's ID less that of its motor
ENABLE, DISABLE, CLEAR = 0xFC, 0xFD, 0xFB  # spec: last byte of a special frame
READ, WRITE, REFRESH = 0x33, 0x55, 0xCC  # spec: byte 2 of a register frame
TIMEOUT, CONTROL_MODE, P_MAX, V_MAX, T_MAX = 9, 10, 21, 22, 23  # spec: registers
MIT = 1  # spec: register 10
TIMEOUT_UNIT = 50e-6  # [s] spec: register 9
KP_MAX, KD_MAX = 500.0, 5.0  # spec: [N·m/rad], [N·m·s/rad]
_HOTTEST = 200  # [°C] chosen: what no motor outlasts is no temperature
_INTEGERS = frozenset({7, 8, 9, 10, 13, 14, 15, 16, 35, 36})  # spec: openarm_can


class Status(IntEnum):
    """State of a motor; spec: manual."""

    DISABLED = 0x0
    ENABLED = 0x1
    OVER_VOLTAGE = 0x8
    UNDER_VOLTAGE = 0x9
    OVER_CURRENT = 0xA
    MOS_HOT = 0xB
    COIL_HOT = 0xC
    COMMUNICATION_LOST = 0xD
    OVERLOAD = 0xE


class Feedback(NamedTuple):
    """A motor's answer.

    Attributes:
        stamp_ns: Arrival, [ns].
        q: [rad].
        dq: [rad/s].
        tau: [N·m].
        mos: Of transistors, [°C].
        coil: [°C].
    """

    stamp_ns: int
    status: Status
    q: float
    dq: float
    tau: float
    mos: int
    coil: int


def pack_mit(model: MotorModel, command: tuple[float, ...]) -> bytes:
    """Return 8 bytes of q [rad], dq [rad/s], kp, kd, τ [N·m], rounded to steps."""
    q, dq, kp, kd, tau = command
    packed = _to_steps(q, -model.q, model.q, 16)
    packed = packed << 12 | _to_steps(dq, -model.dq, model.dq, 12)
    packed = packed << 12 | _to_steps(kp, 0.0, KP_MAX, 12)
    packed = packed << 12 | _to_steps(kd, 0.0, KD_MAX, 12)
    packed = packed << 12 | _to_steps(tau, -model.tau, model.tau, 12)
    return packed.to_bytes(8, "big")


def pack_special(code: int) -> bytes:
    """Return an enabling, disabling or clearing frame."""
    return bytes([0xFF] * 7 + [code])


def pack_register(number: int, code: int, register: int, value: float = 0.0) -> bytes:
    """Return a register frame; ``value`` is for writes."""
    form = "<I" if register in _INTEGERS else "<f"
    written = int(value) if register in _INTEGERS else value
    return struct.pack("<HBB", number, code, register) + struct.pack(form, written)


def pack_refresh(number: int) -> bytes:
    """Return a feedback request without a command."""
    return struct.pack("<HBB4x", number, REFRESH, 0)


def unpack_register(number: int, register: int, data: bytes) -> float | None:
    """Return the register's value in an answer; None for other frames."""
    heads = (struct.pack("<HBB", number, code, register) for code in (READ, WRITE))
    if len(data) != 8 or data[:4] not in heads:
        return None
    form = "<I" if register in _INTEGERS else "<f"
    return float(struct.unpack(form, data[4:])[0])


def unpack_feedback(
    model: MotorModel, number: int, data: bytes, stamp_ns: int
) -> Feedback | None:
    """Return a motor's feedback; None for other frames."""
    if len(data) != 8 or data[0] & 0xF != number & 0xF:
        return None
    status = data[0] >> 4
    if status not in set(Status) or max(data[6:]) > _HOTTEST:
        return None
    bits = int.from_bytes(data[1:6], "big")
    return Feedback(
        stamp_ns,
        Status(status),
        _to_number(bits >> 24, model.q, 16),
        _to_number(bits >> 12 & 0xFFF, model.dq, 12),
        _to_number(bits & 0xFFF, model.tau, 12),
        data[6],
        data[7],
    )


def _to_steps(value: float, low: float, high: float, bits: int) -> int:
    share = (min(max(value, low), high) - low) / (high - low)
    return round(share * ((1 << bits) - 1))


def _to_number(steps: int, bound: float, bits: int) -> float:
    return (2.0 * steps / ((1 << bits) - 1) - 1.0) * bound
