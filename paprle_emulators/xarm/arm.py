"""Emulated control box and arm; README.md has their rules."""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

from paprle_emulators.xarm.gripper import Gripper
from paprle_emulators.xarm.kinematics import make_pose, solve
from paprle_emulators.xarm.models import MODELS
from paprle_emulators.xarm.motions import KINEMATIC, Motion, MotionError, Token
from paprle_emulators.xarm.protocol import N_MOST, Mode, State

Vec = npt.NDArray[np.float64]

PERIOD = 0.004  # [s] spec: user manual, servo targets are taken at 250 Hz at most
LAG = 0.02  # [s] chosen: behind a ramp, 2/ω of a critically damped servo; no figure
_MAX_SPEED = np.pi  # [rad/s] spec: p04robot-specifications
_BRAKE_TIME = 0.01  # [s] chosen: of the brakes' grip
_EDGE = np.radians(0.1)  # [rad] spec: SDK, what it lets pass beyond a limit
_MOST_WAITING = 1024  # spec: SDK, MAX_CMD_NUM
_POSE_STEPS = 40  # chosen: of the solver for a servo target that is a pose
_RESOLUTION = 1e-6  # [rad] chosen: an arm nearer than that to its goal has arrived
_ARRIVED = 1e-4  # [rad] chosen: the arm itself, nearer than that, has arrived
_THRESHOLD = 60.0  # [N·m] chosen: a push at sensitivity 1; a share of it at the others
_INERTIA = 0.1  # [kg·m²] chosen: of a joint, in the reported torque

ESTOP, ESTOP_INPUT, SERVO_1 = 1, 2, 11  # spec: control box error codes
COLLISION, JOINT_LIMIT, TOOL_SPEED, TOOL_LOST = 31, 23, 60, 19  # spec: the same
BUFFER_FULL = 11  # spec: warnings of the control box
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
        tool: T_flange_tool, shape (4, 4), [m].
        top_speed: Of joints, [rad/s].
        tool_top_speed: Of lines, [m/s]; infinite: as asked for.
        done: Ended motions whose message is due.
        refused: Registers that the box refuses, by a fault.
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
        self.refused: set[int] = set()
        self._place: Vec | None = None
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
        self.tool = np.eye(4)
        self.top_speed, self.tool_top_speed = _MAX_SPEED, np.inf
        self.done: list[Token] = []
        self._plan: deque[Motion] = deque()
        self._has_begun = False
        self._target, self._reference = self.q.copy(), self.q.copy()
        self._place = None
        self.frames = self.model.compute_frames(self.q)
        if self.gripper is not None:
            self.gripper.disable()

    @property
    def n_moves(self) -> int:
        """Planned motions that have not ended."""
        return len(self._plan)

    @property
    def pose(self) -> Vec:
        """T_base_tool, shape (4, 4), [m]."""
        found: Vec = self.frames[-1] @ self.tool
        return found

    @property
    def target_pose(self) -> Vec:
        """T_base_tool at the newest servo target, shape (4, 4), [m]."""
        found: Vec = self.model.compute_frames(self._target)[-1] @ self.tool
        return found

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
        self._target = target.copy()
        return True

    def servo_pose(self, goal: Vec) -> Vec | None:
        """Take a target of the tool, (4, 4), [m]; return its joints if it counts."""
        if not self.can_servo:
            return None
        found = solve(self.model, self.tool, goal, self._target, _POSE_STEPS)
        if found is None:
            self.fail(KINEMATIC)
            return None
        return found if self.servo(found) else None

    def move(self, motion: Motion) -> bool:
        """Buffer a motion; return whether it counts."""
        if not self.can_move or self.mode is not Mode.POSITION:
            return False
        if len(self._plan) >= _MOST_WAITING:
            self.warning = BUFFER_FULL
            return False
        self._plan.append(motion)
        if self.state is not State.PAUSED:
            self.state = State.MOVING
        return True

    def set_tool(self, numbers: Vec) -> None:
        """Set the tool in the flange, [mm], [rad], and stop."""
        self.tool, self._place = make_pose(numbers), None
        self.reset_settings()

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
            before = self._reference.copy()
            if self._plan:
                self._follow_plan()
            else:
                most = self.top_speed * PERIOD
                self._reference += np.clip(self._target - before, -most, most)
            self._note_motion(np.abs(self._reference - before).max() > _RESOLUTION)
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
        self._plan.clear()
        self._has_begun = False
        self._target = self._reference.copy()

    def _follow_plan(self) -> None:
        motion, q = self._plan[0], self._reference
        try:
            if not self._has_begun:
                motion.begin(q)
                self._has_begun = True
            if not motion.is_done:
                self._reference = motion.advance(PERIOD, q).copy()
        except MotionError as err:
            self.fail(err.code)
            return
        self._target = self._reference.copy()
        if motion.is_done and np.abs(self._reference - self.q).max() < _ARRIVED:
            self._plan.popleft()
            self._has_begun = False
            if motion.token is not None:
                self.done.append(motion.token)

    def _note_motion(self, has_moved: bool) -> None:
        if self.state is State.STOPPED:  # an error of the plan
            return
        is_short = np.abs(self._reference - self.q).max() > _ARRIVED
        is_moving = has_moved or is_short or bool(self._plan)
        self.state = State.MOVING if is_moving else State.READY

    def _feel(self, ddq: Vec) -> None:
        drive = self.model.compute_gravity(self.frames) + _INERTIA * ddq
        self.tau = np.where(self.is_enabled, drive - self.push_torque, 0.0)
        if not self.sensitivity or not self.can_move:
            return
        if np.abs(self.push_torque).max() > _THRESHOLD / self.sensitivity:
            self.fail(COLLISION)

    def _check_tool_speed(self) -> None:
        before, self._place = self._place, self.pose[:3, 3]
        if before is None or not self.can_servo:
            return
        if np.linalg.norm(self._place - before) > self.model.tool_speed * PERIOD:
            self.fail(TOOL_SPEED)
