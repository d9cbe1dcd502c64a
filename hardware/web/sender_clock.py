"""Sender's clock by the quickest answer (Cristian 1989).

Half the round trip bounds the error; answers expire as clocks drift.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

_KEPT = 30  # chosen: half a minute of one question a second; 200 ppm drift 6 ms in it
_DRIFT_NS = 10_000_000  # chosen: more than 200 ppm in half a minute
_MOST_PENDING = 8  # chosen: a phone that answers none costs no memory


class Offset(NamedTuple):
    """Another clock's offset.

    Attributes:
        offset_ns: Ours less the other's, [ns].
        bound_ns: Largest error, [ns].
    """

    offset_ns: int
    bound_ns: int


class SenderClock:
    """Estimator of a sender's clock."""

    def __init__(self) -> None:
        self._asked: dict[int, int] = {}
        self._answers: deque[Offset] = deque(maxlen=_KEPT)
        self._n = 0

    @property
    def offset(self) -> Offset | None:
        """Best estimate, or None."""
        return min(self._answers, key=lambda one: one.bound_ns, default=None)

    def ask(self, now_ns: int) -> int:
        """Return the number of a new question."""
        self._n += 1
        self._asked[self._n] = now_ns
        while len(self._asked) > _MOST_PENDING:
            self._asked.pop(next(iter(self._asked)))
        return self._n

    def answer(self, number: int, sender_ns: int, now_ns: int) -> None:
        """Take an answer; ignore unknown ones."""
        asked_ns = self._asked.pop(number, None)
        if asked_ns is None:
            return
        half = (now_ns - asked_ns) // 2
        newest = Offset(asked_ns + half - sender_ns, half)
        best = self.offset
        if best is not None:
            apart = abs(newest.offset_ns - best.offset_ns)
            if apart > newest.bound_ns + best.bound_ns + _DRIFT_NS:
                self._answers.clear()
        self._answers.append(newest)

    def find_capture(self, sender_ns: int, now_ns: int) -> int | None:
        """Return a sender's time, [ns], on our clock, not in the future."""
        best = self.offset
        return None if best is None else min(sender_ns + best.offset_ns, now_ns)
