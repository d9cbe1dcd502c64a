"""State between suggestions, against flicker."""

from __future__ import annotations

import math

_HOVER_BAND = 0.2  # chosen: the radius is a fifth larger for whoever is within
_SQUEEZE = 0.15  # [opening] chosen: firm; a servo stays behind by a tenth of it
_OPENS = 0.05  # [opening] chosen: a hand that trembles does not let go
_HELD_WITHIN, _LOST_BEYOND = 0.03, 0.06  # [m] chosen: a block, and two of them


class Hover:
    """Hysteresis of the descent."""

    def __init__(self, radius: float) -> None:
        self._radius = radius
        self.is_near = False

    def step(self, distance: float) -> bool:
        """Return whether to descend at a horizontal distance [m]."""
        wider = 1.0 + _HOVER_BAND * self.is_near
        self.is_near = distance < self._radius * wider
        return self.is_near


class Hold:
    """Detection of a held object, which blocks closing fingers."""

    def __init__(self) -> None:
        self.is_held = False
        self._opening = math.nan

    def step(self, asked: float, measured: float, distance: float) -> bool:
        """Return whether the object is held.

        Args:
            asked: Opening, 0 … 1.
            measured: Opening, 0 … 1.
            distance: Fingertips to object, [m].
        """
        if self.is_held:
            is_open = asked > self._opening + _OPENS
            self.is_held = not is_open and distance < _LOST_BEYOND
        elif distance < _HELD_WITHIN and asked < measured - _SQUEEZE:
            self.is_held, self._opening = True, measured
        return self.is_held


class Crossing:
    """Counter of threshold crossings (X12)."""

    def __init__(self, threshold: float, hysteresis: float, debounce: float) -> None:
        self._on, self._off, self._debounce = (
            threshold,
            threshold - hysteresis,
            debounce,
        )
        self.is_over, self.n_times = False, 0
        self._since = math.nan

    def step(self, difference: float, t: float) -> bool:
        """Return whether a difference, 0 … 1, is beyond at ``t`` [s]."""
        is_other = difference < self._off if self.is_over else difference > self._on
        if not is_other:
            self._since = math.nan
        elif math.isnan(self._since):
            self._since = t
        if is_other and t - self._since >= self._debounce:
            self.is_over = not self.is_over
            self.n_times += self.is_over
            self._since = math.nan
        return self.is_over
