"""Position between images: cubics of continuous velocity, then rest."""

from __future__ import annotations

import numpy as np

from paprle.contracts.types import Vec

_PERIOD = (0.005, 0.1)  # [s] chosen: of cameras from 200 Hz to 10 Hz


class Glide:
    """A path through a few points a second."""

    def __init__(self) -> None:
        self._from = (np.zeros(3), np.zeros(3))
        self._to = (np.zeros(3), np.zeros(3))
        self._t, self._period = -np.inf, 1.0 / 30.0
        self._point: tuple[Vec, float] | None = None

    @property
    def period(self) -> float:
        """Recent time between images, [s]."""
        return self._period

    def begin(self, p: Vec) -> None:
        """Start at a point, (3,), [m]."""
        self._from = self._to = (p, np.zeros(3))
        self._t, self._point = -np.inf, None

    def aim(self, p: Vec, captured: float, t: float) -> None:
        """Continue to a point, (3,), [m]; both times are in [s]."""
        self._from = self.at(t)
        v = np.zeros(3)
        if self._point is not None:
            before, then = self._point
            step = captured - then
            if step > 0.0:
                held = float(np.clip(step, *_PERIOD))
                self._period += 0.2 * (held - self._period)
                v = (p - before) / step
        self._point = (p, captured)
        self._to, self._t = (p, v), t

    def at(self, t: float) -> tuple[Vec, Vec]:
        """Return position [m] and velocity [m/s], (3,), at ``t`` [s]."""
        T = self._period
        s = (t - self._t) / T
        (p0, v0), (p1, v1) = self._from, self._to
        if not s < 2.0:
            return p1 + v1 * (T / 3.0), np.zeros(3)
        if s > 1.0:  # to rest within one more period
            left = 2.0 - s
            return p1 + v1 * (T * (1.0 - left**3) / 3.0), v1 * left**2
        s = max(s, 0.0)
        a, b = 2.0 * (p0 - p1) + T * (v0 + v1), 3.0 * (p1 - p0) - T * (2.0 * v0 + v1)
        p = p0 + s * (T * v0 + s * (b + s * a))
        return p, v0 + s * (2.0 * b + 3.0 * s * a) / T

    def find_capture(self, t: float) -> float:
        """Return the glide's capture time, [s]."""
        if self._point is None:
            return t
        left = min(max(self._period - (t - self._t), 0.0), self._period)
        return self._point[1] - left
