"""Quality of a link by its used set-points' age."""

from __future__ import annotations

from collections import deque
from statistics import median

_WINDOW_NS = 3_000_000_000  # [ns] chosen: as long as a bad moment is remembered
_WEAK, _BAD = 0.5, 0.8  # chosen: shares of the age at which the gate brakes
_LOST_NS = 500_000_000  # [ns] chosen: by then the gate has braked whatever it is told


class MirrorQuality:
    """Judge of a link by the gate's statuses."""

    def __init__(self, stale_after: float) -> None:
        """Begin; the gate brakes after ``stale_after``, [s]."""
        self._stale_after = stale_after
        self._trips: deque[tuple[int, float]] = deque()
        self._n_arrived = self._arrived_ns = self._now_ns = 0

    def update(self, now_ns: int, n_arrived: int, used_ns: int) -> None:
        """Take a status and its set-point's time."""
        self._now_ns = now_ns
        if n_arrived != self._n_arrived:
            self._n_arrived, self._arrived_ns = n_arrived, now_ns
        if used_ns:
            self._trips.append((now_ns, (now_ns - used_ns) * 1e-9))
        while self._trips and now_ns - self._trips[0][0] > _WINDOW_NS:
            self._trips.popleft()

    def describe(self) -> str:
        """Return quality and remedy as text, if known."""
        silent_ns = self._now_ns - self._arrived_ns
        if self._n_arrived and silent_ns > _LOST_NS:
            return (
                f"link LOST: no state from the robot for {silent_ns * 1e-9:.1f} s; "
                "look at the network, then engage again"
            )
        if not self._trips:
            return ""
        trips = [trip for _, trip in self._trips]
        facts = f"{1e3 * median(trips):.0f} ms there and back"
        worst = max(trips) / self._stale_after
        if worst > _WEAK:
            facts += f", {1e3 * max(trips):.0f} at worst"
        if worst > _BAD:
            return f"link bad ({facts}): pause, look at the network"
        return (
            f"link weak ({facts}): move slowly"
            if worst > _WEAK
            else f"link good ({facts})"
        )
