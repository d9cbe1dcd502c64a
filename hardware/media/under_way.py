"""Limit on unreported bytes, after TCP's window (RFC 5681).

Late reports stop a sender; the limit follows the reported rate.
"""

from __future__ import annotations

from collections import deque

import numpy as np

_MOST = 4096  # chosen: datagrams under way, of 40 Mbit/s and a second
_KEPT = 500  # chosen: words, of 5 to 25 s; what is usual outlasts a bad second
_AHEAD = 0.006  # [s] chosen: with what a rate's own queue is, 10 ms for poses
_SHORT = 0.05  # [s] chosen: over which a rate is told; a growing one is later by half
_LATELY = 1.0  # [s] chosen: jitter holds words up, and some pictures are small
_LEAST = 2500  # [bytes] chosen: two datagrams, so that one is not waited for
_GONE = 0.5  # [s] chosen: later than usual by more, it is lost


class UnderWay:
    """Datagrams of one flow.

    Attributes:
        usual: Median time until a report, [s]; 0: none.
        told: Recent maximum rate with losses, [bytes/s].
    """

    def __init__(self) -> None:
        self.usual = self.told = 0.0
        # number, when it left, and what had left by then
        self._left: deque[tuple[int, float, int]] = deque(maxlen=_MOST)
        self._delays: deque[float] = deque(maxlen=_KEPT)
        self._words: deque[tuple[float, int]] = deque()  # when, and what was told of
        self._rates: deque[tuple[float, float]] = deque()
        self._n_left = self._n_told = 0  # [bytes]

    def leave(self, seq: int, n_bytes: int, now: float) -> None:
        """Record a sent datagram at a time, [s]."""
        self._n_left += n_bytes
        self._left.append((seq, now, self._n_left))

    def arrive(self, seq: int, now: float) -> None:
        """Record the newest arrival's report, [s]."""
        left, when = self._left, None
        while left and left[0][0] <= seq:
            _, when, self._n_told = left.popleft()
        if when is not None:
            self._delays.append(now - when)
            self.usual = float(np.median(self._delays))
        self._measure(now)

    def has_room(self, rate: float, now: float) -> bool:
        """Return whether another may leave, by rate, [bytes/s], and time, [s]."""
        left = self._left
        while left and now - left[0][1] > self.usual + _GONE:
            _, _, self._n_told = left.popleft()
        room = max(_LEAST, min(rate, self.told) * (self.usual + _AHEAD))
        return not self._delays or self._n_left - self._n_told < room

    def _measure(self, now: float) -> None:
        words, rates = self._words, self._rates
        words.append((now, self._n_told))
        while len(words) > 2 and now - words[1][0] >= _SHORT:
            words.popleft()
        then, n_before = words[0]
        if now > then:
            rates.append((now, (self._n_told - n_before) / (now - then)))
        while rates and now - rates[0][0] > _LATELY:
            rates.popleft()
        self.told = max((rate for _, rate in rates), default=0.0)
