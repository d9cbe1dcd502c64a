"""Standstills of the machine itself.

``python -m benchmarks.processes.machine CPU`` sleeps and wakes at top priority on one
processor, and prints its gaps as JSON when its input ends.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path

GAP = 0.01  # [s] chosen: half of the shortest stall that a gate holds for
TICKS = os.sysconf("SC_CLK_TCK")  # [Hz]
_PERIOD = 0.002  # [s] chosen
_PRIORITY = 80  # chosen: above the product's 50


class Machine:
    """Watch of every processor within a ``with`` block.

    Attributes:
        gaps: Begin and end, monotonic, [s]; empty without real-time priority.
    """

    def __enter__(self) -> Machine:
        self.gaps: list[tuple[float, float]] = []
        self._watches = [
            subprocess.Popen(
                [sys.executable, "-m", "benchmarks.processes.machine", str(cpu)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=Path(__file__).parents[2],
            )
            for cpu in os.sched_getaffinity(0)
        ]
        return self

    def __exit__(self, *_exc: object) -> None:
        for process in self._watches:
            out, _ = process.communicate()
            self.gaps += [(begin, end) for begin, end in json.loads(out)]


def read_idle() -> float:
    """Return the processors' idle time, [s]."""
    fields = Path("/proc/stat").read_text().splitlines()[0].split()
    return (int(fields[4]) + int(fields[5])) / TICKS


def watch(cpu: int) -> list[tuple[float, float]]:
    """Return the gaps of this process."""
    gaps: list[tuple[float, float]] = []
    try:
        os.sched_setaffinity(0, {cpu})
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    except OSError:
        sys.stdin.read()
        return gaps
    before = time.monotonic()
    while not select.select([sys.stdin], [], [], _PERIOD)[0]:
        now = time.monotonic()
        if now - before > GAP:
            gaps.append((before, now))
        before = now
    return gaps


if __name__ == "__main__":
    print(json.dumps(watch(int(sys.argv[1]))))
