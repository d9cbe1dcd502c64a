"""Requests of port 502."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

import numpy as np

from paprle_emulators.xarm.arm import TOOL_LOST, Arm
from paprle_emulators.xarm.protocol import (
    CANNOT_MOVE,
    HAS_ERROR,
    HAS_WARNING,
    INVALID,
    SILENT_SETTINGS,
    Register,
    Request,
    fill,
    pack_floats,
    pack_response,
    unpack_floats,
)
from paprle_emulators.xarm.reports import find_pose

VERSION = "v2.5.0"
_UNKNOWN, _WRONG = 13, 12  # spec: warnings of commands and of their parameters
_BAUD_WRITE, _BAUD_READ = 0x1A0B, 0x0A0B  # spec: of the RS485 line at the flange
_HOST = 9  # spec: the number of that line
_MOVED = struct.pack(">H", 1)  # spec: the parameter of a planned motion's answer


class Box:
    """Executes requests.

    Attributes:
        targets: Servo targets, and whether each counts.
        moves: Transactions and protocols of announced motions.
    """

    def __init__(self, arm: Arm, version: str = VERSION) -> None:
        self.arm = arm
        model = arm.model
        control_box = "AC130206D01B01"
        self.version = (
            f"{model.axis},{model.kind},{model.serial},{control_box},{version}"
        )
        self.targets: list[tuple[bool, tuple[float, ...]]] = []
        self.moves: list[tuple[int, int]] = []
        self._feedback = 0
        self._takers: Mapping[int, Callable[[Request], bytes | None]] = {
            Register.VERSION: lambda _: self.version.encode().ljust(41, b"\0"),
            Register.SERIAL: lambda _: model.serial.encode().ljust(41, b"\0"),
            Register.STATE: lambda _: bytes((arm.state,)),
            Register.N_COMMANDS: lambda _: struct.pack(">H", arm.n_moves),
            Register.ERROR: lambda _: bytes((arm.error, arm.warning)),
            Register.POSE: lambda _: pack_floats(find_pose(arm)),
            Register.TORQUES: lambda _: pack_floats(fill(arm.tau)),
            Register.JOINTS: self._tell_joints,
            Register.ENABLE: self._enable,
            Register.BRAKE: self._enable,
            Register.SET_STATE: lambda r: self._do(arm.set_state, r),
            Register.SET_MODE: self._set_mode,
            Register.CLEAN_ERROR: lambda _: self._call(arm.clean_error),
            Register.CLEAN_WARNING: lambda _: self._call(self._clean_warning),
            Register.MOVE_JOINT: self._move,
            Register.MOVE_JOINT_BLENDED: self._move,
            Register.MOVE_HOME: self._move_home,
            Register.SERVO_JOINT: self._servo,
            Register.COLLISION: self._set_collision,
            Register.TEACHING: lambda _: self._call(arm.reset_settings),
            Register.LOAD: self._set_load,
            Register.TOOL_OFFSET: lambda _: self._call(arm.reset_settings),
            Register.RS485: self._pass_through,
            Register.TOOL_WRITE: self._write_tool,
            Register.TOOL_READ: self._read_tool,
            Register.FEEDBACK_TYPE: self._set_feedback,
        }

    def answer(self, request: Request) -> bytes:
        """Execute a request; return its answer."""
        taker = self._takers.get(request.register)
        data: bytes | None = b""
        try:
            if taker is not None:
                data = taker(request)
            elif request.register not in SILENT_SETTINGS:
                self.arm.warning, data = _UNKNOWN, None
        except (ValueError, IndexError):
            self.arm.warning, data = _WRONG, None
        status = self._find_status() | (INVALID if data is None else 0)
        return pack_response(request, status, data or b"")

    def _find_status(self) -> int:
        status = 0 if self.arm.can_move else CANNOT_MOVE
        status |= HAS_WARNING if self.arm.warning else 0
        return status | (HAS_ERROR if self.arm.error else 0)

    @staticmethod
    def _call(action: Callable[[], None]) -> bytes:
        action()
        return b""

    @staticmethod
    def _do(action: Callable[[int], None], request: Request) -> bytes:
        action(request.data[0])
        return b""

    def _clean_warning(self) -> None:
        self.arm.warning = 0

    def _enable(self, request: Request) -> bytes:
        joint, is_on = request.data[0], bool(request.data[1])
        if joint != 8 and not 1 <= joint <= self.arm.n:
            raise ValueError(f"expected a joint, got {joint}")
        self.arm.enable(joint, is_on=is_on)
        return b""

    def _set_mode(self, request: Request) -> bytes | None:
        return b"" if self.arm.set_mode(request.data[0]) else None

    def _set_collision(self, request: Request) -> bytes:
        if not 0 <= request.data[0] <= 5:
            raise ValueError(f"expected 0 … 5, got {request.data[0]}")
        self.arm.sensitivity = request.data[0]
        return self._call(self.arm.reset_settings)

    def _set_load(self, request: Request) -> bytes:
        mass, x, y, z = unpack_floats(request.data, 4)
        self.arm.load = (mass, x, y, z)
        return self._call(self.arm.reset_settings)

    def _set_feedback(self, request: Request) -> bytes:
        self._feedback = request.data[0]
        return b""

    def _servo(self, request: Request) -> bytes:
        values = unpack_floats(request.data, 7)
        is_taken = self.arm.servo(np.array(values[: self.arm.n]))
        self.targets.append((is_taken, values[: self.arm.n]))
        return b""

    def _move(self, request: Request) -> bytes:
        *joints, speed = unpack_floats(request.data, 8)
        return self._start(request, np.array(joints[: self.arm.n]), speed)

    def _move_home(self, request: Request) -> bytes:
        speed = unpack_floats(request.data, 1)[0]
        return self._start(request, np.zeros(self.arm.n), speed)

    def _start(self, request: Request, target: np.ndarray, speed: float) -> bytes:
        if self.arm.move(target, speed) and self._feedback:
            self.moves.append((request.transaction, request.protocol))
        return _MOVED

    def _tell_joints(self, request: Request) -> bytes:
        n = request.data[0] & 0x0F if request.data else 1
        parts = (self.arm.q, self.arm.dq, self.arm.tau)[: max(1, min(n, 3))]
        return pack_floats([x for part in parts for x in fill(part)])

    def _pass_through(self, request: Request) -> bytes:
        gripper = self.arm.gripper
        if gripper is None or not request.data or request.data[0] != _HOST:
            self.arm.fail(TOOL_LOST)
            return request.data[:1]
        return bytes((_HOST,)) + gripper.answer(request.data[1:])

    def _write_tool(self, request: Request) -> bytes:
        address = struct.unpack_from(">H", request.data, 1)[0]
        if address == _BAUD_WRITE:
            self.arm.baud = round(unpack_floats(request.data[3:], 1)[0])
        return b""

    def _read_tool(self, request: Request) -> bytes:
        address = struct.unpack_from(">H", request.data, 1)[0]
        return struct.pack(">i", self.arm.baud if address == _BAUD_READ else 0)
