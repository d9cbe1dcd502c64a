"""The rule for goals that a gate gave before the thread of a device could send them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]

BEHIND_NS = 100_000_000
"""Goals that waited longer are not caught up with, [ns]; spec: safety.md A1."""


def count_stale(
    goals: Sequence[Vec], stamps: Sequence[int], sent: Vec | None, gap_ns: int
) -> int:
    """Return how many of the oldest goals are not to be sent any more.

    A gate that stood still begins anew where the device holds, so goals of before such
    a pause are stale. After a pause that it did not notice it goes on from its last
    goal; then all are sent in order, since the newest alone would be a jump.

    Args:
        goals: Waiting goals, oldest first, shape (n,) each, [rad] or [m].
        stamps: When each was given, [ns].
        sent: The goal that the device holds; None: unknown.
        gap_ns: Longest time between two goals of a gate that runs, [ns].
    """
    n = 0
    for k in range(1, len(goals)):
        if stamps[k] - stamps[k - 1] <= gap_ns:
            continue
        if sent is None or _measure(goals[k], sent) <= _measure(goals[k], goals[k - 1]):
            n = k
    return n


def _measure(one: Vec, other: Vec) -> float:
    return float(np.abs(one - other).max())
