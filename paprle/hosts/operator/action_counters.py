"""Counters of the operator's actions over all sources."""

from __future__ import annotations

from collections.abc import Sequence

from paprle.contracts.types import Actions
from paprle.ipc.records import Record

_WRAP = 1 << 32  # counters of samples have 32 bits
_NOTHING = Actions()


class Presses:
    """Counters since each source's first record."""

    def __init__(self, n_sources: int) -> None:
        self._first: list[tuple[int, ...] | None] = [None] * n_sources
        self._bytes = [b""] * n_sources
        self._pressed = [_NOTHING] * n_sources

    def add(self, actions: Actions, samples: Sequence[Record | None]) -> Actions:
        """Return actions plus the samples'; counters never fall."""
        for i, record in enumerate(samples):
            if record is not None:
                self._take(i, record)
        if all(pressed is _NOTHING for pressed in self._pressed):
            return actions
        counters = zip(actions, *self._pressed, strict=True)
        return Actions(*(sum(counts) for counts in counters))

    def _take(self, i: int, record: Record) -> None:
        data = record["actions"].tobytes()
        if data == self._bytes[i]:
            return
        self._bytes[i] = data
        counts = tuple(record["actions"].tolist())
        first = self._first[i]
        if first is None:  # what was pressed before we listened is nobody's wish
            self._first[i] = counts
            return
        since = [(now - then) % _WRAP for now, then in zip(counts, first, strict=True)]
        self._pressed[i] = Actions(*since)
