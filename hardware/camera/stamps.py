"""From a device's clock to ours, where all that is known is when things arrived."""

from __future__ import annotations

from collections import deque

_WINDOW_NS = 10_000_000_000  # [ns] chosen: clocks drift by at most 1 ms in it
_JUMP_NS = 1_000_000_000  # [ns] chosen: no image is as late; it is another clock


class StampMap:
    """Maps stamps by the quickest of the images that came lately.

    What took the least time from the device to here took about as long as anything can:
    its arrival minus its stamp is how far apart the clocks are, and that time. So a
    mapped stamp is late by the quickest way's time, and no more.
    """

    def __init__(self) -> None:
        self._offsets: deque[tuple[int, int]] = deque()  # rising, the least first

    def map(self, device_ns: int, arrived_ns: int) -> int:
        """Return when an image was taken, by our clock.

        Args:
            device_ns: The same by the device's, [ns].
            arrived_ns: When it arrived, by ours, [ns].

        Returns:
            At most ``arrived_ns``, [ns].
        """
        offset, offsets = arrived_ns - device_ns, self._offsets
        if offsets and abs(offset - offsets[0][1]) > _JUMP_NS:
            offsets.clear()
        while offsets and offsets[-1][1] >= offset:
            offsets.pop()
        offsets.append((arrived_ns, offset))
        while arrived_ns - offsets[0][0] > _WINDOW_NS:
            offsets.popleft()
        return device_ns + offsets[0][1]
