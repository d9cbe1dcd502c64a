"""The emulated arm: motion generator, conditions, modes and errors.

A cycle is a millisecond; README.md has the rules.
"""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

from paprle_emulators.franka.models import FR3, Model
from paprle_emulators.franka.protocol import N_ERRORS, Error, Mode

Vec = npt.NDArray[np.float64]

PERIOD = 0.001  # [s] spec: FCI documentation, 1 kHz
MOST_LOST = 20  # spec: FCI documentation, packets in a row
_RATED = 100  # spec: robot_state.h, control_command_success_rate of the last 100
_LAG = 0.01  # [s] chosen: 2/ω of a critically damped joint, which knows its speed
_STOPPING = 20.0  # [rad/s²] chosen: of a reflex or a user stop
_BRAKING = 60.0  # [rad/s²] chosen: of brakes, without power
_START = 1e-3  # [rad] chosen: first command from the desired position
_TOLERANCE = 1e-6  # chosen: share of a limit, above the noise of doubles
_THRESHOLD = 20.0  # [N·m] spec: libfranka, examples' collision behaviour
_RECOVERY = 0.5  # [s] chosen


class Arm:
    """One arm; vectors have shape (7,).

    Attributes:
        model: Limits and protocol.
        q: Measured, [rad].
        dq: [rad/s].
        q_d: Of the motion generator, [rad].
        dq_d: [rad/s].
        ddq_d: [rad/s²].
        errors: N_ERRORS.
        reflex_reason: N_ERRORS, of the last motion.
        push_torque: External, [N·m].
        thresholds: Of a collision, [N·m].
        n_lost: Cycles without a command.
    """

    def __init__(self, q: Vec, model: Model = FR3) -> None:
        """Stand with open brakes.

        Raises:
            ValueError: If not seven joints inside the limits.
        """
        limits = model.limits
        if q.shape != (7,) or (q < limits.lower).any() or (q > limits.upper).any():
            raise ValueError(f"q: expected 7 joints inside their limits, got {q}")
        self.model, self._limits = model, limits
        self.q, self.q_d = q.copy(), q.copy()
        self.mode = Mode.IDLE
        self.thresholds = np.full(7, _THRESHOLD)
        self.boot()
        self.mode = Mode.IDLE

    def boot(self) -> None:
        """Start the unit: brakes closed, no motion, no error."""
        self.dq, self.dq_d, self.ddq_d = np.zeros(7), np.zeros(7), np.zeros(7)
        self.q_d = self.q.copy()
        self.push_torque = np.zeros(7)
        self.errors, self.reflex_reason = bytearray(N_ERRORS), bytearray(N_ERRORS)
        self.mode, self.n_lost = Mode.OTHER, 0
        self._recovered = 0.0
        self._is_first, self._has_power = False, True
        self._history: deque[int] = deque([0] * _RATED, maxlen=_RATED)

    @property
    def success_rate(self) -> float:
        """Punctual share of a hundred commands; 0 without motion."""
        is_moving = self.mode is Mode.MOVE
        return sum(self._history) / _RATED if is_moving else 0.0

    def start(self) -> None:
        """Start the joint position generator."""
        self.mode, self.n_lost, self._is_first = Mode.MOVE, 0, True
        self.reflex_reason = bytearray(N_ERRORS)
        self._history.extend([1] * _RATED)

    def end(self, mode: Mode = Mode.IDLE) -> None:
        """Stop in a mode."""
        self.mode = mode

    def fail(self, error: Error) -> None:
        """Stop with an error."""
        self.errors[error] = 1
        self.reflex_reason[error] = 1
        self.mode = Mode.REFLEX

    def recover(self) -> None:
        """Begin to recover from errors."""
        self.mode, self._recovered = Mode.RECOVERY, 0.0

    def cut_power(self) -> None:
        """Lose power: brakes close."""
        self.mode, self._has_power = Mode.OTHER, False

    def open_brakes(self) -> None:
        """Restore power, ready for motion."""
        if self.mode is Mode.OTHER:
            self.mode, self._has_power = Mode.IDLE, True

    def step(self, q_c: Vec | None) -> None:
        """Advance a cycle with a command (7,), [rad], or none."""
        if self.mode is Mode.MOVE:
            self._history.append(int(q_c is not None))
            if q_c is None:
                self._extrapolate()
            else:
                self._follow(q_c)
        if self.mode is not Mode.MOVE:
            self._stop()
        if self.mode is Mode.RECOVERY:
            self._recovered += PERIOD
            if self._recovered > _RECOVERY:
                self.errors, self.mode = bytearray(N_ERRORS), Mode.IDLE
        self._move()
        is_hit = np.abs(self.push_torque) > self.thresholds
        if is_hit.any() and self.mode is Mode.MOVE:
            self.fail(Error.JOINT_REFLEX)

    def _extrapolate(self) -> None:
        """Go on at constant acceleration. spec: FCI documentation, lost packets."""
        self.n_lost += 1
        if self.n_lost >= MOST_LOST:
            self.fail(Error.COMMUNICATION)
            return
        self.dq_d = self.dq_d + PERIOD * self.ddq_d
        self.q_d = self.q_d + PERIOD * self.dq_d

    def _follow(self, q_c: Vec) -> None:
        self.n_lost = 0
        dq = (q_c - self.q_d) / PERIOD
        ddq = (dq - self.dq_d) / PERIOD
        dddq = (ddq - self.ddq_d) / PERIOD
        error = self._find_violation(q_c, dq, ddq, dddq)
        if error is not None:
            self.fail(error)
            return
        self._is_first = False
        self.q_d, self.dq_d, self.ddq_d = q_c.copy(), dq, ddq

    def _find_violation(self, q_c: Vec, dq: Vec, ddq: Vec, dddq: Vec) -> Error | None:
        limits = self._limits
        low, high = limits.find_speeds(self.q_d)
        slack, most = _TOLERANCE * limits.speed, 1.0 + _TOLERANCE
        is_near = not self._is_first or np.abs(q_c - self.q_d).max() < _START
        is_inside = ((q_c >= limits.lower) & (q_c <= limits.upper)).all()
        is_slow = ((dq >= low - slack) & (dq <= high + slack)).all()
        is_smooth = (np.abs(ddq) <= most * limits.acceleration).all()
        checks = (
            (is_inside, Error.MOTION_POSITION_LIMITS),
            (is_near, Error.START_POSE),
            (is_slow, Error.MOTION_VELOCITY_LIMITS),
            (is_smooth, Error.MOTION_VELOCITY_DISCONTINUITY),
            (
                (np.abs(dddq) <= most * limits.jerk).all(),
                Error.MOTION_ACCELERATION_DISCONTINUITY,
            ),
        )
        return next((error for is_well, error in checks if not is_well), None)

    def _stop(self) -> None:
        most = PERIOD * (_STOPPING if self._has_power else _BRAKING)
        self.dq_d = self.dq_d - np.clip(self.dq_d, -most, most)
        self.q_d = np.clip(
            self.q_d + PERIOD * self.dq_d, self._limits.lower, self._limits.upper
        )
        self.ddq_d = np.zeros(7)

    def _move(self) -> None:
        omega = 2.0 / _LAG
        ddq = omega**2 * (self.q_d - self.q) + 2 * omega * (self.dq_d - self.dq)
        self.dq = self.dq + PERIOD * ddq
        self.q = self.q + PERIOD * self.dq
