"""Delays by senders' stamps, of any clock."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

_DRIFT = 500e-6  # spec: RFC 5905, MAXFREQ: no clock that NTP keeps drifts faster
_SIMULATED_NS = 10**18  # [ns] chosen: before 2001 it is no time of day


class SenderStamps:
    """Newest and quickest stamps of ``n`` streams.

    Attributes:
        last_ns: Newest, shape (n,), [ns].
    """

    def __init__(self, n: int) -> None:
        self.last_ns, self._least_ns = np.zeros((2, n), dtype=np.int64)

    @staticmethod
    def is_dated(stamp_ns: int) -> bool:
        """Return whether a stamp is a time of day."""
        return stamp_ns >= _SIMULATED_NS

    def find_delay(
        self, ours: Sequence[int], stamp_ns: int, now_ns: int, since_ns: Ints
    ) -> Ints:
        """Return the delay beyond the quickest message, shape (m,), [ns].

        Args:
            ours: Its m streams.
            stamp_ns: Sender's clock; simulated time gives no delay.
            now_ns: Arrival, our clock.
            since_ns: Since their last message, shape (m,).
        """
        index = list(ours)
        before_ns, self.last_ns[index] = self.last_ns[index], stamp_ns
        if not self.is_dated(stamp_ns):
            return np.zeros(len(index), dtype=np.int64)
        offset = now_ns - stamp_ns
        drift = (_DRIFT * since_ns).astype(np.int64)
        is_same_clock = (before_ns >= _SIMULATED_NS) & (stamp_ns >= before_ns)
        least = np.minimum(self._least_ns[index] + drift, offset)
        self._least_ns[index] = np.where(is_same_clock, least, offset)
        return np.asarray(offset - self._least_ns[index])
