"""Angles of servos, whole turns counted."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable

import numpy as np

from paprle.contracts.types import Vec

_PERIOD = 0.02  # [s] chosen: a hand turns a joint by a few degrees in it
_TURN = 2.0 * math.pi

Listen = Callable[[Vec], None]
"""Takes the newest angles, [rad], in the tracker's thread."""


class Tracker:
    """Sampler of angles in a thread; ``listen`` takes each row."""

    def __init__(self, read: Callable[[], Vec]) -> None:
        """Begin; ``read`` returns the newest angles, shape (n,), [rad]."""
        self.listen: Listen | None = None
        self._read, self._ended = read, threading.Event()
        self._rows: list[Vec] = []
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Tracker:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    @property
    def n(self) -> int:
        """Number of rows so far."""
        return len(self._rows)

    def take(self, first: int) -> Vec:
        """Return the rows from ``first`` on, shape (t, n), [rad]."""
        return np.array(self._rows[first:])

    def watch(self, seconds: float) -> Vec:
        """Return the next seconds' rows, [rad]."""
        first = self.n
        self._ended.wait(seconds)
        return self.take(first)

    def _run(self) -> None:
        while not self._ended.wait(_PERIOD):
            angle = self._read()
            if self._rows:
                last = self._rows[-1]
                turns = np.round((angle - last) / _TURN)
                angle = angle - _TURN * np.where(np.isfinite(turns), turns, 0.0)
            if not np.isfinite(angle).all():
                continue
            self._rows.append(angle)
            if self.listen is not None:
                self.listen(angle)
