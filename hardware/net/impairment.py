"""Seeded impairment of datagrams."""

from __future__ import annotations

import heapq
import random
from collections import Counter

from paprle.hardware.net.trace import Trace

_QUEUE = 0.2  # [s] chosen: a common buffer before the narrowest part
_HEADERS = 28  # [bytes] spec: RFC 791 and 768, what UDP adds


class Impairment:
    """One direction.

    Attributes:
        counts: Datagrams ``sent``, ``lost``, and ``dropped`` by its queue.
    """

    def __init__(self, trace: Trace, seed: int, headers: int = _HEADERS) -> None:
        """Begin a trace with the first datagram.

        Args:
            trace: Over time.
            seed: Differs between directions.
            headers: Of a carrier, [bytes].
        """
        self.counts: Counter[str] = Counter()
        self.is_dead = False
        self._headers = headers
        self._trace, self._random = trace, random.Random(seed)
        self._begin: float | None = None
        self._is_losing = False
        self._free = self._last = 0.0
        self._waiting: list[tuple[float, int, bytes]] = []

    def send(self, data: bytes, now: float) -> None:
        """Send a datagram at a time, [s]."""
        self.counts["sent"] += 1
        self._begin = now if self._begin is None else self._begin
        row = self._trace.at(now - self._begin)
        is_lost = self._is_lost(row.loss, row.burst)
        if is_lost or self.is_dead:
            self.counts["lost"] += 1
            return
        begin = max(now, self._free)
        if begin - now > _QUEUE:
            self.counts["dropped"] += 1
            return
        self._free = begin
        if row.rate:
            self._free += 8.0 * (len(data) + self._headers) / row.rate
        wait = 2.0 * self._random.random() * row.jitter
        due = self._free + row.delay + wait
        if self._random.random() >= row.reorder:  # it keeps its place
            due = self._last = max(due, self._last)
        heapq.heappush(self._waiting, (due, self.counts["sent"], data))

    def deliver(self, now: float) -> list[bytes]:
        """Return the arrivals until a time, [s], in order."""
        arrived = []
        while self._waiting and self._waiting[0][0] <= now:
            arrived.append(heapq.heappop(self._waiting)[2])
        return arrived

    def take_over(self, before: Impairment) -> None:
        """Adopt another's datagrams under way."""
        self._waiting, self._last, self._free = before._waiting, 0.0, before._free
        self.counts = before.counts

    @property
    def due(self) -> float | None:
        """Next arrival, [s], or None."""
        return self._waiting[0][0] if self._waiting else None

    def _is_lost(self, loss: float, burst: float) -> bool:
        """Step the two-state chain (Gilbert)."""
        if loss >= 1.0:
            return True
        draw = self._random.random()
        ends, begins = 1.0 / burst, loss / (burst * (1.0 - loss))
        self._is_losing = draw >= ends if self._is_losing else draw < begins
        return self._is_losing
