"""Frames of the private TCP protocol, from the control box's side.

Headers are big-endian, numbers of 32 bits little-endian. Source: xArm-Developer/
ufactory_docs, private_tcp_protocol and data-description-of-tcp-port.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

CONTROL, PASSTHROUGH = 502, 503  # spec: TCP ports; 503 carries RS485 alone
REALTIME, NORMAL, RICH, REAL = 30000, 30001, 30002, 30003  # spec: ports of reports
PROTOCOLS = (2, 3)  # spec: protocol identifiers; 3 from firmware 1.8.6 on
CANNOT_MOVE, HAS_WARNING, HAS_ERROR = 0x10, 0x20, 0x40  # spec: bits of the status
INVALID = 0x08  # spec: the same
N_MOST = 7  # spec: joints in every frame, whatever the arm has
_HEADER = struct.Struct(">HHHB")
_LONGEST = 512  # chosen: longer than any frame; a longer one is no frame


class Register(IntEnum):
    """Emulated registers."""

    VERSION = 1
    SERIAL = 2
    ENABLE = 11
    SET_STATE = 12
    STATE = 13
    N_COMMANDS = 14
    ERROR = 15
    CLEAN_ERROR = 16
    CLEAN_WARNING = 17
    BRAKE = 18
    SET_MODE = 19
    MOVE_LINE = 21
    MOVE_LINE_BLENDED = 22
    MOVE_JOINT = 23
    MOVE_JOINT_BLENDED = 24
    MOVE_HOME = 25
    PAUSE = 26
    MOVE_LINE_TOOL = 28
    SERVO_JOINT = 29
    SERVO_POSE = 30
    TOOL_OFFSET = 35
    LOAD = 36
    COLLISION = 37
    TEACHING = 38
    POSE = 41
    JOINTS = 42
    INVERSE = 43
    FORWARD = 44
    REDUCED_LINE = 47
    REDUCED_JOINT = 48
    REDUCED_STATE = 49
    REDUCED = 50
    TORQUES = 55
    WORLD_OFFSET = 73
    MOVE_RELATIVE = 83
    POSE_AXIS = 91
    MOVE_LINE_AXIS = 92
    SERVO_POSE_AXIS = 93
    RS485 = 124
    TOOL_WRITE = 127
    TOOL_READ = 128
    FEEDBACK_TYPE = 254


SILENT_SETTINGS = frozenset(
    (5, 31, 32, 33, 34, 39, 40, 51, 56, 60, 66, 74, 77, 78, 123, 253)
)
"""Registers that are taken and change nothing here."""


class Mode(IntEnum):
    """Motion modes. spec: p08-system-state, register 19."""

    POSITION = 0
    SERVO = 1
    MANUAL = 2


class State(IntEnum):
    """Reported states. spec: robot-state-and-mode-explanation."""

    MOVING = 1
    READY = 2
    PAUSED = 3
    STOPPED = 4
    RESET = 5


class Request(NamedTuple):
    """A client's request."""

    transaction: int
    protocol: int
    register: int
    data: bytes


def take_requests(buffer: bytearray) -> Iterator[Request]:
    """Yield and remove complete requests.

    Raises:
        ValueError: If malformed.
    """
    while len(buffer) >= _HEADER.size:
        transaction, protocol, length, register = _HEADER.unpack_from(buffer)
        if not 1 <= length <= _LONGEST:
            raise ValueError(f"expected a frame's length, got {length}")
        end = _HEADER.size - 1 + length
        if len(buffer) < end:
            return
        data = bytes(buffer[_HEADER.size : end])
        del buffer[:end]
        yield Request(transaction, protocol, register, data)


def pack_response(request: Request, status: int, data: bytes = b"") -> bytes:
    """Return the answer to a request."""
    head = _HEADER.pack(
        request.transaction, request.protocol, 2 + len(data), request.register
    )
    return head + bytes((status,)) + data


def pack_finish(transaction: int, protocol: int) -> bytes:
    """Return the message of a finished motion."""
    body = bytes((0, FINISHED, 0, 0, 0, 0))
    return _HEADER.pack(transaction, protocol, 1 + len(body), 0xFF) + body


FINISHED = 2  # spec: feedback type, the end of a motion


def pack_floats(values: Sequence[float]) -> bytes:
    """Return little-endian floats."""
    return struct.pack(f"<{len(values)}f", *values)


def unpack_floats(data: bytes, n: int) -> tuple[float, ...]:
    """Return the first little-endian floats.

    Raises:
        ValueError: If fewer.
    """
    if len(data) < 4 * n:
        raise ValueError(f"expected {n} numbers, got {len(data)} bytes")
    return struct.unpack_from(f"<{n}f", data)


def fill(values: Iterable[float]) -> list[float]:
    """Return joint values filled with zeros."""
    known = [float(value) for value in values]
    return known + [0.0] * (N_MOST - len(known))
