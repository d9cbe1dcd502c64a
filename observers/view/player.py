"""Playback of a film: time, speed and pause."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from paprle.contracts.film import Film
from paprle.contracts.types import Vec

_DIGITS = 4  # chosen: a tenth of a milliradian


class Player:
    """Plays one film; thread-safe."""

    def __init__(self, film: Film, clock: Callable[[], int]) -> None:
        self.film, self.t = film, 0.0
        self.is_playing, self.speed = True, 1.0
        self._clock, self._last_ns = clock, clock()
        self.missing: tuple[str, ...] = ()

    def ask(self, *, is_playing: bool, speed: float, t: float | None) -> None:
        """Set playback, speed and time [s]; None: keep the time."""
        if t is not None:
            self.t = min(max(t, 0.0), self.film.length)
        elif is_playing and self.t >= self.film.length:
            self.t = 0.0  # once more
        self.is_playing, self.speed = is_playing, speed

    def wait(self) -> None:
        """Pause without watchers."""
        self._last_ns = self._clock()

    def advance(self) -> float:
        """Advance with the clock; return the film's time, [s]."""
        now_ns = self._clock()
        dt, self._last_ns = (now_ns - self._last_ns) * 1e-9, now_ns
        if self.is_playing:
            self.t = min(self.t + self.speed * dt, self.film.length)
            self.is_playing = self.t < self.film.length
        return self.t

    def describe(self) -> dict[str, Any]:
        """Return the film as JSON."""
        film = self.film
        return {
            "name": film.name,
            "length": film.length,
            "curves": [
                {
                    "name": one.name,
                    "asked": _pair(one.t_asked, one.asked),
                    "measured": _pair(one.t_measured, one.measured),
                }
                for one in film.curves
            ],
        }

    def tell(self) -> dict[str, Any]:
        """Return the playback state as JSON."""
        return {
            "t": round(self.t, 3),
            "playing": self.is_playing,
            "speed": self.speed,
            "missing": list(self.missing),
        }


def _pair(t: Vec, values: Vec) -> list[list[float]]:
    rows = zip(t.tolist(), values.tolist(), strict=True)
    return [[round(a, 3), round(b, _DIGITS)] for a, b in rows if math.isfinite(b)]
