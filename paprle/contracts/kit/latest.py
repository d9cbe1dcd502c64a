"""One value between two threads: the newest wins, and nobody waits.

For a device whose own thread reads it: the thread writes, ``latest`` reads. It neither
copies nor counts: write values that nobody changes any more, frozen dataclasses or
read-only arrays.
"""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

T = TypeVar("T")


class Latest(Generic[T]):
    """A slot for one value and its stamp; any thread may read or write it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: tuple[T, int] | None = None

    def write(self, value: T, stamp_ns: int) -> None:
        """Put a value in place of the one before.

        Args:
            value: The value; it must not change any more.
            stamp_ns: When it was captured, monotonic, [ns]. One that is older than what
                is held came late and is dropped.
        """
        with self._lock:
            if self._held is None or stamp_ns >= self._held[1]:
                self._held = (value, stamp_ns)

    def read(self) -> tuple[T, int] | None:
        """Return the newest value and its stamp, [ns]; None before the first."""
        return self._held

    @property
    def value(self) -> T | None:
        """The newest value; None before the first."""
        held = self._held
        return None if held is None else held[0]

    @property
    def stamp_ns(self) -> int | None:
        """Capture time of the newest value, [ns]; None before the first."""
        held = self._held
        return None if held is None else held[1]

    def compute_age(self, now_ns: int) -> float:
        """Return the age of the newest value, [s]; +inf before the first."""
        held = self._held
        return float("inf") if held is None else (now_ns - held[1]) * 1e-9

    def clear(self) -> None:
        """Drop the held value, for a device that is opened again."""
        with self._lock:
            self._held = None
