"""Detection of stalls of the gate's own process (K2)."""

from __future__ import annotations

from paprle.gate.reasons import Reason

_STATE_LOST = 1 << Reason.STATE_LOST
_WAKING_NS = 50_000_000  # [ns] chosen: threads that receive stood still as well
_SHORTEST_STALL = 0.02  # [s] spec: safety.md amendments, K2


class Stalls:
    """Measures times between periods; a suspension latches a stop."""

    def __init__(self, h: float, latch_after: float) -> None:
        """Make it for a period and the stall that latches, [s]."""
        self._shortest_ns = int(max(3.0 * h, _SHORTEST_STALL) * 1e9)
        self._lost_ns = int(latch_after * 1e9)
        self._last: tuple[int, int] | None = None
        self._awake_ns, self._is_heard = -_WAKING_NS, False

    def look(self, now_ns: int, boot_ns: int) -> int:
        """Begin a period at monotonic and boot time, [ns].

        Returns:
            Bits: ``STALLED`` after a stall, ``COMMAND_LOST`` after one that latches.
        """
        now, last = (now_ns, boot_ns), self._last or (now_ns, boot_ns)
        self._last = now
        gap_ns = boot_ns - last[1]
        if gap_ns <= self._shortest_ns:
            return 0
        # once between two good states, or one that is lost would never be
        self._awake_ns = now_ns if self._is_heard else self._awake_ns
        self._is_heard = False
        is_suspended = gap_ns - (now_ns - last[0]) > self._shortest_ns
        is_lost = is_suspended or gap_ns > self._lost_ns
        return 1 << Reason.STALLED | is_lost << Reason.COMMAND_LOST

    def has_passed(self, boot_ns: int) -> bool:
        """Return whether this period has stalled, at a boot time, [ns]."""
        return self._last is not None and boot_ns - self._last[1] > self._shortest_ns

    def excuse(self, found: int, now_ns: int, *, is_heard: bool) -> int:
        """Return the reason bits; after a stall a lost state is only stale.

        ``is_heard``: the last state read is good.
        """
        self._is_heard |= is_heard
        if not found & _STATE_LOST or now_ns - self._awake_ns >= _WAKING_NS:
            return found
        return found & ~_STATE_LOST | 1 << Reason.STATE_STALE
