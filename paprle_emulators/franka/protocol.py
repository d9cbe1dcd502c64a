"""Franka Control Interface, from the control unit's side.

Little endian, packed. Source: frankarobotics/libfranka-common, version 10 of
``research_interface/robot`` and 3 of ``research_interface/gripper``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]

ROBOT_PORT, ROBOT_VERSION = 1337, 10  # spec: service_types.h
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


_FIELDS = (
    ("O_T_EE", 16),
    ("O_T_EE_d", 16),
    ("F_T_EE", 16),
    ("EE_T_K", 16),
    ("F_T_NE", 16),
    ("NE_T_EE", 16),
    ("m_ee", 1),
    ("I_ee", 9),
    ("F_x_Cee", 3),
    ("m_load", 1),
    ("I_load", 9),
    ("F_x_Cload", 3),
    ("elbow", 2),
    ("elbow_d", 2),
    ("tau_J", 7),
    ("tau_J_d", 7),
    ("dtau_J", 7),
    ("q", 7),
    ("q_d", 7),
    ("dq", 7),
    ("dq_d", 7),
    ("ddq_d", 7),
    ("joint_contact", 7),
    ("cartesian_contact", 6),
    ("joint_collision", 7),
    ("cartesian_collision", 6),
    ("tau_ext_hat_filtered", 7),
    ("O_F_ext_hat_K", 6),
    ("K_F_ext_hat_K", 6),
    ("O_dP_EE_d", 6),
    ("O_ddP_O", 3),
    ("elbow_c", 2),
    ("delbow_c", 2),
    ("ddelbow_c", 2),
    ("O_T_EE_c", 16),
    ("O_dP_EE_c", 6),
    ("O_ddP_EE_c", 6),
    ("theta", 7),
    ("dtheta", 7),
    ("accelerometer_top", 18),
    ("accelerometer_bottom", 18),
)  # spec: rbk_types.h, RobotState, 32-bit floats in this order


def _find_places() -> tuple[Mapping[str, slice], int]:
    places, at = {}, 0
    for name, n in _FIELDS:
        places[name] = slice(at, at + n)
        at += n
    return places, at


PLACES, N_FLOATS = _find_places()
_TAIL = struct.Struct(f"<BB{N_ERRORS}s{N_ERRORS}sBf")
STATE_SIZE = 8 + 4 * N_FLOATS + _TAIL.size
_COMMAND = struct.Struct("<Q7d7d16d6d2d??7d?")  # spec: rbk_types.h, RobotCommand
COMMAND_SIZE = _COMMAND.size
_HAND_STATE = struct.Struct("<Idd?H")  # spec: gripper/types.h, GripperState
HEADER = {ROBOT_PORT: struct.Struct("<III"), HAND_PORT: struct.Struct("<HII")}
"""Command, its identifier, and the size with this header, by port."""

_MOVE = struct.Struct("<II6d?7d")


@dataclass(frozen=True, slots=True)
class Request:
    """A client's request."""

    port: int
    command: int
    identifier: int
    payload: bytes

    def read_connect(self) -> tuple[int, int]:
        """Return version and UDP port.

        Raises:
            ValueError: If malformed.
        """
        version, port = self._unpack(struct.Struct("<HH"))
        return int(version), int(port)

    def read_move(self) -> tuple[int, int]:
        """Return controller and motion generator.

        Raises:
            ValueError: If malformed.
        """
        controller, generator, *_ = self._unpack(_MOVE)
        return int(controller), int(generator)

    def read_doubles(self, n: int) -> Vec:
        """Return the first numbers, (n,).

        Raises:
            ValueError: If there are fewer.
        """
        return np.array(self._unpack(struct.Struct(f"<{n}d")))

    def _unpack(self, layout: struct.Struct) -> tuple[float, ...]:
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


def pack_version(port: int) -> bytes:
    """Return a Connect's rest."""
    version = ROBOT_VERSION if port == ROBOT_PORT else HAND_VERSION
    return struct.pack("<H", version)


@dataclass(frozen=True, slots=True)
class MotionCommand:
    """A client's command; ``q`` is (7,), [rad]."""

    message_id: int
    q: Vec
    is_last: bool


def unpack_command(data: bytes) -> MotionCommand | None:
    """Return a UDP command, or None."""
    if len(data) != COMMAND_SIZE:
        return None
    found = _COMMAND.unpack(data)
    return MotionCommand(found[0], np.array(found[1:8]), bool(found[40]))


@dataclass(frozen=True, slots=True)
class Flags:
    """The rest of a state; errors are N_ERRORS bytes."""

    generator: int
    controller: int
    errors: bytes
    reflex_reason: bytes
    mode: int
    success_rate: float


def pack_state(message_id: int, floats: npt.NDArray[np.float32], flags: Flags) -> bytes:
    """Return a robot state of floats (N_FLOATS,)."""
    tail = _TAIL.pack(
        flags.generator,
        flags.controller,
        flags.errors,
        flags.reflex_reason,
        flags.mode,
        flags.success_rate,
    )
    return struct.pack("<Q", message_id) + floats.tobytes() + tail


def pack_hand_state(message_id: int, width: float, most: float, holds: bool) -> bytes:
    """Return a hand state, [m]."""
    return _HAND_STATE.pack(message_id, width, most, holds, 30)
