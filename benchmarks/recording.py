"""Memory and time of recording an arm, and of reading it back.

    python -m benchmarks.recording [--minutes 10 120]

Records session and gate ticks at 200 Hz as a live session flushes them, then runs
``info``, ``recover`` and ``evaluate``, each in a process of its own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from paprle.config import resolve
from paprle.contracts.types import GateState, LeaderInfo, SessionState
from paprle.hosts.plan import make_robot
from paprle.ipc.records import Layout, Stream, make_layout
from paprle.recording.channels import Rows
from paprle.recording.header import make_recording_header
from paprle.recording.journal import Journal

_RATE = 200  # [Hz]
_BATCH = 4  # chosen: what a session hands over in record.flush, 20 ms
_LEADER = LeaderInfo(limbs=("hand",), is_human=False)
_TRIPLE = {"leader": "autopilot", "follower": "piper", "env": "kinematic"}
_RUN = """
import resource, sys
from paprle.cli.app import main
code = main(sys.argv[1:])
sys.stderr.write(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}")
sys.exit(code)
"""


def main() -> None:
    """Print a row an action for each length."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=int, nargs="+", default=[10, 120])
    args = parser.parse_args()
    print(f"{'minutes':>8} {'action':<9} {'time [s]':>9} {'memory [MB]':>12}")
    for minutes in args.minutes:
        with tempfile.TemporaryDirectory() as folder:
            _measure(Path(folder), minutes)


def _measure(folder: Path, minutes: int) -> None:
    path = folder / "episode_000000.mcap"
    began, before = time.monotonic(), _read_memory()
    _record(path, 60 * minutes)
    _print(minutes, "record", time.monotonic() - began, _read_memory() - before)
    per_hour = path.stat().st_size * 60 / minutes
    print(f"{minutes:>8} the file: {per_hour / 1e9:.3f} GB an hour")
    for verb in ("info", "recover", "evaluate"):
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", _RUN, verb, str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        peak = int(done.stderr.rsplit("peak ", 1)[-1]) / 1024
        _print(minutes, verb, time.monotonic() - began, peak)


def _print(minutes: int, action: str, seconds: float, megabytes: float) -> None:
    print(f"{minutes:>8} {action:<9} {seconds:>9.1f} {megabytes:>12.0f}", flush=True)


def _read_memory() -> float:
    """Return what this process has resident, [MB]."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return float("nan")


def _record(path: Path, seconds: int) -> None:
    robot = make_robot(resolve([f"{k}={v}" for k, v in _TRIPLE.items()])).info
    layout = make_layout(robot, _LEADER)
    header = make_recording_header(
        config={"session": {"rate": float(_RATE)}},
        names=_TRIPLE,
        robot=robot,
        leader=_LEADER,
        gate_period=1.0 / _RATE,
    )
    journal = Journal(path, layout, header | {"wall_offset_ns": time.time_ns()})
    ticks, gates = _make_records(layout)
    for first in range(0, seconds * _RATE, _BATCH):
        for stream, records in ((Stream.TICK, ticks), (Stream.GATE, gates)):
            _move(records, first, robot.home)
            for record in records:
                journal.write(stream, record.tobytes())
        journal.flush()
    journal.close("end", {})


def _make_records(layout: Layout) -> tuple[Rows, Rows]:
    ticks, gates = np.zeros(_BATCH, layout.tick), np.zeros(_BATCH, layout.status)
    ticks["state"], gates["state"] = SessionState.ENGAGED, GateState.ENGAGED
    ticks["has_sample"] = True
    ticks["target"][..., 6] = ticks["raw"][..., 6] = 1.0
    return ticks, gates


def _move(records: Rows, first: int, home: np.ndarray) -> None:
    """Let the arm swing about home."""
    k = first + np.arange(len(records))
    phase = 2e-2 * k[:, None] / np.arange(5, 5 + len(home))
    for name in set(records.dtype.names or ()) & {"q_des", "q_cmd", "q_meas"}:
        records[name] = home + 0.1 * np.sin(phase)
    records["k"], records["stamp_ns"] = k, 10**12 + k * (10**9 // _RATE)
    if "meas_ns" in (records.dtype.names or ()):
        records["meas_ns"] = records["setpoint_ns"] = records["stamp_ns"]
    else:
        records["sample"]["seq"] = k
        records["sample"]["stamp_ns"] = records["posted_ns"] = records["stamp_ns"]
        records["target"][..., :3] = 0.3 + 0.1 * np.sin(phase[:, None, :3])


if __name__ == "__main__":
    main()
