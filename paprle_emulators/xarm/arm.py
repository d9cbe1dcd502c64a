"""Emulated control box and arm; README.md has their rules."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from paprle_emulators.xarm.gripper import Gripper
from paprle_emulators.xarm.models import MODELS
from paprle_emulators.xarm.protocol import N_MOST, Mode, State

Vec = npt.NDArray[np.float64]

PERIOD = 0.004  # [s] spec: user manual, servo targets are taken at 250 Hz at most
LAG = 0.02  # [s] chosen: behind a ramp, 2/ω of a critically damped servo; no figure
_MAX_SPEED = np.pi  # [rad/s] spec: p04robot-specifications
_BRAKE_TIME = 0.01  # [s] chosen: of the brakes' grip
_EDGE = np.radians(0.1)  # [rad] spec: SDK, what it lets pass beyond a limit
_RESOLUTION = 1e-6  # [rad] chosen: an arm nearer than that to its goal has arrived
_ARRIVED = 1e-3  # [rad] chosen: the arm itself, nearer than that, has arrived
_THRESHOLD = 60.0  # [N·m] chosen: a push at sensitivity 1; a share of it at the others
_INERTIA = 0.1  # [kg·m²] chosen: of a joint, in the reported torque

ESTOP, ESTOP_INPUT, SERVO_1 = 1, 2, 11  # spec: control box error codes
COLLISION, JOINT_LIMIT, TOOL_SPEED, TOOL_LOST = 31, 23, 60, 19  # spec: the same
_WITHOUT_POWER = frozenset((1, 2, 3, *range(10, 18), 38))
"""Errors that take the joints' power. chosen: emergency stops and faults of servos."""


class Arm:
    """One arm with its control box; vectors have shape (n,).

    Attributes:
        q: [rad].
        dq: [rad/s].
        tau: [N·m].
        frames: T_base_link, shape (n, 4, 4), [m].
        servo_codes: Status and code of joints.
        push_torque: External, [N·m].
        done: Ended motions not yet asked for.
    """

    def __init__(self, model: str, q: Vec, gripper: str, lag: float = LAG) -> None:
        """Stand at joints as after switching on.

        Raises:
            ValueError: If a name or the number of joints is wrong.
        """
        if model not in MODELS:
            raise ValueError(f"model: expected one of {', '.join(MODELS)}, got {model}")
        self.model = MODELS[model]
        self.n = self.model.axis
        if len(q) != self.n:
            raise ValueError(f"q: expected {self.n} joints, got {len(q)}")
        self.q = np.array(q, dtype=np.float64)
        self.gripper = None if gripper == "none" else Gripper(gripper)
        self._omega = 2.0 / lag
        self._tool: Vec | None = None
        self.boot()

    def boot(self) -> None:
        """Start the box: no power, no error, stopped."""
        self.dq, self.tau = np.zeros(self.n), np.zeros(self.n)
        self.push_torque = np.zeros(self.n)
        self.mode, self.state = Mode.POSITION, State.STOPPED
        self.error = self.warning = 0
        self.is_enabled = np.zeros(self.n, dtype=bool)
        self.servo_codes = [(0, 0)] * N_MOST
        self.temperatures = [35] * N_MOST  # [°C] chosen: a healthy arm
        self.sensitivity, self.load = 3, (0.0, 0.0, 0.0, 0.0)
        self.baud = 11  # spec: 2 Mbit/s, as delivered
        self.is_pressed = False
        self.n_moves, self.done = 0, 0
        self._target, self._reference = self.q.copy(), self.q.copy()
        self._speed = _MAX_SPEED
        self._tool = None
        self.frames = self.model.compute_frames(self.q)
        if self.gripper is not None:
            self.gripper.disable()

    @property
    def can_move(self) -> bool:
        """Whether it takes motion."""
        return bool(
            self.state < State.STOPPED and self.is_enabled.all() and not self.error
        )

    @property
    def can_servo(self) -> bool:
        """Whether it takes servo targets."""
        is_on = self.state in (State.MOVING, State.READY)
        return self.can_move and is_on and self.mode is Mode.SERVO

    def servo(self, target: Vec) -> bool:
        """Take a target (n,), [rad]; return whether it counts."""
        if not self.can_servo:
            return False
        low, high = np.radians(self.model.limits).T
        is_inside = (target >= low - _EDGE) & (target <= high + _EDGE)
        if not is_inside.all():  # as it is written, NaN is outside
            self.fail(JOINT_LIMIT)
            return False
        self._target, self._speed = target.copy(), _MAX_SPEED
        return True

    def move(self, target: Vec, speed: float) -> bool:
        """Go to a place at [rad/s]; return whether it starts."""
        if not self.can_move or self.mode is not Mode.POSITION:
            return False
        self._target = self.model.clip(target)
        self._speed = min(max(speed, 0.01), _MAX_SPEED)
        self.n_moves += 1
        self.state = State.MOVING
        return True

    def enable(self, joint: int, *, is_on: bool) -> None:
        """Switch a joint's power; 8: all joints."""
        if is_on and (self.error in _WITHOUT_POWER or self.is_pressed):
            return
        chosen = slice(None) if joint == 8 else slice(joint - 1, joint)
        self.is_enabled[chosen] = is_on
        if is_on and self.state is not State.STOPPED:
            self.state = State.RESET
        self._hold()
        if not is_on:
            self.state = State.STOPPED

    def set_mode(self, mode: int) -> bool:
        """Choose a mode; return whether it exists."""
        if mode not in list(Mode):
            return False
        self.mode = Mode(mode)
        if not self.error:
            self.state = State.RESET
        self._hold()
        return True

    def set_state(self, state: int) -> None:
        """Start, pause or stop."""
        if state == 0 and not self.error and self.is_enabled.all():
            if self.state is not State.PAUSED:
                self._hold()
            self.state = State.READY
        elif state == State.PAUSED and self.can_move:
            self.state = State.PAUSED
        elif state == State.STOPPED:
            self.state = State.STOPPED
            self._hold()

    def reset_settings(self) -> None:
        """Stop after a changed setting, until started again."""
        if self.state < State.STOPPED:
            self.state = State.RESET
        self._hold()

    def fail(self, code: int) -> None:
        """Stop with an error; the mode falls back."""
        self.error, self.state, self.mode = code, State.STOPPED, Mode.POSITION
        if code in _WITHOUT_POWER:
            self.is_enabled[:] = False
            if self.gripper is not None:
                self.gripper.disable()
        self._hold()

    def fail_servo(self, joint: int, code: int) -> None:
        """Stop with a servo fault, joint from 1."""
        self.servo_codes[joint - 1] = (3, code)
        self.fail(SERVO_1 + joint - 1)

    def clean_error(self) -> None:
        """Clear an error unless the stop is pressed."""
        if self.is_pressed:
            return
        self.error, self.servo_codes = 0, [(0, 0)] * N_MOST

    def press(self, *, is_down: bool) -> None:
        """Press or release the emergency stop."""
        self.is_pressed = is_down
        if is_down:
            self.fail(ESTOP)

    def push(self, joint: int, by: float) -> None:
        """Turn a joint (from 0), [rad]; undriven it stays."""
        self.q[joint] += by
        if not self.can_move:
            self._reference[joint] = self._target[joint] = self.q[joint]

    def step(self) -> None:
        """Advance by a cycle."""
        if self.state is State.MOVING or self.state is State.READY:
            most = self._speed * PERIOD
            way = np.clip(self._target - self._reference, -most, most)
            self._reference += way
            is_short = np.abs(self._reference - self.q).max() > _ARRIVED
            self._note_motion(bool(is_short or np.abs(way).max() > _RESOLUTION))
        ddq = self._omega**2 * (self._reference - self.q) - 2 * self._omega * self.dq
        free = ~self.is_enabled
        ddq[free] = -self.dq[free] / _BRAKE_TIME
        self.dq += ddq * PERIOD
        self.q += self.dq * PERIOD
        self._reference[free] = self._target[free] = self.q[free]
        self.frames = self.model.compute_frames(self.q)
        self._feel(ddq)
        self._check_tool_speed()
        if self.gripper is not None:
            self.gripper.step(PERIOD)

    def _hold(self) -> None:
        self._target = self._reference.copy()

    def _note_motion(self, is_moving: bool) -> None:
        if is_moving:
            self.state = State.MOVING
        elif self.state is State.MOVING:
            self.state = State.READY
            self.done, self.n_moves = self.done + self.n_moves, 0

    def _feel(self, ddq: Vec) -> None:
        drive = self.model.compute_gravity(self.frames) + _INERTIA * ddq
        self.tau = np.where(self.is_enabled, drive - self.push_torque, 0.0)
        if not self.sensitivity or not self.can_move:
            return
        if np.abs(self.push_torque).max() > _THRESHOLD / self.sensitivity:
            self.fail(COLLISION)

    def _check_tool_speed(self) -> None:
        before, self._tool = self._tool, self.frames[-1, :3, 3].copy()
        if before is None or not self.can_servo:
            return
        if np.linalg.norm(self._tool - before) > self.model.tool_speed * PERIOD:
            self.fail(TOOL_SPEED)
