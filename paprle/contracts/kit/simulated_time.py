"""Simulated time that continues while its gate stands still."""

from __future__ import annotations

from collections.abc import Callable

_SHORTEST_NS = 20_000_000  # [ns] spec: safety.md amendments, K2: less is no stall
_MOST = 0.5  # [s] chosen: every servo has come to rest; more would stall the gate


class SimulatedTime:
    """Counter of periods not yet simulated."""

    def __init__(self, rate: float, clock: Callable[[], int]) -> None:
        """Set the rate, [Hz], and a monotonic clock, [ns]."""
        self._period_ns = round(1e9 / rate)
        self._shortest_ns = max(_SHORTEST_NS, 3 * self._period_ns)
        self._most = round(_MOST * rate)
        self._clock, self._passed_ns = clock, clock()

    def begin(self) -> None:
        """Start counting."""
        self._passed_ns = self._clock()

    def pass_period(self) -> None:
        """Count a period before its command, lest a halt go uncounted."""
        now_ns = self._clock()
        if now_ns - self._passed_ns <= self._shortest_ns:
            self._passed_ns = now_ns

    def take_owed(self) -> int:
        """Return the periods to simulate with the last command."""
        gap_ns = self._clock() - self._passed_ns
        if gap_ns <= self._shortest_ns:
            return 0
        self.begin()
        return min(gap_ns // self._period_ns, self._most)
