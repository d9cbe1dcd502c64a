"""Capacity of a link by its queue.

After LEDBAT (RFC 6817) and CoDel (RFC 8289).
"""

from __future__ import annotations

import math
from typing import NamedTuple

_QUEUE = 0.004  # [s] chosen: less than half of what pictures may delay poses
_SHORT = 0.002  # [s] chosen: below it the link has room
_LOSS = 0.2  # chosen: a radio loses 10 % whatever is sent; a full queue is seen first
_DOWN = 0.85  # spec: of GCC, draft-ietf-rmcat-gcc-02, 5.5
_UP = 1.6  # [1/s] chosen: a fifth of a queue's 5 ms more while word of it comes back
_START = 8.0  # [1/s] chosen: before anything was too much: doubled in a third of it
_NEAR, _SLOWLY = 0.8, 1.03  # [1], [1/s] chosen: nearer to what was too much, slower
_BEYOND = 1.05  # chosen: the link is another one than it was
_USED = 0.95  # chosen: what does not arrive is not tried for, beyond a rate that grows
_OVERSHOT = 0.003  # [s] chosen: queue that stands until word of it comes back
_PAUSE = 0.3  # [s] chosen: in which a queue empties before it is judged again
_SILENCE = 0.5  # [s] chosen: without a word a link is taken for a worse one
ENOUGH = 16
"""Datagrams to judge a queue by, chosen: jitter leaves one alone, a queue none."""
LEAST = 8_000.0  # [bytes/s] chosen: a part in a while, to see whether it is better


class Word(NamedTuple):
    """Report on arrivals.

    Attributes:
        received: Recent, [bytes/s].
        most: Maximum, with losses, [bytes/s].
        queue: Wait beyond the quickest ever, [s].
        loss: 0 … 1.
        delay: Until a report, [s].
    """

    received: float
    most: float
    queue: float
    loss: float
    delay: float = 0.0


class RateEstimator:
    """Estimator of the permitted rate.

    Attributes:
        rate: With heads, [bytes/s].
        least: Lower bound, [bytes/s].
    """

    def __init__(self, rate: float, most: float) -> None:
        """Begin with a rate and its maximum, [bytes/s]."""
        self.rate = min(rate, most)
        self._most, self.least = most, LEAST
        self._until = self._heard = -1.0
        self._too_much = math.inf

    def update(self, now: float, word: Word) -> None:
        """Take a report at a time, [s].

        Growth as exp(g t) fills g t²/2 of a queue until its report, so late reports
        slow it.
        """
        dt = min(max(0.0, now - self._heard), _SILENCE) if self._heard >= 0.0 else 0.0
        self._heard = now
        if word.queue > _QUEUE or word.loss > _LOSS:
            if now >= self._until:
                self._too_much = min(word.received, self.rate)
                self._set(_DOWN * self._too_much)
                self._until = now + _PAUSE
            return
        has_room = word.queue < _SHORT and word.most > _USED * self.rate
        if has_room and now >= self._until:
            share = self.rate / self._too_much
            up = _SLOWLY if _NEAR < share < _BEYOND else _UP
            up = _START if math.isinf(self._too_much) else up
            growth = min(math.log(up), 2.0 * _OVERSHOT / max(word.delay, 1e-3) ** 2)
            self._set(math.exp(growth * dt) * self.rate)

    def look(self, now: float) -> None:
        """Reduce the rate without reports."""
        if self._heard >= 0.0 and now - self._heard > _SILENCE:
            self._heard = now
            self._set(0.5 * self.rate)

    def _set(self, rate: float) -> None:
        self.rate = min(max(rate, self.least), self._most)
