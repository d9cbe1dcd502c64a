"""Requests that plan motion: registers 21 to 30, 83, 92 and 93."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paprle_emulators.xarm.arm import Arm
from paprle_emulators.xarm.kinematics import find_numbers, make_pose
from paprle_emulators.xarm.motions import JointMotion, LineMotion, Motion, Pause, Token
from paprle_emulators.xarm.protocol import Register, Request, unpack_floats

Vec = npt.NDArray[np.float64]

_MOVED = struct.pack(">H", 1)  # spec: the parameter of a planned motion's answer
_BASE, _TOOL = 0, 1  # spec: SDK, coordinate systems of a line
_LINE, _LINE_COMMON = 36, 40  # spec: SDK, bytes of 9 and 10 numbers


class NotEmulatedError(Exception):
    """A request with an option that the emulator does not have."""


@dataclass(frozen=True)
class LineTarget:
    """Goal of a line by six numbers, [mm], [rad].

    Attributes:
        numbers: Shape (6,); infinite ones stay as they are.
        in_tool: Relative, in the tool's frame.
        is_relative: In the base's frame.
        is_axis_angle: Orientation as axis times angle; else roll, pitch, yaw.
    """

    numbers: Vec
    in_tool: bool = False
    is_relative: bool = False
    is_axis_angle: bool = False

    def __call__(self, pose: Vec) -> Vec:
        """Return the goal (4, 4) of a line that begins at a pose, [m]."""
        is_aa = self.is_axis_angle
        if self.in_tool:
            goal: Vec = pose @ make_pose(self.numbers, is_axis_angle=is_aa)
            return goal
        here = np.array(find_numbers(pose, is_axis_angle=is_aa))
        if not self.is_relative:
            numbers = np.where(np.isposinf(self.numbers), here, self.numbers)
            return make_pose(numbers, is_axis_angle=is_aa)
        if not is_aa:  # spec: SDK, roll, pitch and yaw are added for older firmware
            return make_pose(here + self.numbers)
        goal = make_pose(self.numbers, is_axis_angle=True)
        goal[:3, :3] = goal[:3, :3] @ pose[:3, :3]
        goal[:3, 3] += pose[:3, 3]
        return goal


class Planning:
    """Takes requests of motion.

    Attributes:
        targets: Servo targets, and whether each counts.
        has_feedback: The client asks for a message at the end of motions.
    """

    def __init__(self, arm: Arm) -> None:
        self._arm = arm
        self.targets: list[tuple[bool, tuple[float, ...]]] = []
        self.has_feedback = False
        self.takers: Mapping[int, Callable[[Request], bytes | None]] = {
            Register.MOVE_JOINT: self._move_joint,
            Register.MOVE_JOINT_BLENDED: self._move_joint,
            Register.MOVE_HOME: self._move_home,
            Register.MOVE_LINE: self._move_line,
            Register.MOVE_LINE_BLENDED: self._move_line,
            Register.MOVE_LINE_TOOL: self._move_tool,
            Register.MOVE_LINE_AXIS: self._move_axis,
            Register.MOVE_RELATIVE: self._move_relative,
            Register.PAUSE: self._pause,
            Register.SERVO_JOINT: self._servo,
            Register.SERVO_POSE: self._servo_pose,
            Register.SERVO_POSE_AXIS: self._servo_axis,
        }

    def _servo(self, request: Request) -> bytes:
        n = self._arm.n
        values = unpack_floats(request.data, 7)[:n]
        self.targets.append((self._arm.servo(np.array(values)), values))
        return b""

    def _servo_pose(self, request: Request) -> bytes:
        *numbers, _, _, frame = unpack_floats(request.data, 9)
        in_tool = round(frame) == _TOOL
        return self._servo_to(LineTarget(np.array(numbers), in_tool=in_tool))

    def _servo_axis(self, request: Request) -> bytes:
        numbers = np.array(unpack_floats(request.data, 6))
        frame, is_relative = struct.unpack_from("<iB", request.data, 32)
        target = LineTarget(numbers, frame == _TOOL, bool(is_relative), True)
        return self._servo_to(target)

    def _servo_to(self, target: LineTarget) -> bytes:
        if not np.isfinite(target.numbers).all():
            raise ValueError("expected six finite numbers")
        joints = self._arm.servo_pose(target(self._arm.target_pose))
        counts = joints is not None
        q = self._arm.q if joints is None else joints
        self.targets.append((counts, tuple(q.tolist())))
        return b""

    def _move_joint(self, request: Request) -> bytes:
        values = unpack_floats(request.data, 10)
        _refuse_options(request.data[40:])
        return self._plan_joints(request, np.array(values[:7]), values[7], values[8])

    def _move_home(self, request: Request) -> bytes:
        speed, acceleration, _ = unpack_floats(request.data, 3)
        _refuse_options(request.data[12:])
        return self._plan_joints(request, np.zeros(7), speed, acceleration)

    def _move_line(self, request: Request) -> bytes:
        values, rest = unpack_floats(request.data, 9), request.data[_LINE_COMMON:]
        if len(request.data) <= _LINE + 2:  # as older firmware takes it
            rest = bytes(2) + request.data[_LINE:]
        elif request.register == Register.MOVE_LINE_BLENDED:
            rest = bytes(2) + rest
        frame, is_axis_angle = (*rest, 0, 0)[:2]
        _refuse_options(rest[2:])
        target = LineTarget(
            np.array(values[:6]),
            in_tool=frame == _TOOL,
            is_axis_angle=bool(is_axis_angle),
        )
        return self._plan_line(request, target, values[6], values[7])

    def _move_tool(self, request: Request) -> bytes:
        values = unpack_floats(request.data, 9)
        _refuse_options(request.data[_LINE:])
        target = LineTarget(np.array(values[:6]), in_tool=True)
        return self._plan_line(request, target, values[6], values[7])

    def _move_axis(self, request: Request) -> bytes:
        values = unpack_floats(request.data, 9)
        frame, is_relative = struct.unpack_from("<BB", request.data, _LINE)
        _refuse_options(request.data[_LINE + 2 :])
        numbers = np.array(values[:6])
        target = LineTarget(numbers, frame == _TOOL, bool(is_relative), True)
        return self._plan_line(request, target, values[6], values[7])

    def _move_relative(self, request: Request) -> bytes:
        values = unpack_floats(request.data, 11)
        has_joints, is_axis_angle = struct.unpack_from("<??", request.data, 44)
        _refuse_options(request.data[46:])
        speed, acceleration = values[7:9]
        if has_joints:
            joints = np.array(values[:7])
            return self._plan_joints(
                request, joints, speed, acceleration, is_relative=True
            )
        numbers = np.array(values[:6])
        target = LineTarget(numbers, False, True, is_axis_angle)
        return self._plan_line(request, target, speed, acceleration)

    def _pause(self, request: Request) -> bytes:
        return self._buffer(Pause(unpack_floats(request.data, 1)[0]))

    def _plan_joints(
        self,
        request: Request,
        joints: Vec,
        speed: float,
        acceleration: float,
        *,
        is_relative: bool = False,
    ) -> bytes:
        arm = self._arm
        _check_pace(speed, acceleration)
        motion = JointMotion(
            arm.model,
            joints[: arm.n],
            min(speed, arm.top_speed),
            acceleration,
            is_relative=is_relative,
            token=self._find_token(request),
        )
        return self._buffer(motion)

    def _plan_line(
        self, request: Request, target: LineTarget, speed: float, acceleration: float
    ) -> bytes:
        arm = self._arm
        _check_pace(speed, acceleration)
        motion = LineMotion(
            arm.model,
            arm.tool,
            target,
            min(1e-3 * speed, arm.tool_top_speed),
            1e-3 * acceleration,
            token=self._find_token(request),
        )
        return self._buffer(motion)

    def _buffer(self, motion: Motion) -> bytes:
        self._arm.move(motion)
        return _MOVED

    def _find_token(self, request: Request) -> Token | None:
        return (request.transaction, request.protocol) if self.has_feedback else None


def _check_pace(speed: float, acceleration: float) -> None:
    if not np.isfinite((speed, acceleration)).all():
        raise ValueError(f"expected finite speeds, got {speed} and {acceleration}")


def _refuse_options(rest: bytes) -> None:
    """Refuse a check without motion, and lines that may become joint motions."""
    if any(rest):
        raise NotEmulatedError
