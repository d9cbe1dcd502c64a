"""Detection of states that echo commands, as by fake hardware.

Weight, friction and lag make a real arm deviate.
"""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]

_SPEED = 0.05  # [rad/s] chosen: of the quickest joint; slower, everything coincides
_EXACT = 1e-6  # [rad] chosen: a tenth of what the encoders of small arms resolve
_CURVE = 0.5  # [1] chosen: of the largest second difference; a cubic leaves an eighth
_N_KEPT = 40  # [periods] chosen: longer than any lag that an echo has
_N_ALIKE = 200  # [periods] chosen: one second of motion at 200 Hz
_N_SEEN = 2000  # [periods] chosen: who was no echo for so long is none
_LATE = 2.0  # [periods] chosen: of states that come once a period, beyond the lead


class EchoWatch:
    """Comparison of states and commands."""

    def __init__(
        self, is_arm: npt.NDArray[np.bool_], period: float, lead: float
    ) -> None:
        """Watch masked joints, shape (n,), with period and lead, [s]."""
        self._is_arm, self._period = is_arm, period
        self._longest = lead / period + _LATE
        self._way: deque[Vec] = deque(maxlen=_N_KEPT)
        self._n_alike = self._n_seen = 0
        self.is_over = False

    def look(self, q_cmd: Vec, q_meas: Vec) -> float | None:
        """Return an echo's delay, [s], once certain; shapes are (n,)."""
        self._way.append(q_cmd[self._is_arm])
        if self.is_over or len(self._way) < _N_KEPT:
            return None
        way = np.array(self._way)
        steps = np.diff(way, axis=0)
        lag = self._find_lag(way, steps, q_meas[self._is_arm])
        first = max(0, len(steps) - round(self._longest) - 2)
        if np.abs(steps[first:]).max() < _SPEED * self._period:
            return None
        self._n_seen += 1
        self._n_alike = 0 if lag is None or lag > self._longest else self._n_alike + 1
        is_echo = self._n_alike >= _N_ALIKE
        self.is_over = is_echo or self._n_seen >= _N_SEEN
        return None if not is_echo or lag is None else lag * self._period

    def _find_lag(self, way: Vec, steps: Vec, q: Vec) -> float | None:
        lengths = np.maximum((steps**2).sum(axis=1), 1e-30)
        share = np.clip(((q - way[:-1]) * steps).sum(axis=1) / lengths, 0.0, 1.0)
        off = np.abs(way[:-1] + share[:, None] * steps - q).max(axis=1)
        i = len(off) - 1 - int(np.argmin(off[::-1]))
        curve = np.abs(np.diff(steps, axis=0)).max()
        if off[i] > _EXACT + _CURVE * curve:
            return None
        return len(way) - 1 - i - float(share[i])
