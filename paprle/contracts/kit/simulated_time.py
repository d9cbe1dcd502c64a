"""The time of a simulated robot goes on while its gate stands still.

A simulation that is stepped by commands would stand still with the gate, in motion, and
go on from there. A robot comes to rest meanwhile, and so does one that is simulated.
"""

from __future__ import annotations

from collections.abc import Callable

_SHORTEST_NS = 20_000_000  # [ns] spec: safety.md amendments, K2: less is no stall
_MOST = 0.5  # [s] chosen: every servo has come to rest; more would stall the gate


class SimulatedTime:
    """Counts the periods that nobody has simulated."""

    def __init__(self, rate: float, clock: Callable[[], int]) -> None:
        """Make it.

        Args:
            rate: Periods a second, [Hz].
            clock: Gives monotonic time, [ns].
        """
        self._period_ns = round(1e9 / rate)
        self._shortest_ns = max(_SHORTEST_NS, 3 * self._period_ns)
        self._most = round(_MOST * rate)
        self._clock, self._passed_ns = clock, clock()

    def begin(self) -> None:
        """Begin to count now."""
        self._passed_ns = self._clock()

    def pass_period(self) -> None:
        """Note, before it does, that a command has its period simulated.

        A process that stands still within a period owes that time as well.
        """
        now_ns = self._clock()
        if now_ns - self._passed_ns <= self._shortest_ns:
            self._passed_ns = now_ns

    def take_owed(self) -> int:
        """Return how many periods are to be simulated with the last command."""
        gap_ns = self._clock() - self._passed_ns
        if gap_ns <= self._shortest_ns:
            return 0
        self.begin()
        return min(gap_ns // self._period_ns, self._most)
