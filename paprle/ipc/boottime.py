"""Time since boot, suspension included, unlike ``CLOCK_MONOTONIC``."""

from __future__ import annotations

import time

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # Linux alone has it


def read_boottime() -> int:
    """Return the time since boot, [ns]; monotonic time if unknown."""
    return time.clock_gettime_ns(_CLOCK)
