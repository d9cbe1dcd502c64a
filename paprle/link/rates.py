"""Rate limits of a link."""

from __future__ import annotations

_QUEUED_NS = 15_000_000  # [ns] chosen: what a queue on the way may hold control up by
_LEAST, _MOST = 5.0, 1000.0  # [1/s] chosen: datagrams; 63 are a gate's of 500 Hz
_GROW = 100.0  # [1/s²] chosen: from the least to such a gate's in half a second
_SHRINK = 0.7  # chosen: on what was sent before a queue was seen
_PAUSE_NS = 100_000_000  # [ns] chosen: the round trip after which it shrinks again
_BURST = 4.0  # chosen: datagrams at once; 6 kB are 24 ms of 2 Mbit/s


class Allowance:
    """Limiter of a rate, [1/s], and a burst."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate = rate
        self._burst = self._left = burst
        self._at_ns = 0

    def take(self, now_ns: int) -> bool:
        """Return whether one more may pass; count it."""
        since = max(0.0, (now_ns - self._at_ns) * 1e-9) if self._at_ns else 0.0
        self._at_ns = now_ns
        self._left = min(self._burst, self._left + since * self.rate)
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True


class Leftover:
    """Rate of records that can wait, lowered once datagrams queue up."""

    def __init__(self) -> None:
        self._allowance = Allowance(_LEAST, _BURST)
        self._seen_ns = self._shrunk_ns = 0

    def see(self, waited_ns: int, now_ns: int) -> None:
        """Update with a round trip's delay over the quickest, [ns]."""
        since_ns = min(now_ns - self._seen_ns, _PAUSE_NS) if self._seen_ns else 0
        self._seen_ns = now_ns
        if waited_ns <= _QUEUED_NS:
            rate = self._allowance.rate + _GROW * since_ns * 1e-9
            self._allowance.rate = min(rate, _MOST)
        elif now_ns - self._shrunk_ns > _PAUSE_NS + waited_ns:
            self._shrunk_ns = now_ns
            self._allowance.rate = max(_SHRINK * self._allowance.rate, _LEAST)

    def take(self, now_ns: int) -> bool:
        """Return whether a record may be sent; count it."""
        return self._allowance.take(now_ns)
