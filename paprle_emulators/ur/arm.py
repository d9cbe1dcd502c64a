"""Motion of the emulated arm by URScript's motion commands.

The model of ``servoj`` is chosen (README.md): ramps lag by the look-ahead time, and the
arm follows as a stiff drive. Speed scaling slows motion only.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from paprle_emulators.ur.kinematics import (
    compute_jacobian,
    find_rotation,
    make_cross,
    solve,
)
from paprle_emulators.ur.models import Model, Vec, compute_flange

STOP_RATE = 10.0  # [rad/s²] chosen: at the end of a program; UR names no figure
BRAKE_RATE = 40.0  # [rad/s²] chosen: protective and emergency stop, stop category 0, 1
_MOST_RATE = 80.0  # [rad/s²] chosen: of a target that jumps
_GAIN_TIME = 3.0  # [s] chosen: over the gain, 10 ms at 300: smooth at 0.03 s look-ahead
_DRIVE_TIME = 0.004  # [s] chosen: actual_q after target_q
_EXCESS = 1.1  # chosen: of a joint's speed limit; above it the controller stops
_AT_REST = 1e-6  # [rad/s]
_ARRIVED = 1e-4  # [rad] chosen


class Motion(Enum):
    """Kinds of motion of the target."""

    HOLD = "hold"
    SERVO = "servo"
    MOVE = "move"
    LINE = "line"
    SPEED = "speed"
    TOOL_SPEED = "tool speed"
    FREE = "free"
    STOP = "stop"


@dataclass(slots=True)
class Goal:
    """Goal positions and command arguments."""

    q: Vec
    lookahead: float = 0.1
    gain: float = 300.0
    speed: float = 1.05
    rate: float = 1.4


@dataclass(slots=True)
class Line:
    """Straight way of the tool, from where it is.

    Attributes:
        pose: Its end, (4, 4).
        speed: [m/s]; of a turn alone [rad/s].
        rate: [m/s²]; of a turn alone [rad/s²].
    """

    pose: Vec
    speed: float
    rate: float


class EmulatedArm:
    """Six joints; vectors have shape (6,).

    Attributes:
        q_target: [rad].
        dq_target: [rad/s].
        q: Actual, [rad].
        dq: Actual, [rad/s].
        tool: TCP on the flange, (4, 4).
    """

    def __init__(self, model: Model, q: Vec) -> None:
        self.model = model
        self.q_target, self.q = q.copy(), q.copy()
        self.dq_target, self.dq = np.zeros(6), np.zeros(6)
        self.tool: Vec = np.eye(4)
        self.motion = Motion.HOLD
        self._goal = Goal(q.copy())
        self._rates: Vec = np.full(6, STOP_RATE)
        self._line = Line(np.eye(4), 0.0, 1.0)
        self._from: Vec = np.eye(4)
        self._way = self._along = self._pace = 0.0
        self._asked: Vec = np.zeros(6)
        self._twist: Vec = np.zeros(6)
        self._hand: list[tuple[int, float, float, float]] = []
        self._trouble = ""

    @property
    def is_at_rest(self) -> bool:
        """Whether the target stands."""
        return bool(np.abs(self.dq_target).max() < _AT_REST)

    @property
    def pose(self) -> Vec:
        """Pose of the TCP at the target, (4, 4)."""
        return np.asarray(compute_flange(self.model, self.q_target) @ self.tool)

    def servo(self, goal: Goal) -> None:
        """Begin or update ``servoj``."""
        self.motion, self._goal = Motion.SERVO, goal

    def move(self, goal: Goal) -> None:
        """Begin ``movej``."""
        self.motion, self._goal = Motion.MOVE, goal

    def move_line(self, line: Line) -> None:
        """Begin ``movel``, from rest."""
        self.motion, self._line, self._from = Motion.LINE, line, self.pose
        way = float(np.linalg.norm(line.pose[:3, 3] - self._from[:3, 3]))
        turn = find_rotation(line.pose[:3, :3] @ self._from[:3, :3].T)
        self._way = way if way > _ARRIVED else float(np.linalg.norm(turn))
        self._along = self._pace = 0.0

    def speed(self, dq: Vec, rate: float) -> None:
        """Begin or update ``speedj``."""
        self.motion, self._asked = Motion.SPEED, dq
        self._rates = np.full(6, rate)

    def tool_speed(self, twist: Vec, rate: float) -> None:
        """Begin or update ``speedl``, in the base frame."""
        if self.motion is not Motion.TOOL_SPEED:
            self._twist = self.find_twist()
        self.motion, self._asked = Motion.TOOL_SPEED, twist
        self._rates = np.full(6, rate)

    def free(self) -> None:
        """Begin freedrive: it holds its weight and follows a hand."""
        self.motion, self._hand = Motion.FREE, []

    def lead(self, joint: int, by: float, time: float) -> bool:
        """Lead a joint by hand by [rad] in [s]; return whether it gives way."""
        if self.motion is not Motion.FREE:
            return False
        self._hand.append((joint, by, time, 0.0))
        return True

    def stop(self, rate: float = STOP_RATE) -> None:
        """Decelerate with a rate, [rad/s²]."""
        self.motion, self._rates = Motion.STOP, np.full(6, rate)

    def stop_line(self, rate: float) -> None:
        """Decelerate the tool with a rate, [m/s²], and all joints at once."""
        speed = float(np.linalg.norm(self.find_twist()[:3]))
        time = max(speed / rate, float(np.abs(self.dq_target).max()) / BRAKE_RATE)
        self.stop()
        if time > 0.0:
            self._rates = np.maximum(np.abs(self.dq_target) / time, _AT_REST)

    def find_twist(self) -> Vec:
        """Return the target's speed of the TCP, base frame, linear first."""
        jacobian = compute_jacobian(self.model, self.q_target, self.tool)
        return np.asarray(jacobian @ self.dq_target)

    def push(self, joint: int, by: float) -> None:
        """Move joint and target by [rad]."""
        self.q[joint] += by
        self.q_target[joint] += by

    def step(self, dt: float, scaling: float = 1.0) -> str:
        """Advance dt [s]; return a reason to stop."""
        before = self.q_target.copy()
        steps = {
            Motion.SERVO: self._step_servo,
            Motion.MOVE: self._step_move,
            Motion.LINE: self._step_line,
            Motion.SPEED: self._step_speed,
            Motion.TOOL_SPEED: self._step_tool,
        }
        if self.motion in steps:
            steps[self.motion](dt * scaling)
        elif self.motion is Motion.STOP:
            slower = np.abs(self.dq_target) - self._rates * dt
            self.dq_target = np.sign(self.dq_target) * np.maximum(slower, 0.0)
            self.q_target = self.q_target + self.dq_target * dt
            self.motion = Motion.HOLD if self.is_at_rest else Motion.STOP
        elif self.motion is Motion.FREE:
            self._step_free(dt)
        else:
            self.dq_target = np.zeros(6)
        followed = self.q + (self.q_target - self.q) * min(1.0, dt / _DRIVE_TIME)
        self.dq, self.q = (followed - self.q) / dt, followed
        return self._find_excess((self.q_target - before) / dt)

    def _step_servo(self, dt: float) -> None:
        goal = self._goal
        wanted = (goal.q - self.q_target) / goal.lookahead
        share = min(1.0, dt * goal.gain / _GAIN_TIME)
        most = _MOST_RATE * dt
        change = np.clip((wanted - self.dq_target) * share, -most, most)
        self._advance(self.dq_target + change, dt)

    def _step_move(self, dt: float) -> None:
        away = self._goal.q - self.q_target
        allowed = np.sqrt(2.0 * self._goal.rate * np.abs(away))
        wanted = np.sign(away) * np.minimum(self._goal.speed, allowed)
        most = self._goal.rate * dt
        change = np.clip(wanted - self.dq_target, -most, most)
        self._advance(self.dq_target + change, dt)
        if np.abs(away).max() < _ARRIVED:
            self.q_target, self.dq_target = self._goal.q.copy(), np.zeros(6)
            self.motion = Motion.HOLD

    def _step_line(self, dt: float) -> None:
        if dt <= 0.0:
            return
        line, left = self._line, max(self._way - self._along, 0.0)
        allowed = min(line.speed, float(np.sqrt(2.0 * line.rate * left)))
        self._pace = min(self._pace + line.rate * dt, allowed)
        self._along = min(self._along + self._pace * dt, self._way)
        is_over = self._way - self._along < _ARRIVED * 1e-2
        share = 1.0 if is_over else self._along / self._way
        q = solve(self.model, self._find_between(share), self.q_target, self.tool)
        if q is None:
            self._trouble = "C0: expected a way within reach, got none"
            return
        self.dq_target, self.q_target = (q - self.q_target) / dt, q
        if is_over:
            self.dq_target, self.motion = np.zeros(6), Motion.HOLD

    def _find_between(self, share: float) -> Vec:
        begin, end = self._from, self._line.pose
        turn = share * find_rotation(end[:3, :3] @ begin[:3, :3].T)
        angle = float(np.linalg.norm(turn))
        pose = begin.copy()
        pose[:3, 3] += share * (end[:3, 3] - begin[:3, 3])
        if angle > 0.0:
            cross = make_cross(turn / angle)
            spun = np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
            pose[:3, :3] = (np.eye(3) + spun) @ begin[:3, :3]
        return pose

    def _step_speed(self, dt: float) -> None:
        most = self._rates * dt
        change = np.clip(self._asked - self.dq_target, -most, most)
        self._advance(self.dq_target + change, dt)

    def _step_tool(self, dt: float) -> None:
        most = self._rates * dt
        self._twist = self._twist + np.clip(self._asked - self._twist, -most, most)
        jacobian = compute_jacobian(self.model, self.q_target, self.tool)
        dq = np.linalg.lstsq(jacobian, self._twist, rcond=1e-6)[0]
        self._advance(np.asarray(dq, dtype=np.float64), dt)

    def _step_free(self, dt: float) -> None:
        dq: Vec = np.zeros(6)
        left = []
        for joint, by, time, at in self._hand:
            dq[joint] += by / time * (1.0 - np.cos(2.0 * np.pi * (at + dt / 2) / time))
            if at + 1.5 * dt < time:
                left.append((joint, by, time, at + dt))
        self._hand = left
        self._advance(dq, dt)

    def _advance(self, dq: Vec, dt: float) -> None:
        self.dq_target = dq
        self.q_target = self.q_target + dq * dt

    def _find_excess(self, speed: Vec) -> str:
        if self.motion in (Motion.HOLD, Motion.STOP):
            return ""
        if self._trouble:
            told, self._trouble = self._trouble, ""
            return told
        fast = np.flatnonzero(np.abs(speed) > _EXCESS * self.model.dq_max)
        if len(fast):
            return f"C204A{fast[0]}: path sanity check, joint {fast[0]} too fast"
        far = np.flatnonzero(np.abs(self.q_target) > self.model.q_max)
        if len(far):
            return f"C158A{far[0]}: joint {far[0]} beyond its position limit"
        return ""
