"""Actions that follow each other at an even rate."""

from __future__ import annotations

from dataclasses import dataclass

from paprle.contracts.types import Vec

_ROUNDING = 1e-3  # chosen: of a period; a row is due though the clock says 0.9999


@dataclass(frozen=True, slots=True)
class Chunk:
    """What a policy answered to what it saw at one instant.

    Attributes:
        stamp_ns: That instant, for which the first row is meant, [ns].
        rows: Actions, shape (k, n).
        fps: Rows a second.
    """

    stamp_ns: int
    rows: Vec
    fps: float

    def count(self, now_ns: int) -> int:
        """Return how many rows are over."""
        return int((now_ns - self.stamp_ns) * 1e-9 * self.fps + _ROUNDING)

    def find(self, now_ns: int, patience: float) -> Vec | None:
        """Return the row in force; None where the last one was for too long.

        Args:
            now_ns: Monotonic time, [ns].
            patience: How long the last row may stand in for the next chunk, [s].
        """
        k = self.count(now_ns)
        late = (now_ns - self.stamp_ns) * 1e-9 - len(self.rows) / self.fps
        if late > patience:
            return None
        row: Vec = self.rows[min(k, len(self.rows) - 1)]
        return row
