"""Motion of the emulated arm by ``servoj``, ``movej`` and ``stopj``.

The model of ``servoj`` is chosen (README.md): ramps lag by the look-ahead time, and the
arm follows as a stiff drive. Speed scaling slows motion only.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from paprle_emulators.ur.models import Model, Vec

STOP_RATE = 10.0  # [rad/s²] chosen: at the end of a program; UR names no figure
BRAKE_RATE = 40.0  # [rad/s²] chosen: protective and emergency stop, stop category 0, 1
_MOST_RATE = 80.0  # [rad/s²] chosen: of a target that jumps
_GAIN_TIME = 3.0  # [s] chosen: over the gain, 10 ms at 300: smooth at 0.03 s look-ahead
_DRIVE_TIME = 0.004  # [s] chosen: actual_q after target_q
_EXCESS = 1.1  # chosen: of a joint's speed limit; above it the controller stops
_AT_REST = 1e-6  # [rad/s]


class Motion(Enum):
    """Kinds of motion of the target."""

    HOLD = "hold"
    SERVO = "servo"
    MOVE = "move"
    STOP = "stop"


@dataclass(slots=True)
class Goal:
    """Goal positions and command arguments."""

    q: Vec
    lookahead: float = 0.1
    gain: float = 300.0
    speed: float = 1.05
    rate: float = 1.4


class EmulatedArm:
    """Six joints; vectors have shape (6,).

    Attributes:
        q_target: [rad].
        dq_target: [rad/s].
        q: Actual, [rad].
        dq: Actual, [rad/s].
    """

    def __init__(self, model: Model, q: Vec) -> None:
        self.model = model
        self.q_target, self.q = q.copy(), q.copy()
        self.dq_target, self.dq = np.zeros(6), np.zeros(6)
        self.motion = Motion.HOLD
        self._goal = Goal(q.copy())
        self._rate = STOP_RATE

    @property
    def is_at_rest(self) -> bool:
        """Whether the target stands."""
        return bool(np.abs(self.dq_target).max() < _AT_REST)

    def servo(self, goal: Goal) -> None:
        """Begin or update ``servoj``."""
        self.motion, self._goal = Motion.SERVO, goal

    def move(self, goal: Goal) -> None:
        """Begin ``movej``."""
        self.motion, self._goal = Motion.MOVE, goal

    def stop(self, rate: float = STOP_RATE) -> None:
        """Decelerate with a rate, [rad/s²]."""
        self.motion, self._rate = Motion.STOP, rate

    def push(self, joint: int, by: float) -> None:
        """Move joint and target by [rad]."""
        self.q[joint] += by
        self.q_target[joint] += by

    def step(self, dt: float, scaling: float = 1.0) -> str:
        """Advance dt [s]; return a reason to stop."""
        share = 1.0 if self.motion is Motion.STOP else scaling
        before = self.q_target.copy()
        if self.motion is Motion.SERVO:
            self._step_servo(dt * share)
        elif self.motion is Motion.MOVE:
            self._step_move(dt * share)
        elif self.motion is Motion.STOP:
            slower = np.abs(self.dq_target) - self._rate * dt
            self.dq_target = np.sign(self.dq_target) * np.maximum(slower, 0.0)
            self.q_target = self.q_target + self.dq_target * dt
            self.motion = Motion.HOLD if self.is_at_rest else Motion.STOP
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
        self.dq_target = self.dq_target + change
        self.q_target = self.q_target + self.dq_target * dt

    def _step_move(self, dt: float) -> None:
        away = self._goal.q - self.q_target
        allowed = np.sqrt(2.0 * self._goal.rate * np.abs(away))
        wanted = np.sign(away) * np.minimum(self._goal.speed, allowed)
        step = np.clip(
            wanted - self.dq_target, -self._goal.rate * dt, self._goal.rate * dt
        )
        self.dq_target = self.dq_target + step
        self.q_target = self.q_target + self.dq_target * dt
        if np.abs(away).max() < 1e-4:
            self.q_target, self.dq_target = self._goal.q.copy(), np.zeros(6)
            self.motion = Motion.HOLD

    def _find_excess(self, speed: Vec) -> str:
        if self.motion not in (Motion.SERVO, Motion.MOVE):
            return ""
        fast = np.flatnonzero(np.abs(speed) > _EXCESS * self.model.dq_max)
        if len(fast):
            return f"C204A{fast[0]}: path sanity check, joint {fast[0]} too fast"
        far = np.flatnonzero(np.abs(self.q_target) > self.model.q_max)
        if len(far):
            return f"C158A{far[0]}: joint {far[0]} beyond its position limit"
        return ""
