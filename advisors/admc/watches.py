"""State between suggestions, so that none of it flickers."""

from __future__ import annotations

import math

_HOVER_BAND = 0.2  # chosen: the radius is a fifth larger for whoever is within
_SQUEEZE = 0.15  # [opening] chosen: firm; a servo stays behind by a tenth of it
_OPENS = 0.05  # [opening] chosen: a hand that trembles does not let go
_HELD_WITHIN, _LOST_BEYOND = 0.03, 0.06  # [m] chosen: a block, and two of them


class Hover:
    """Whether the hand is near enough, seen from above, to descend."""

    def __init__(self, radius: float) -> None:
        self._radius = radius
        self.is_near = False

    def step(self, distance: float) -> bool:
        """Return it for a horizontal distance, [m]."""
        wider = 1.0 + _HOVER_BAND * self.is_near
        self.is_near = distance < self._radius * wider
        return self.is_near


class Hold:
    """Whether an object is in the hand: the fingers are told to close, and cannot."""

    def __init__(self) -> None:
        self.is_held = False
        self._opening = math.nan

    def step(self, asked: float, measured: float, distance: float) -> bool:
        """Return it.

        Args:
            asked: Opening that the hand was told, 0 … 1.
            measured: Opening that it has.
            distance: From between the fingertips to the object, [m].
        """
        if self.is_held:
            is_open = asked > self._opening + _OPENS
            self.is_held = not is_open and distance < _LOST_BEYOND
        elif distance < _HELD_WITHIN and asked < measured - _SQUEEZE:
            self.is_held, self._opening = True, measured
        return self.is_held


class Crossing:
    """Counts how often a difference goes beyond a threshold: once a time (X12).

    Attributes:
        is_over: It is beyond.
        n_times: How often it went beyond.
    """

    def __init__(self, threshold: float, hysteresis: float, debounce: float) -> None:
        self._on, self._off, self._debounce = (
            threshold,
            threshold - hysteresis,
            debounce,
        )
        self.is_over, self.n_times = False, 0
        self._since = math.nan

    def step(self, difference: float, t: float) -> bool:
        """Take a difference, 0 … 1, at a time, [s]; return whether it is beyond."""
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
