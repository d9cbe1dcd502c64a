"""Map from a device's clock to ours by arrivals."""

from __future__ import annotations

from collections import deque

_WINDOW_NS = 10_000_000_000  # [ns] chosen: clocks drift by at most 1 ms in it
_JUMP_NS = 1_000_000_000  # [ns] chosen: no image is as late; it is another clock


class StampMap:
    """Maps stamps by the quickest recent image, whose way is the only delay left."""

    def __init__(self) -> None:
        self._offsets: deque[tuple[int, int]] = deque()  # rising, the least first

    def map(self, device_ns: int, arrived_ns: int) -> int:
        """Return the time of an image on our clock, ``arrived_ns`` at most, [ns]."""
        offset, offsets = arrived_ns - device_ns, self._offsets
        if offsets and abs(offset - offsets[0][1]) > _JUMP_NS:
            offsets.clear()
        while offsets and offsets[-1][1] >= offset:
            offsets.pop()
        offsets.append((arrived_ns, offset))
        while arrived_ns - offsets[0][0] > _WINDOW_NS:
            offsets.popleft()
        return device_ns + offsets[0][1]
