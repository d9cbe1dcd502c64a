"""Time since this machine booted, the time that it was suspended included.

``CLOCK_MONOTONIC`` stands still while a computer is suspended, so a process that is
resumed sees no gap in it. The robot has its own power and its own time.
"""

from __future__ import annotations

import time

_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)  # Linux alone has it


def read_boottime() -> int:
    """Return the time since the boot, [ns]; where it is not known, monotonic time."""
    return time.clock_gettime_ns(_CLOCK)
