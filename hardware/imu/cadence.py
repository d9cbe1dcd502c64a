"""Cadence of measurements, which reveals damaged times."""

from __future__ import annotations

from collections import deque

_KEPT = 16  # chosen: 80 ms at 200 Hz
_ENOUGH = 8  # chosen: until then every step fits
_LEAST_US = 50  # [µs] chosen: a loop's own rounding; so small an error of time is none
_USUAL = 6.0  # chosen: a normal jitter stays within four of its median
_MOST = 0.25  # chosen: of a period; beyond it multiples run into each other


class Cadence:
    """A sensor's steps, in multiples of its period."""

    def __init__(self) -> None:
        self._steps: deque[int] = deque(maxlen=_KEPT)
        self._offs: deque[float] = deque(maxlen=_KEPT)

    def accept(self, step_us: int) -> bool:
        """Return whether a step, [µs], fits those before, and count it."""
        is_known = len(self._steps) >= _ENOUGH
        self._steps.append(step_us)
        # where up to three of four packets are lost, the lower quartile is a period
        period = sorted(self._steps)[len(self._steps) // 4]
        off = abs(step_us - max(round(step_us / period), 1) * period)
        self._offs.append(off)
        usual = sorted(self._offs)[len(self._offs) // 2]
        return not is_known or off <= min(_LEAST_US + _USUAL * usual, _MOST * period)
