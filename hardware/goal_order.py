"""The rule for goals that a gate gave before the thread of a device could send them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

BEHIND_NS = 100_000_000
"""Goals that waited longer are not caught up with, [ns]; spec: safety.md A1."""


def count_stale(stamps: Sequence[int], now: int, gap_ns: int) -> int:
    """Return how many of the oldest goals are not to be sent any more.

    Goals of before a gap are stale: the gate stood still and begins anew at rest. Where
    the thread of the device alone stood still, all are sent in order, since the newest
    alone would be a jump.

    Args:
        stamps: When each was given, oldest first, [ns].
        now: [ns].
        gap_ns: Longest time between two goals of a gate that runs, [ns].
    """
    if not stamps or now - stamps[-1] > gap_ns:
        return len(stamps)
    n = 0
    for k, (before, after) in enumerate(pairwise(stamps), start=1):
        n = k if after - before > gap_ns else n
    return n
