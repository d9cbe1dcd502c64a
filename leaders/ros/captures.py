"""Capture times on our clock, with the sender's spacing.

Arrivals carry jitter of network and polling.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paprle.hardware.ros.sender_stamps import SenderStamps


class Captures:
    """Newest arrival and capture of ``n`` streams.

    An advancing header gives the spacing, else the sending time, else arrival.
    """

    def __init__(self, n: int, longest: float) -> None:
        """Limit captures to ``longest`` [s] before arrival."""
        self._longest_ns = round(1e9 * longest)
        self._headers, self._sources = SenderStamps(n), SenderStamps(n)
        self._arrived_ns, self._captured_ns = np.zeros((2, n), dtype=np.int64)
        self._header_ns = np.zeros(n, dtype=np.int64)

    @property
    def arrived_ns(self) -> int:
        """Oldest of the newest arrivals, [ns]."""
        return int(self._arrived_ns.min())

    @property
    def captured_ns(self) -> int:
        """Oldest of the newest captures, [ns]."""
        return int(self._captured_ns.min())

    def note(
        self, ours: Sequence[int], header_ns: int, source_ns: int, now_ns: int
    ) -> None:
        """Note a message of the streams ``ours``.

        Args:
            ours: Indices.
            header_ns: Stamp, by the sender's clock, [ns]; 0: none.
            source_ns: Sending time, by its middleware's clock, [ns]; 0: unknown.
            now_ns: Arrival, by our clock, [ns].
        """
        index = list(ours)
        since_ns = now_ns - self._arrived_ns[index]
        is_frozen = bool((self._header_ns[index] == header_ns).any())
        self._header_ns[index] = header_ns
        header_ns = 0 if is_frozen else header_ns
        by_header = self._headers.find_delay(index, header_ns, now_ns, since_ns)
        by_source = self._sources.find_delay(index, source_ns, now_ns, since_ns)
        is_dated = self._headers.is_dated(header_ns)
        late_ns = np.minimum(by_header if is_dated else by_source, self._longest_ns)
        self._arrived_ns[index], self._captured_ns[index] = now_ns, now_ns - late_ns
