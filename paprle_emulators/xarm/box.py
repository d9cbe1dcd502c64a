"""Requests of port 502."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

import numpy as np

from paprle_emulators.xarm.arm import TOOL_LOST, Arm
from paprle_emulators.xarm.kinematics import find_numbers, make_pose, solve
from paprle_emulators.xarm.planning import NotEmulatedError, Planning
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

VERSION = "v2.5.0"
_UNKNOWN, _WRONG = 13, 12  # spec: warnings of commands and of their parameters
_NO_SOLUTION = 14  # spec: the same, of inverse kinematics
_SOLVER_STEPS = 40  # chosen
_NO_JOINTS = 28  # spec: SDK, it reads seven joints from any answer
_LOWEST = 0.01  # [rad/s], [m/s] chosen: of the reduced mode
_BAUD_WRITE, _BAUD_READ = 0x1A0B, 0x0A0B  # spec: of the RS485 line at the flange
_HOST = 9  # spec: the number of that line


class Box:
    """Executes requests.

    Attributes:
        planning: Its requests of motion.
        settings: Taken settings by name, not yet in the journal.
    """

    def __init__(self, arm: Arm, version: str = VERSION) -> None:
        self.arm = arm
        model = arm.model
        control_box = "AC130206D01B01"
        self.version = (
            f"{model.axis},{model.kind},{model.serial},{control_box},{version}"
        )
        self.planning = Planning(arm)
        self.settings: list[tuple[str, tuple[float, ...]]] = []
        self._is_reduced, self._reduced = False, [np.inf, np.pi]
        self._takers: Mapping[int, Callable[[Request], bytes | None]] = {
            Register.VERSION: lambda _: self.version.encode().ljust(41, b"\0"),
            Register.SERIAL: lambda _: model.serial.encode().ljust(41, b"\0"),
            Register.STATE: lambda _: bytes((arm.state,)),
            Register.N_COMMANDS: lambda _: struct.pack(">H", arm.n_moves),
            Register.ERROR: lambda _: bytes((arm.error, arm.warning)),
            Register.POSE: lambda _: pack_floats(find_numbers(arm.pose)),
            Register.POSE_AXIS: self._tell_axis,
            Register.INVERSE: self._invert,
            Register.FORWARD: self._forward,
            Register.TORQUES: lambda _: pack_floats(fill(arm.tau)),
            Register.JOINTS: self._tell_joints,
            Register.ENABLE: self._enable,
            Register.BRAKE: self._enable,
            Register.SET_STATE: lambda r: self._do(arm.set_state, r),
            Register.SET_MODE: self._set_mode,
            Register.CLEAN_ERROR: lambda _: self._call(arm.clean_error),
            Register.CLEAN_WARNING: lambda _: self._call(self._clean_warning),
            **self.planning.takers,
            Register.COLLISION: self._set_collision,
            Register.TEACHING: lambda _: self._call(arm.reset_settings),
            Register.LOAD: self._set_load,
            Register.TOOL_OFFSET: self._set_tool,
            Register.WORLD_OFFSET: self._set_world,
            Register.REDUCED_LINE: lambda r: self._set_reduced(r, 0, 1e-3),
            Register.REDUCED_JOINT: lambda r: self._set_reduced(r, 1, 1.0),
            Register.REDUCED_STATE: lambda _: bytes((self._is_reduced,)),
            Register.REDUCED: self._reduce,
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
            if request.register in self.arm.refused:
                self.arm.warning, data = _WRONG, None
            elif taker is not None:
                data = taker(request)
            elif request.register not in SILENT_SETTINGS:
                self.arm.warning, data = _UNKNOWN, None
        except NotEmulatedError:
            self.arm.warning, data = _UNKNOWN, None
        except (ValueError, IndexError, struct.error):
            self.arm.warning, data = _WRONG, None
        status = self._find_status() | (INVALID if data is None else 0)
        if data is None and request.register == Register.INVERSE:
            data = bytes(_NO_JOINTS)
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
        self.settings.append(("sensitivity", (float(self.arm.sensitivity),)))
        return self._call(self.arm.reset_settings)

    def _set_load(self, request: Request) -> bytes:
        mass, x, y, z = unpack_floats(request.data, 4)
        # chosen: the SDK sends it as a command of the buffer, which a box that is not
        # started drops; its answer says so (bit 4)
        if self.arm.can_move:
            self.arm.load = (mass, x, y, z)
            self.settings.append(("load", self.arm.load))
        return b""

    def _set_tool(self, request: Request) -> bytes:
        numbers = _read_pose(request)
        self.settings.append(("tool", tuple(numbers.tolist())))
        self.arm.set_tool(numbers)
        return b""

    def _set_world(self, request: Request) -> bytes:
        if _read_pose(request).any():
            raise NotEmulatedError
        return b""

    def _set_reduced(self, request: Request, which: int, scale: float) -> bytes:
        self._reduced[which] = max(scale * unpack_floats(request.data, 1)[0], _LOWEST)
        return self._limit_speeds()

    def _reduce(self, request: Request) -> bytes:
        self._is_reduced = bool(request.data[0])
        return self._limit_speeds()

    def _limit_speeds(self) -> bytes:
        line, joint = self._reduced if self._is_reduced else (np.inf, np.pi)
        self.arm.tool_top_speed, self.arm.top_speed = line, min(joint, np.pi)
        return b""

    def _set_feedback(self, request: Request) -> bytes:
        self.planning.has_feedback = bool(request.data[0])
        return b""

    def _tell_axis(self, _: Request) -> bytes:
        return pack_floats(find_numbers(self.arm.pose, is_axis_angle=True))

    def _forward(self, request: Request) -> bytes:
        q = np.array(unpack_floats(request.data, 7)[: self.arm.n])
        pose = self.arm.model.compute_frames(q)[-1] @ self.arm.tool
        return pack_floats(find_numbers(pose))

    def _invert(self, request: Request) -> bytes | None:
        arm, goal = self.arm, make_pose(_read_pose(request))
        q = solve(arm.model, arm.tool, goal, arm.q, _SOLVER_STEPS)
        if q is None:
            arm.warning = _NO_SOLUTION
            return None
        return pack_floats(fill(q))

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


def _read_pose(request: Request) -> np.ndarray:
    numbers = np.array(unpack_floats(request.data, 6))
    if not np.isfinite(numbers).all():
        raise ValueError("expected six finite numbers")
    return numbers
