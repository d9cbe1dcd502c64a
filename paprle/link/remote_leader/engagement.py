"""Freshness of the robot's state, without which nothing is led.

Fresh state is new and at most a second old, counting the whole round trip.
"""

from __future__ import annotations

import math

from paprle.link.remote_leader.capture_guard import OLDEST_NS

RELEASE_AFTER = 0.2
"""Time without fresh state after which the operator's host releases, [s], chosen: ten
views in a row that were lost, and as long as a person needs to see that it stands."""


class StateWatch:
    """Watch of fresh state; ``fresh_ns`` is its last arrival, 0: never."""

    def __init__(self) -> None:
        self.fresh_ns = 0
        self._newest_ns: int | None = None

    def note(self, stamp_ns: int, age_ns: int | None, now_ns: int) -> None:
        """Take a view's stamp and greatest age, [ns]."""
        is_newer = self._newest_ns is None or stamp_ns > self._newest_ns
        if is_newer and age_ns is not None and age_ns <= OLDEST_NS:
            self._newest_ns, self.fresh_ns = stamp_ns, now_ns

    def forget(self) -> None:
        """Forget the stamps for another session."""
        self._newest_ns = None

    def find_silence(self, now_ns: int) -> float:
        """Return the time without fresh state, [s]."""
        return (now_ns - self.fresh_ns) * 1e-9 if self.fresh_ns else math.inf

    def is_released(self, now_ns: int) -> bool:
        """Return whether nothing may be led."""
        return self.find_silence(now_ns) > RELEASE_AFTER
