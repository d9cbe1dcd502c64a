"""A clock that only moves when it is told to, so that no test sleeps."""

from __future__ import annotations


class ManualClock:
    """Monotonic time in [ns] that a test advances by hand.

    Attributes:
        now_ns: The time that a call returns, [ns].
    """

    def __init__(self, now_ns: int = 1_000_000_000) -> None:
        self.now_ns = now_ns

    def __call__(self) -> int:
        """Return the present time, [ns]."""
        return self.now_ns

    def advance(self, dt: float) -> int:
        """Move on by ``dt`` [s], which may not be negative, and return the time."""
        if not dt >= 0:
            raise ValueError(f"ManualClock.advance: expected dt >= 0, got {dt} [s]")
        self.now_ns += round(dt * 1e9)
        return self.now_ns
