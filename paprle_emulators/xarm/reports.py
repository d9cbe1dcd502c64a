"""Reports of the control box, on four ports. spec: data-description-of-tcp-port."""

from __future__ import annotations

import math
import struct

from paprle_emulators.xarm.arm import Arm
from paprle_emulators.xarm.kinematics import find_numbers
from paprle_emulators.xarm.protocol import (
    NORMAL,
    REAL,
    REALTIME,
    RICH,
    fill,
    pack_floats,
)

PERIODS = {REALTIME: 0.004, REAL: 0.01, NORMAL: 0.2, RICH: 0.2}
"""Of each port, [s]. spec: 250, 100, 5 and 5 Hz."""

_LENGTHS = {REALTIME: 784, REAL: 135, NORMAL: 145, RICH: 587}  # spec: bytes
_AMPERES_PER_TORQUE = 0.1  # [A/N·m] chosen: no figure
_VOLTS = 2400  # [0.01 V] chosen: a healthy supply
_SPEEDS = (0.1, 1000.0)  # [mm/s] spec: SDK; smallest and largest of the tool
_ACCELERATIONS = (1.0, 50000.0)  # [mm/s²] spec: the same


def pack_report(arm: Arm, port: int, version: str, now_ns: int) -> bytes:
    """Return a port's report."""
    if port == REALTIME:
        body = _pack_realtime(arm, now_ns)
    else:
        body = _pack_real(arm)
        if port == REAL:
            body += bytes(48)  # no force sensor
        else:
            body += _pack_condition(arm)
            if port == RICH:
                body += _pack_details(arm, version)
    length = _LENGTHS[port]
    return struct.pack(">I", length) + body.ljust(length - 4, b"\0")


def _pack_state(arm: Arm) -> bytes:
    return struct.pack(">BH", arm.mode << 4 | arm.state, arm.n_moves)


def _pack_real(arm: Arm) -> bytes:
    numbers = fill(arm.q) + find_numbers(arm.pose) + fill(arm.tau)
    return _pack_state(arm) + pack_floats(numbers)


def _pack_realtime(arm: Arm, now_ns: int) -> bytes:
    zeros, pose = [0.0] * 7, find_numbers(arm.pose)
    actual = fill(arm.q) + fill(arm.dq) + zeros
    numbers = actual * 2 + fill(_AMPERES_PER_TORQUE * arm.tau) + fill(arm.tau)
    tool = [0.0] * 42 + pose + [0.0] * 6 + pose
    head = struct.pack(">Q", now_ns // 1000) + _pack_state(arm) + bytes(17)
    return head + pack_floats(numbers + tool)


def _pack_condition(arm: Arm) -> bytes:
    bits = sum(1 << i for i in range(arm.n) if arm.is_enabled[i])
    codes = bytes((bits, bits, arm.error, arm.warning))
    numbers = pack_floats(find_numbers(arm.tool) + list(arm.load))
    return codes + numbers + bytes((arm.sensitivity, 3)) + pack_floats((0, 0, -1))


def _pack_details(arm: Arm, version: str) -> bytes:
    model = arm.model
    ids = bytes((model.kind, model.axis, 0xAA, 0x55, 0, 0))
    joint = (20.0, 0.01, 20.0, 0.0001, math.pi)  # spec: SDK; jerk, acceleration, speed
    plans = pack_floats((1000.0, *_ACCELERATIONS, *_SPEEDS, *joint, 2.3, 2.7))
    codes = bytes(x for pair in arm.servo_codes for x in pair) + bytes(2)
    heat = struct.pack(">7b", *arm.temperatures)
    speeds = pack_floats([0.0, *fill(arm.dq)])
    rest = bytes(4) + bytes(24) + bytes(2) + bytes((0, 1, 0)) + bytes(24)
    volts = struct.pack(">7H", *[_VOLTS] * 7)
    amperes = pack_floats(fill(_AMPERES_PER_TORQUE * arm.tau))
    name = version.encode("ascii")[:29].ljust(30, b"\0")
    return ids + name + plans + codes + heat + speeds + rest + volts + amperes
