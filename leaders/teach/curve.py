"""Monotone C¹ curve within speeds and accelerations.

References:
    Fritsch, Butland: A method for constructing local monotone piecewise cubic
    interpolants (SIAM J. Sci. Stat. Comput. 5, 1984), Eq. 5; requirements X29.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paprle.contracts.types import Vec

_SHORTEST = 0.05  # [s] chosen: rows that are alike are a moment apart
_N_ROUNDS = 200  # chosen: a few dozen are enough; what is left is scaled as a whole
_SLACK = 1e-9  # chosen: of rounding


class Bounds(NamedTuple):
    """Bounds on the norms of a group of columns.

    Attributes:
        columns: Indices.
        speed: [unit/s].
        acceleration: [unit/s²].
        rests: They stand at every row.
    """

    columns: slice
    speed: float
    acceleration: float
    rests: bool = False


class Curve:
    """The quickest curve found.

    Attributes:
        t: Time at each row, (k,), [s].
        duration: [s].
    """

    def __init__(self, rows: Vec, waits: Vec, bounds: tuple[Bounds, ...]) -> None:
        """Fit the curve through rows, (k, n), with waits, (k,), [s]."""
        stays = np.repeat(np.arange(len(rows)), 1 + (waits > 0.0))
        self._rows = rows[stays]
        self._pauses = np.zeros(len(stays) - 1)
        is_pause = np.diff(stays) == 0
        self._pauses[is_pause] = waits[waits > 0.0]
        self._bounds = bounds
        self._h = np.maximum(self._guess(), _SHORTEST)
        self._h[is_pause] = self._pauses[is_pause]
        self._fit()
        self._slopes = self._find_slopes()
        self._t = np.concatenate([[0.0], np.cumsum(self._h)])
        self.t: Vec = self._t[np.concatenate([[True], ~is_pause])]
        self.duration = float(self._t[-1])

    def compute(self, t: float) -> Vec:
        """Return the row at ``t`` [s], (n,), held at both ends."""
        t = min(max(t, 0.0), self.duration)
        i = min(int(np.searchsorted(self._t, t, side="right")) - 1, len(self._h) - 1)
        h, y0, y1 = self._h[i], self._rows[i], self._rows[i + 1]
        d0, d1 = self._slopes[i], self._slopes[i + 1]
        s = (t - self._t[i]) / h
        if s >= 1.0:
            return np.array(y1)
        # Hermite's form around y0, so that rows that are alike give exactly these
        rise = s * s * (3.0 - 2.0 * s) * (y1 - y0)
        return np.asarray(y0 + rise + h * s * (1.0 - s) * ((1.0 - s) * d0 - s * d1))

    def _guess(self) -> Vec:
        times = np.zeros(len(self._rows) - 1)
        for one in self._bounds:
            steps = np.diff(self._rows[:, one.columns], axis=0)
            way = np.linalg.norm(steps, axis=1)
            times = np.maximum(times, way / one.speed)
            times = np.maximum(times, np.sqrt(2.0 * way / one.acceleration))
        return times

    def _fit(self) -> None:
        moves = self._pauses == 0.0
        for _ in range(_N_ROUNDS):
            excess = self._find_excess()
            if excess.max() <= 1.0 + _SLACK:
                return
            self._h[moves] *= np.maximum(excess, 1.0)[moves]
        self._h *= max(float(self._find_excess().max()), 1.0)

    def _find_excess(self) -> Vec:
        h, steps = self._h[:, None], np.diff(self._rows, axis=0)
        slopes = self._find_slopes()
        d0, d1 = slopes[:-1], slopes[1:]
        a0 = (6.0 * steps / h - 4.0 * d0 - 2.0 * d1) / h
        a1 = (2.0 * d0 + 4.0 * d1 - 6.0 * steps / h) / h
        turn = np.where(a0 != a1, a0 - a1, np.inf)
        at = np.clip(a0 / turn, 0.0, 1.0) * h  # where the speed is largest or smallest
        middle = d0 + a0 * at + (a1 - a0) / (2.0 * h) * at**2
        v = np.maximum(np.maximum(np.abs(d0), np.abs(d1)), np.abs(middle))
        a = np.maximum(np.abs(a0), np.abs(a1))
        excess = np.zeros(len(self._h))
        for one in self._bounds:
            speed = np.linalg.norm(v[:, one.columns], axis=1) / one.speed
            jolt = np.linalg.norm(a[:, one.columns], axis=1) / one.acceleration
            excess = np.maximum(excess, np.maximum(speed, np.sqrt(jolt)))
        return excess

    def _find_slopes(self) -> Vec:
        slopes = np.zeros_like(self._rows)
        h = self._h[:, None]
        secants = np.diff(self._rows, axis=0) / h
        before, after = secants[:-1], secants[1:]
        w0, w1 = 2.0 * h[1:] + h[:-1], h[1:] + 2.0 * h[:-1]
        goes_on = before * after > 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = (w0 + w1) / (w0 / before + w1 / after)
        slopes[1:-1] = np.where(goes_on, mean, 0.0)
        for one in self._bounds:
            if one.rests:
                slopes[:, one.columns] = 0.0
        return slopes
