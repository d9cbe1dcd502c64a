"""Times of a controller's readings on our clock."""

from __future__ import annotations

_DRIFT = 2e-4  # chosen: two crystals differ by less
_JUMP_NS = 1_000_000_000  # [ns] chosen: a controller that was started again


class DeviceClock:
    """Maps a controller's time to ours by the fastest packet so far.

    A packet that is late, or one that comes again, is as old as it is.
    """

    def __init__(self) -> None:
        self._offset_ns: int | None = None
        self._at_ns = self._newest_ns = 0
        self._last_s = 0.0

    def to_ours(self, stamp: float, now_ns: int) -> int:
        """Return when a reading was made.

        Args:
            stamp: The controller's time of it, [s].
            now_ns: Our time, taken after the reading came, [ns].

        Returns:
            Our time of it, never later than now nor before an earlier one, [ns].
        """
        offset = now_ns - round(stamp * 1e9)
        if self._offset_ns is None or (self._last_s - stamp) * 1e9 > _JUMP_NS:
            self._offset_ns, self._at_ns = offset, now_ns
        slack = round((now_ns - self._at_ns) * _DRIFT)
        self._offset_ns = min(offset, self._offset_ns + slack)
        self._at_ns, self._last_s = now_ns, stamp
        self._newest_ns = max(self._newest_ns, round(stamp * 1e9) + self._offset_ns)
        return self._newest_ns
