"""Controller's times on our clock."""

from __future__ import annotations

_DRIFT = 2e-4  # chosen: two crystals differ by less
_JUMP_NS = 1_000_000_000  # [ns] chosen: a controller that was started again


class DeviceClock:
    """Map by the fastest packet.

    Late and repeated packets keep their age.
    """

    def __init__(self) -> None:
        self._offset_ns: int | None = None
        self._at_ns = self._newest_ns = 0
        self._last_s = 0.0

    def to_ours(self, stamp: float, now_ns: int) -> int:
        """Return a reading's time, [ns].

        It is never later than now nor before an earlier one.

        Args:
            stamp: Controller's, [s].
            now_ns: After receipt, [ns].
        """
        offset = now_ns - round(stamp * 1e9)
        if self._offset_ns is None or (self._last_s - stamp) * 1e9 > _JUMP_NS:
            self._offset_ns, self._at_ns = offset, now_ns
        slack = round((now_ns - self._at_ns) * _DRIFT)
        self._offset_ns = min(offset, self._offset_ns + slack)
        self._at_ns, self._last_s = now_ns, stamp
        self._newest_ns = max(self._newest_ns, round(stamp * 1e9) + self._offset_ns)
        return self._newest_ns
