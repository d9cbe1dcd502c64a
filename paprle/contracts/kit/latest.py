"""Slot of immutable values between threads."""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

T = TypeVar("T")


class Latest(Generic[T]):
    """Slot for a value and its stamp, for any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: tuple[T, int] | None = None

    def write(self, value: T, stamp_ns: int) -> None:
        """Replace the value, unless it is newer than ``stamp_ns``."""
        with self._lock:
            if self._held is None or stamp_ns >= self._held[1]:
                self._held = (value, stamp_ns)

    def read(self) -> tuple[T, int] | None:
        """Return the newest value and its stamp, [ns], if any."""
        return self._held

    @property
    def value(self) -> T | None:
        """The newest value, if any."""
        held = self._held
        return None if held is None else held[0]

    @property
    def stamp_ns(self) -> int | None:
        """Capture time of the newest value, [ns], if any."""
        held = self._held
        return None if held is None else held[1]

    def compute_age(self, now_ns: int) -> float:
        """Return the newest value's age, [s]; +inf before the first."""
        held = self._held
        return float("inf") if held is None else (now_ns - held[1]) * 1e-9

    def clear(self) -> None:
        """Drop the value, before a reopening."""
        with self._lock:
            self._held = None
