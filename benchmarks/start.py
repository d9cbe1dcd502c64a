"""How long ``run.py`` takes from the command line until the robot follows its leader.

The wall time and, since a busy machine stretches it, the CPU time that each process of
the session has taken until then: ``python -m benchmarks.start [leader=… follower=…
env=…]``. Kernels are in the cache from the first run on: the first of its runs counts
only if they were.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from paprle.ipc.process import WORKSPACE

TRIPLE = ("leader=autopilot", "follower=piper", "env=kinematic")
_TICKS = os.sysconf("SC_CLK_TCK")  # [Hz]


def find_children(parent: int) -> list[int]:
    """Process ids of the children of a process."""
    tasks = Path(f"/proc/{parent}/task").glob("*/children")
    return [int(pid) for task in tasks for pid in task.read_text().split()]


def find_cpu(pid: int) -> float:
    """CPU time of a process so far, [s]."""
    stat = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(stat[11]) + int(stat[12])) / _TICKS


def name_of(pid: int) -> str:
    words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    return next((w.rsplit(".", 1)[1] for w in words if w.startswith("paprle.")), "run")


def measure(words: list[str]) -> tuple[float, dict[str, float]]:
    """Start a session, wait until it follows, end it; return wall and CPU times."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.txt"
        command = [sys.executable, str(WORKSPACE / "run.py"), *words]
        with log.open("w") as file:
            began = time.monotonic()
            session = subprocess.Popen(
                [*command, f"record.dir={folder}/out"],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
            )
        while "ENGAGED" not in log.read_text():
            if session.poll() is not None:
                raise SystemExit(log.read_text())
            time.sleep(0.01)
        wall = time.monotonic() - began
        pids = [session.pid, *find_children(session.pid)]
        cpu = {name_of(pid): find_cpu(pid) for pid in pids}
        session.send_signal(signal.SIGINT)
        session.wait()
    return wall, cpu


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", default=TRIPLE, help="settings of run.py")
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    walls = []
    for _ in range(args.runs):
        wall, cpu = measure(list(args.words))
        walls.append(wall)
        told = ", ".join(f"{name} {used:.2f}" for name, used in cpu.items())
        print(f"{wall:.2f} s; CPU {sum(cpu.values()):.2f} s: {told}")
    print(f"median {statistics.median(walls):.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
