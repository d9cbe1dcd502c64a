"""How long ``run.py`` takes until the robot follows its leader, and how much memory.

By phase: until the gate's process is there, and until the session follows. A busy
machine stretches the wall time, so the CPU time that each process has taken until then
is told, too; and what all of them keep in memory (PSS: what two share counts once),
half a second later. One run before those that count fills the caches of kernels and of
the disk: ``python -m benchmarks.processes.start [leader=… follower=… env=…]``.
"""

from __future__ import annotations

import argparse
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.processes.machine import TICKS
from paprle.ipc.process import WORKSPACE

TRIPLE = ("leader=autopilot", "follower=piper", "env=mujoco")
SETTLED = 0.5  # [s] chosen: what is loaded only by moving is loaded


def find_children(parent: int) -> list[int]:
    """Return a process's children."""
    tasks = Path(f"/proc/{parent}/task").glob("*/children")
    return [int(pid) for task in tasks for pid in task.read_text().split()]


def find_cpu(pid: int) -> float:
    """Return a process's CPU time, [s]."""
    stat = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(stat[11]) + int(stat[12])) / TICKS


def name_of(pid: int) -> str:
    words = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    return next((w.rsplit(".", 1)[1] for w in words if w.startswith("paprle.")), "run")


def find_pss(pid: int) -> float:
    """Return a process's PSS, [MB]."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(re.search(r"^Pss:\s+(\d+)", text, re.MULTILINE)[1]) * 1024e-6


def measure(
    words: list[str], until: str
) -> tuple[dict[str, float], dict[str, float], float]:
    """Start a session, wait for a state, end it.

    Returns:
        Phases' ends, CPU times, [s], and memory, [MB].

    Raises:
        SystemExit: If it ended before.
    """
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
        phases: dict[str, float] = {}
        while until not in phases:
            if session.poll() is not None:
                raise SystemExit(log.read_text())
            seen = log.read_text() + ("gate" if find_children(session.pid) else "")
            for name in ("gate", until):
                if name in seen:
                    phases.setdefault(name, time.monotonic() - began)
            time.sleep(0.01)
        pids = [session.pid, *find_children(session.pid)]
        cpu = {name_of(pid): find_cpu(pid) for pid in pids}
        time.sleep(SETTLED)
        pss = sum(map(find_pss, pids))
        session.send_signal(signal.SIGINT)
        session.wait()
    return phases, cpu, pss


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", default=TRIPLE, help="settings of run.py")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--until", default="ENGAGED", help="or WAITING: for a person")
    args = parser.parse_args()
    measure(list(args.words), args.until)
    runs = []
    for _ in range(args.runs):
        phases, cpu, pss = measure(list(args.words), args.until)
        runs.append((*phases.values(), sum(cpu.values()), pss))
        told = ", ".join(f"{name} {used:.2f}" for name, used in cpu.items())
        reached = ", ".join(f"{name} {at:.2f}" for name, at in phases.items())
        print(f"{reached} s; CPU {told} s; PSS {pss:.0f} MB", flush=True)
    medians = map(statistics.median, zip(*runs, strict=True))
    names = (*phases, "CPU of all", "PSS of all")
    print(
        "median: "
        + ", ".join(f"{n} {m:.2f}" for n, m in zip(names, medians, strict=True))
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
