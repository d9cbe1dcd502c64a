"""Layouts of the robot's protocol by version, as data.

Little endian, packed. Source: frankarobotics/libfranka-common, ``rbk_types.h`` and
``service_types.h`` of version 10 (libfranka 0.21, Franka Research 3) and of version 5
(libfranka 0.9.2, Panda). Numbers inside the emulator are those of version 10.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from paprle_emulators.franka.protocol import (
    N_ERRORS,
    Command,
    Flags,
    MotionCommand,
    MoveStatus,
    Request,
    Status,
    pack_answer,
)

_FIELDS: tuple[tuple[str, int], ...] = (
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
)  # spec: rbk_types.h, RobotState, in this order
_ACCELEROMETERS = (("accelerometer_top", 18), ("accelerometer_bottom", 18))  # spec
_SETTERS = (
    Command.SET_COLLISION_BEHAVIOR,
    Command.SET_JOINT_IMPEDANCE,
    Command.SET_CARTESIAN_IMPEDANCE,
    Command.SET_GUIDING_MODE,
    Command.SET_EE_TO_K,
    Command.SET_NE_TO_EE,
    Command.SET_LOAD,
    Command.SET_FILTERS,
)
REJECTED_SETTER = 3  # spec: service_types.h, GetterSetterCommandBase, by safety


@dataclass(frozen=True, kw_only=True)
class Version:
    """Bytes of one version.

    Attributes:
        number: In Connect.
        commands: Requests by their number.
        statuses: Numbers of answers by request, where they are others.
        fields: Numbers of a state and their counts, in order.
        number_type: Of these.
        tail: Of a state: generator, controller, errors twice, mode, success rate.
        command: Of a UDP command.
        last_at: Place of the end of motion in it.
        move: Of a Move.
    """

    number: int
    commands: Mapping[int, Command]
    statuses: Mapping[Command, Mapping[int, int]]
    fields: tuple[tuple[str, int], ...]
    number_type: str
    tail: struct.Struct
    command: struct.Struct
    last_at: int
    move: struct.Struct
    places: Mapping[str, slice] = field(init=False)
    n_numbers: int = field(init=False)

    def __post_init__(self) -> None:
        """Find the places of a state's numbers."""
        places, at = {}, 0
        for name, n in self.fields:
            places[name] = slice(at, at + n)
            at += n
        object.__setattr__(self, "places", places)
        object.__setattr__(self, "n_numbers", at)

    @property
    def state_size(self) -> int:
        """Bytes of a state."""
        n_bytes = np.dtype(self.number_type).itemsize
        return 8 + n_bytes * self.n_numbers + self.tail.size

    def find_command(self, request: Request) -> Command:
        """Return a request's command.

        Raises:
            ValueError: If this version has none of this number.
        """
        command = self.commands.get(request.command)
        if command is None:
            raise ValueError(f"request: expected a command, got {request.command}")
        return command

    def pack_answer(self, request: Request, status: int, rest: bytes = b"") -> bytes:
        """Return an answer; ``status`` is of version 10."""
        others = self.statuses.get(self.find_command(request), {})
        return pack_answer(request, others.get(status, status), rest)

    def make_numbers(self) -> npt.NDArray[np.floating]:
        """Return a state's numbers, all 0, shape (n_numbers,)."""
        return np.zeros(self.n_numbers, dtype=self.number_type)

    def pack_state(
        self, message_id: int, numbers: npt.NDArray[np.floating], flags: Flags
    ) -> bytes:
        """Return a state of numbers, shape (n_numbers,)."""
        tail = self.tail.pack(
            flags.generator,
            flags.controller,
            flags.errors,
            flags.reflex_reason,
            flags.mode,
            flags.success_rate,
        )
        return struct.pack("<Q", message_id) + numbers.tobytes() + tail

    def unpack_command(self, data: bytes) -> MotionCommand | None:
        """Return a UDP command, or None."""
        if len(data) != self.command.size:
            return None
        found = self.command.unpack(data)
        return MotionCommand(found[0], np.array(found[1:8]), bool(found[self.last_at]))

    def read_move(self, request: Request) -> tuple[int, int]:
        """Return controller and motion generator.

        Raises:
            ValueError: If malformed.
        """
        controller, generator, *_ = request.unpack(self.move)
        return int(controller), int(generator)


V10 = Version(
    number=10,
    commands={int(command): command for command in list(Command)[:12]},
    statuses={},
    fields=_FIELDS + _ACCELEROMETERS,
    number_type="<f4",
    tail=struct.Struct(f"<BB{N_ERRORS}s{N_ERRORS}sBf"),
    command=struct.Struct("<Q7d7d16d6d2d??7d?"),
    last_at=40,
    move=struct.Struct("<II6d?7d"),
)

V5 = Version(
    number=5,
    commands=dict(
        enumerate(
            (
                Command.CONNECT,
                Command.MOVE,
                Command.STOP_MOVE,
                Command.GET_CARTESIAN_LIMIT,
                *_SETTERS,
                Command.AUTOMATIC_ERROR_RECOVERY,
                Command.LOAD_MODEL_LIBRARY,
            )
        )
    ),
    statuses={
        Command.MOVE: {
            MoveStatus.PREEMPTED_BY_SAFETY: 7,
            MoveStatus.REJECTED_BY_SAFETY: 3,
            MoveStatus.NOT_POSSIBLE: 3,
            MoveStatus.INVALID_ARGUMENT: 5,
            MoveStatus.REFLEX_ABORTED: 6,
            MoveStatus.ABORTED: 9,
        },
        Command.AUTOMATIC_ERROR_RECOVERY: {
            Status.SAFETY: 4,
            Status.MANUAL_RECOVERY: 2,
        },
        **dict.fromkeys(_SETTERS, {REJECTED_SETTER: 1}),
    },  # chosen: an open user stop is kEmergencyAborted, or not possible
    fields=_FIELDS,
    number_type="<f8",
    tail=struct.Struct(f"<BB{N_ERRORS}s{N_ERRORS}sBd"),
    command=struct.Struct("<Q7d7d16d6d2d??7d"),
    last_at=40,
    move=struct.Struct("<II6d"),
)
