"""Map from a device's clock to ours."""

from __future__ import annotations

from collections import deque

_WINDOW_NS = 10_000_000_000  # [ns] chosen: clocks drift by at most 1 ms in it
_JUMP_NS = 1_000_000_000  # [ns] chosen: no image is as late; it is another clock


class StampMap:
    """Map by the least delayed recent image."""

    def __init__(self) -> None:
        self._offsets: deque[tuple[int, int]] = deque()  # rising, the least first

    def map(self, device_ns: int, arrived_ns: int) -> int:
        """Return an image's time on our clock, [ns], at most ``arrived_ns``."""
        offset, offsets = arrived_ns - device_ns, self._offsets
        if offsets and abs(offset - offsets[0][1]) > _JUMP_NS:
            offsets.clear()
        while offsets and offsets[-1][1] >= offset:
            offsets.pop()
        offsets.append((arrived_ns, offset))
        while arrived_ns - offsets[0][0] > _WINDOW_NS:
            offsets.popleft()
        return device_ns + offsets[0][1]
