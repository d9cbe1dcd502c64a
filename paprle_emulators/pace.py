"""Deadlines of an emulator's cycles."""

from __future__ import annotations


class Pace:
    """Cycles in real time; a long pause of the machine is skipped.

    Attributes:
        next_ns: Deadline of the next cycle, [ns].
    """

    def __init__(
        self, period: float, *, most_late: int = 10, shortest: float = 0.0
    ) -> None:
        """Describe cycles.

        Args:
            period: Of a cycle, [s].
            most_late: Cycles that are made up for; after more all are skipped.
            shortest: Least time between cycles, as a share of the period.
        """
        self._period_ns = round(period * 1e9)
        self._most_late_ns = most_late * self._period_ns
        self._shortest_ns = round(shortest * self._period_ns)
        self._due_ns = self.next_ns = 0

    def start(self, now_ns: int) -> None:
        """Make the first cycle due."""
        self._due_ns = self.next_ns = now_ns

    def begin(self, now_ns: int) -> int:
        """Begin the due cycle; return the number of skipped ones."""
        late_ns = now_ns - self._due_ns
        n = late_ns // self._period_ns if late_ns > self._most_late_ns else 0
        self._due_ns += (n + 1) * self._period_ns
        self.next_ns = max(self._due_ns, now_ns + self._shortest_ns)
        return n
