"""Franka Control Interface, from the control unit's side.

Little endian, packed. Source: frankarobotics/libfranka-common,
``research_interface/robot`` of the versions of ``versions.py``, and version 3 of
``research_interface/gripper``. Numbers here are those of version 10.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]

ROBOT_PORT = 1337  # spec: service_types.h
HAND_PORT, HAND_VERSION = 1338, 3  # spec: gripper/types.h
N_ERRORS = 41  # spec: error.h
_LONGEST = 4096  # chosen: no request has 300 bytes


class Command(IntEnum):
    """Requests of the robot's port. spec: service_types.h."""

    CONNECT = 0
    MOVE = 1
    STOP_MOVE = 2
    SET_COLLISION_BEHAVIOR = 3
    SET_JOINT_IMPEDANCE = 4
    SET_CARTESIAN_IMPEDANCE = 5
    SET_GUIDING_MODE = 6
    SET_EE_TO_K = 7
    SET_NE_TO_EE = 8
    SET_LOAD = 9
    AUTOMATIC_ERROR_RECOVERY = 10
    GET_ROBOT_MODEL = 11
    GET_CARTESIAN_LIMIT = 12  # chosen: here and below, of version 5 alone
    SET_FILTERS = 13
    LOAD_MODEL_LIBRARY = 14


class HandCommand(IntEnum):
    """Requests of the hand's port. spec: gripper/types.h."""

    CONNECT = 0
    HOMING = 1
    GRASP = 2
    MOVE = 3
    STOP = 4


class Mode(IntEnum):
    """The robot's mode. spec: rbk_types.h."""

    OTHER = 0
    IDLE = 1
    MOVE = 2
    GUIDING = 3
    REFLEX = 4
    USER_STOPPED = 5
    RECOVERY = 6


class Generator(IntEnum):
    """Motion generators in the state. spec: rbk_types.h."""

    IDLE = 0
    JOINT_POSITION = 1
    JOINT_VELOCITY = 2


class MoveStatus(IntEnum):
    """Answers to a Move. spec: service_types.h."""

    SUCCESS = 0
    MOTION_STARTED = 1
    PREEMPTED = 2
    PREEMPTED_BY_SAFETY = 3
    REJECTED_BY_SAFETY = 4
    NOT_POSSIBLE = 5
    INVALID_ARGUMENT = 7
    REFLEX_ABORTED = 8
    ABORTED = 11


class Status(IntEnum):
    """Answers to other requests. spec: service_types.h."""

    SUCCESS = 0
    NOT_POSSIBLE = 1
    SAFETY = 2  # of StopMove and AutomaticErrorRecovery; 3 of setters
    INVALID_ARGUMENT = 2  # of GetCartesianLimit
    MANUAL_RECOVERY = 3  # of AutomaticErrorRecovery


class HandStatus(IntEnum):
    """Answers of the hand. spec: gripper/types.h."""

    SUCCESS = 0
    FAIL = 1
    UNSUCCESSFUL = 2
    ABORTED = 3


class Error(IntEnum):
    """Emulated error bits. spec: error.h."""

    JOINT_POSITION_LIMITS = 0
    SELF_COLLISION = 2
    JOINT_VELOCITY = 3
    JOINT_REFLEX = 6
    CARTESIAN_REFLEX = 7
    START_POSE = 11
    MOTION_POSITION_LIMITS = 12
    MOTION_VELOCITY_LIMITS = 13
    MOTION_VELOCITY_DISCONTINUITY = 14
    MOTION_ACCELERATION_DISCONTINUITY = 15
    COMMUNICATION = 25
    POWER_LIMIT = 26
    TAU_J_RANGE = 34


_HAND_STATE = struct.Struct("<Idd?H")  # spec: gripper/types.h, GripperState
HEADER = {ROBOT_PORT: struct.Struct("<III"), HAND_PORT: struct.Struct("<HII")}
"""Command, its identifier, and the size with this header, by port."""


@dataclass(frozen=True, slots=True)
class Request:
    """A client's request; ``command`` has the number of its version."""

    port: int
    command: int
    identifier: int
    payload: bytes

    def read_connect(self) -> tuple[int, int]:
        """Return version and UDP port.

        Raises:
            ValueError: If malformed.
        """
        version, port = self.unpack(struct.Struct("<HH"))
        return int(version), int(port)

    def read_doubles(self, n: int) -> Vec:
        """Return the first numbers, (n,).

        Raises:
            ValueError: If there are fewer.
        """
        return np.array(self.unpack(struct.Struct(f"<{n}d")))

    def unpack(self, layout: struct.Struct) -> tuple[float, ...]:
        """Return the first numbers of a layout.

        Raises:
            ValueError: If the payload is shorter.
        """
        if len(self.payload) < layout.size:
            raise ValueError(
                f"request {self.command}: expected {layout.size} bytes, got "
                f"{len(self.payload)}"
            )
        return layout.unpack_from(self.payload)


def take_requests(port: int, buffer: bytearray) -> Iterator[Request]:
    """Yield and remove a stream's whole requests.

    Raises:
        ValueError: If malformed.
    """
    header = HEADER[port]
    while len(buffer) >= header.size:
        command, identifier, size = header.unpack_from(buffer)
        if not header.size <= size <= _LONGEST:
            raise ValueError(f"expected a request, got one of {size} bytes")
        if len(buffer) < size:
            return
        yield Request(port, command, identifier, bytes(buffer[header.size : size]))
        del buffer[:size]


def pack_answer(request: Request, status: int, rest: bytes = b"") -> bytes:
    """Return the answer to a request."""
    kind = "<B" if request.port == ROBOT_PORT else "<H"
    payload = struct.pack(kind, status) + rest
    header = HEADER[request.port]
    size = header.size + len(payload)
    return header.pack(request.command, request.identifier, size) + payload


def pack_version(version: int) -> bytes:
    """Return a Connect's rest."""
    return struct.pack("<H", version)


@dataclass(frozen=True, slots=True)
class MotionCommand:
    """A client's command; ``q`` is (7,), [rad]."""

    message_id: int
    q: Vec
    is_last: bool


@dataclass(frozen=True, slots=True)
class Flags:
    """The rest of a state; errors are N_ERRORS bytes."""

    generator: int
    controller: int
    errors: bytes
    reflex_reason: bytes
    mode: int
    success_rate: float


def pack_hand_state(message_id: int, width: float, most: float, holds: bool) -> bytes:
    """Return a hand state, [m]."""
    return _HAND_STATE.pack(message_id, width, most, holds, 30)
