"""Waypoints of a motion, in order of capture."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from paprle.contracts.kit.sampling import Policy
from paprle.contracts.types import Vec

_N_WAITING = 64  # chosen: two seconds of 30 Hz; more is a flood
_N_KNOWN = 8  # chosen: enough to find one a period before the newest
_SHARE = 0.7  # chosen: of that time; captures come unevenly
_stamp = itemgetter(0)


def _has(entries: Sequence[tuple[Any, ...]], stamp_ns: int) -> bool:
    at = bisect_left(entries, stamp_ns, key=_stamp)
    return at < len(entries) and entries[at][0] == stamp_ns


class Waypoint(NamedTuple):
    """Sample with its capture stamp.

    Attributes:
        velocity: Mean since an earlier capture, shape (n,), [1/s].
    """

    stamp_ns: int
    row: Vec
    velocity: Vec


class Waypoints:
    """Bounded queue of samples, by a policy.

    Attributes:
        refused: Refused samples by reason: ``doubled``, ``late``, ``full``.
    """

    def __init__(self, policy: Policy) -> None:
        self.waiting: list[Waypoint] = []
        self.refused: Counter[str] = Counter()
        self._policy = policy
        self._known: list[tuple[int, Vec]] = []
        self._reached_ns: int | None = None

    def clear(self) -> None:
        """Drop all waypoints; counts stay."""
        self.waiting.clear()
        self._known.clear()
        self._reached_ns = None

    def add(self, stamp_ns: int, row: Vec, apart_ns: int) -> Waypoint | None:
        """Return a sample's waypoint, shape (n,), or None if refused.

        It waits unless first or passed; its velocity spans about ``apart_ns``.
        """
        at = bisect_left(self._known, stamp_ns, key=_stamp)
        refusal = self._find_refusal(at, stamp_ns)
        if refusal:
            self.refused[refusal] += 1
            return None
        self._known.insert(at, (stamp_ns, row))
        waypoint = Waypoint(stamp_ns, row, self._find_velocity(at, apart_ns))
        del self._known[:-_N_KNOWN]
        if self._reached_ns is None:
            self._reached_ns = stamp_ns
        elif stamp_ns > self._reached_ns:
            insort(self.waiting, waypoint, key=_stamp)
        return waypoint

    def reach(self, stamp_ns: int) -> None:
        """Drop the waypoints up to a capture time."""
        if self._reached_ns is not None:
            self._reached_ns = max(self._reached_ns, stamp_ns)
        del self.waiting[: bisect_left(self.waiting, stamp_ns + 1, key=_stamp)]

    def _find_refusal(self, at: int, stamp_ns: int) -> str:
        if _has(self._known, stamp_ns) or _has(self.waiting, stamp_ns):
            return "doubled"
        is_behind = at < len(self._known)
        is_passed = self._reached_ns is not None and stamp_ns <= self._reached_ns
        if is_behind and (is_passed or self._policy == "latest"):
            return "late"
        return "full" if len(self.waiting) >= _N_WAITING else ""

    def _find_velocity(self, at: int, apart_ns: int) -> Vec:
        stamp_ns, row = self._known[at]
        for before_ns, before in reversed(self._known[:at]):
            if stamp_ns - before_ns >= _SHARE * apart_ns:
                return np.asarray((row - before) / ((stamp_ns - before_ns) * 1e-9))
        return np.zeros_like(row)
