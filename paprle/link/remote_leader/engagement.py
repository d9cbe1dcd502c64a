"""Whether an operator has fresh state of the robot: without it nothing is led.

State is fresh that is newer than any before and, with the whole round trip counted, no
older than a second. Packets alone are not enough: a session that stands still may still
have a host that speaks.
"""

from __future__ import annotations

import math

from paprle.link.remote_leader.capture_guard import OLDEST_NS

RELEASE_AFTER = 0.2
"""Time without fresh state after which the operator's host releases, [s], chosen: ten
views in a row that were lost, and as long as a person needs to see that it stands."""


class StateWatch:
    """Remembers when fresh state came last.

    Attributes:
        fresh_ns: When it came, our time, [ns]; 0: never.
    """

    def __init__(self) -> None:
        self.fresh_ns = 0
        self._newest_ns: int | None = None

    def note(self, stamp_ns: int, age_ns: int | None, now_ns: int) -> None:
        """Take the stamp of a view, in the robot's time, and how old it is at most.

        Args:
            stamp_ns: When the session made it, [ns].
            age_ns: Its age; None: not known, [ns].
            now_ns: Our time, [ns].
        """
        is_newer = self._newest_ns is None or stamp_ns > self._newest_ns
        if is_newer and age_ns is not None and age_ns <= OLDEST_NS:
            self._newest_ns, self.fresh_ns = stamp_ns, now_ns

    def forget(self) -> None:
        """Another session may begin, whose stamps have nothing to do with these."""
        self._newest_ns = None

    def find_silence(self, now_ns: int) -> float:
        """Return how long no fresh state came, [s]; infinite before the first."""
        return (now_ns - self.fresh_ns) * 1e-9 if self.fresh_ns else math.inf

    def is_released(self, now_ns: int) -> bool:
        """Whether nothing may be led, as no fresh state comes."""
        return self.find_silence(now_ns) > RELEASE_AFTER
