"""Rule for waiting goals."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]

BEHIND_NS = 100_000_000
"""Goals that waited longer are not caught up with, [ns]; spec: safety.md A1."""

_BOOT_TIME = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # Linux alone has it


def read_boottime() -> int:
    """Return a time that goes on while the computer sleeps, [ns]."""
    return time.clock_gettime_ns(_BOOT_TIME)


def count_stale(
    goals: Sequence[Vec], stamps: Sequence[int], sent: Vec | None, gap_ns: int
) -> int:
    """Return the number of stale oldest goals.

    After a noticed pause the gate begins anew at the device's place: older goals are
    stale. Otherwise all are sent, since the newest alone would be a jump.

    Args:
        goals: Oldest first, shape (n,) each, [rad] or [m].
        stamps: [ns].
        sent: Held goal; None: unknown.
        gap_ns: Longest gap of a running gate, [ns].
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
