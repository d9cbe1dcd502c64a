"""Commands at 1 kHz from slower goals, within the unit's limits.

Goals are control points of a uniform cubic B-spline, which bounds speed, acceleration
and jerk. One law catches up after a pause and brakes without goals; another keeps
commands within the limits after lost packets.
"""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

from paprle.hardware.franka.limits import MotionLimits

Vec = npt.NDArray[np.float64]

DT = 0.001  # [s] spec: FCI documentation, 1 kHz
_DEPTH = 2.0  # chosen: goals that wait, for the jitter of a gate on a plain kernel
_MOST = 8  # chosen: more are 40 ms late at 200 Hz; the oldest are left out
_GAIN = 0.04  # chosen: change of pace by each goal that waits too long
_MOST_PACE = 0.1  # chosen: of that change; two clocks differ by far less
_SLEW = 1e-4  # chosen: of the pace in a millisecond, 0.25 rad/s² at full speed
_SHARES = (0.97, 0.92, 0.78)  # chosen: of V, A, J; 32-bit states cost A and J
_BRAKE, _CATCH_UP = 8.0, 2.5  # [rad/s²] chosen: of control points; the gate has 5
_BRAKE_SHARE = 0.8  # chosen: of A, where that is less
_OMEGA = 60.0  # [1/s] chosen: of what the unit is off after lost packets
_SPEED_MARGIN = 0.02  # [rad/s] chosen: deceleration towards an end over J/A
_SOFTEST = 7.0  # [rad/s²] chosen: towards an end, below A
_REST = 1e-4  # [rad/s] chosen


class Stream:
    """Generator of the next command.

    Attributes:
        q: Last command, shape (7,), [rad].
        dq: Shape (7,), [rad/s].
        ddq: Shape (7,), [rad/s²].
        n_resets: Deviations from commands.
    """

    def __init__(self, q: Vec, rate: float, limits: MotionLimits) -> None:
        """Begin at rest.

        Args:
            q: The unit's desired joints, shape (7,), [rad].
            rate: Of goals, [Hz].
            limits: Of the unit.
        """
        self._period, self._limits = 1.0 / rate, limits
        self._dq_max = _SHARES[0] * limits.dq
        self._ddq_max, self._dddq_max = (
            _SHARES[1] * limits.ddq,
            _SHARES[2] * limits.dddq,
        )
        self._brake = np.minimum(_BRAKE, _BRAKE_SHARE * limits.ddq)
        self._ends = MotionLimits(
            dq=self._dq_max,
            ddq=limits.ddq,
            dddq=limits.dddq,
            end_lower=limits.end_lower,
            end_upper=limits.end_upper,
            offset=limits.offset + _SPEED_MARGIN,
            deceleration=np.minimum(limits.deceleration, _SOFTEST),
        )
        self._goals: deque[Vec] = deque()
        self._last_goal: Vec | None = None
        self._is_filling = True
        self._u = self._pace = 0.0
        self._points = [q.copy() for _ in range(4)]
        self._v = np.zeros(7)
        self.q, self.dq, self.ddq = q.copy(), np.zeros(7), np.zeros(7)
        self.n_resets = 0

    @property
    def end(self) -> Vec:
        """Rest without goals, shape (7,), [rad]."""
        v = self._v
        way = 0.5 * v * np.abs(v) / self._brake + 0.5 * v * self._period
        found: Vec = self._points[-1] + way
        return found

    @property
    def is_resting(self) -> bool:
        """Whether it stands."""
        return bool(
            np.abs(self.dq).max() < _REST
            and np.abs(self._v).max() < _REST
            and np.abs(self._points[-1] - self.q).max() < _REST
        )

    def take(self, goal: Vec) -> None:
        """Take the next goal, shape (7,), [rad]."""
        self._goals.append(goal)
        while len(self._goals) > _MOST:
            self._last_goal = self._goals.popleft()

    def halt(self) -> None:
        """Forget waiting goals, and brake."""
        self._goals.clear()
        self._last_goal, self._is_filling = None, True

    def note_unit(self, n: int, q_d: Vec, dq_d: Vec, ddq_d: Vec) -> None:
        """Note the unit's place, before each step.

        Args:
            n: Cycles since the last step; above one after lost packets.
            q_d: Desired joints, shape (7,), [rad].
            dq_d: Shape (7,), [rad/s].
            ddq_d: Shape (7,), [rad/s²].
        """
        for _ in range(n - 1):
            self._advance()
        if n > 1 or (self.q.astype(np.float32) != q_d.astype(np.float32)).any():
            self.q, self.dq, self.ddq = q_d, dq_d, ddq_d
            self.n_resets += 1

    def step(self) -> Vec:
        """Return the next command, shape (7,), [rad]."""
        r, dr, ddr = self._advance()
        ddq = ddr + 2 * _OMEGA * (dr - self.dq) + _OMEGA**2 * (r - self.q)
        self.ddq = self._limit(ddq)
        self.dq = self.dq + DT * self.ddq
        self.q = self.q + DT * self.dq
        return self.q

    def _limit(self, ddq: Vec) -> Vec:
        """Return an acceleration within limits, as libfranka's ``limitRate``."""
        low, high = self._ends.find_speeds(self.q)
        ratio = self._dddq_max / self._ddq_max
        most = np.minimum(ratio * (high - self.dq), self._ddq_max)
        least = np.maximum(ratio * (low - self.dq), -self._ddq_max)
        ddq = np.minimum(np.maximum(ddq, least), most)
        step = self._dddq_max * DT
        limited: Vec = np.clip(ddq, self.ddq - step, self.ddq + step)
        return limited

    def _advance(self) -> tuple[Vec, Vec, Vec]:
        waiting = len(self._goals) + 1.0 - self._u
        is_full = not self._is_filling
        aim = _GAIN * (waiting - _DEPTH - 0.5) if is_full else 0.0
        aim = min(max(aim, -_MOST_PACE), _MOST_PACE)
        self._pace += min(max(aim - self._pace, -_SLEW), _SLEW)
        pace = (1.0 + self._pace) / self._period
        self._u += DT * pace
        while self._u >= 1.0:
            self._u -= 1.0
            self._points = [*self._points[1:], self._choose_point()]
        p0, p1, p2, p3 = self._points
        u = self._u
        first, second = p1 - p0, p2 - p1
        third = p3 - p2
        b, c = second - first, third - second
        r = p1 + b / 6 + u * (0.5 * (first + second)) + u * u * (0.5 * b)
        r = r + u**3 * ((c - b) / 6)
        dr = 0.5 * (first + second) + u * b + 0.5 * u * u * (c - b)
        return r, pace * dr, pace * pace * (b + u * (c - b))

    def _choose_point(self) -> Vec:
        if self._is_filling and len(self._goals) > _DEPTH:
            self._is_filling = False
        last, period = self._points[-1], self._period
        if self._is_filling or not self._goals:
            self._is_filling, self._last_goal = True, None
            most = self._brake * period
            self._v = self._v - np.clip(self._v, -most, most)
        else:
            goal = self._goals.popleft()
            before = goal if self._last_goal is None else self._last_goal
            self._last_goal = goal
            self._v = self._catch_up(goal, (goal - before) / period)
        return last + period * self._v

    def _catch_up(self, goal: Vec, speed: Vec) -> Vec:
        period = self._period
        short = goal - self._points[-1] - period * speed
        most = np.sqrt(2 * _CATCH_UP * np.abs(short))
        aim = speed + np.clip(short / period, -most, most)
        most = self._dq_max / (1.0 + max(self._pace, 0.0))
        aim = np.clip(aim, -most, most)
        step = self._brake * period
        found: Vec = self._v + np.clip(aim - self._v, -step, step)
        return found
