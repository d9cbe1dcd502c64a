"""Manual clock for tests without sleeping."""

from __future__ import annotations


class ManualClock:
    """Monotonic time that a test advances."""

    def __init__(self, now_ns: int = 1_000_000_000) -> None:
        self.now_ns = now_ns

    def __call__(self) -> int:
        """Return the time, [ns]."""
        return self.now_ns

    def advance(self, dt: float) -> int:
        """Advance by ``dt`` ≥ 0, [s], and return the time."""
        if not dt >= 0:
            raise ValueError(f"ManualClock.advance: expected dt >= 0, got {dt} [s]")
        self.now_ns += round(dt * 1e9)
        return self.now_ns
