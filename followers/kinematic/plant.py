"""Joints with dead time and first-order lag, solved exactly.

Commands are linear from u_{k-1} to u_k after ``step(u_k)``; a ramp's delay is
dead_time + time_constant.
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from paprle.contracts.types import Vec, readonly


class Plant:
    """All joints of a robot.

    Attributes:
        q: Positions, (n,), read-only, [rad] or [m].
        dq: Velocities, (n,), read-only, [rad/s] or [m/s].
    """

    def __init__(
        self, q: Vec, period: float, time_constant: float = 0.0, dead_time: float = 0.0
    ) -> None:
        self.q = readonly(q)
        self.dq = readonly(np.zeros_like(self.q))
        self._period = period
        self._time_constant = time_constant
        n_whole = math.floor(dead_time / period + 1e-9)
        # The rest of the dead time: where in a period the delayed command bends.
        self._bend = max(0.0, dead_time - n_whole * period)
        self._is_bent = self._bend > 1e-9 * period
        n_kept = n_whole + 2 + self._is_bent
        self._commands: deque[Vec] = deque([self.q.copy()] * n_kept, maxlen=n_kept)

    def step(self, q_cmd: Vec) -> None:
        """Advance one period to ``q_cmd``, shape (n,)."""
        self._commands.append(np.array(q_cmd, dtype=np.float64))
        if not self._is_bent:
            self._follow(self._commands[0], self._commands[1], self._period)
            return
        before, middle, after = self._commands[0], self._commands[1], self._commands[2]
        share = self._bend / self._period
        begin = middle - (middle - before) * share
        end = after - (after - middle) * share
        self._follow(begin, middle, self._bend)
        self._follow(middle, end, self._period - self._bend)

    def hold(self) -> None:
        """Advance one period at a constant command."""
        self.step(self._commands[-1])

    def _follow(self, begin: Vec, end: Vec, dt: float) -> None:
        """Solve ẋ = (r − x)/τ."""
        # ẋ = (r − x)/τ with r = r₀ + a s has x = r₀ + a (s − τ) + (x₀ − r₀ + a τ)
        # e^{−s/τ}.
        slope, tau = (end - begin) / dt, self._time_constant
        if tau == 0.0:
            self.q, self.dq = end, slope
        else:
            lag = slope * tau
            self.q = end - lag + (self.q - begin + lag) * math.exp(-dt / tau)
            self.dq = (end - self.q) / tau
        self.q.setflags(write=False)
        self.dq.setflags(write=False)
