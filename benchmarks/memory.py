"""Memory of a process."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def measure_memory() -> float:
    """Return this process's own bytes, in memory or swap.

    Resident memory alone would fall with paging; its maximum is the fallback.
    """
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except FileNotFoundError:
        unit = 1.0 if sys.platform == "darwin" else 1e3  # bytes there, else kB
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    held = {"RssAnon:", "VmSwap:"}
    rows = [line.split() for line in lines]
    return 1024.0 * sum(int(row[1]) for row in rows if row and row[0] in held)
