"""Rows of a stream of unknown length, thinned evenly as they come."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paprle.recording.messages.channels import Rows


class ThinnedRows:
    """Keeps every 2^k-th row, at least half of ``most`` once there are so many."""

    def __init__(self, most: int, pick: Callable[[Rows], Rows]) -> None:
        """Make it; ``pick`` returns the kept part of rows, of the same length."""
        self._most, self._pick = most, pick
        self._stride, self._n_seen, self._n_kept = 1, 0, 0
        self._parts: list[Rows] = []

    def add(self, rows: Rows) -> None:
        """Add consecutive rows."""
        first = -self._n_seen % self._stride
        self._n_seen += len(rows)
        kept = rows[first :: self._stride]
        if not len(kept):
            return
        self._parts.append(self._pick(kept).copy())
        self._n_kept += len(kept)
        while self._n_kept > self._most:
            self._parts = [self.join()[::2].copy()]
            self._n_kept = len(self._parts[0])
            self._stride *= 2

    def join(self) -> Rows:
        """Return the kept rows.

        Raises:
            LookupError: If there are none.
        """
        if len(self._parts) > 1:
            self._parts = [np.concatenate(self._parts)]
        return self._parts[0]

    def __len__(self) -> int:
        return self._n_kept
