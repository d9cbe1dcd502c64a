"""Memory and time of recording an arm, and of reading it back.

    python -m benchmarks.recording [--minutes 10 120]

A PiPER's session and gate at 200 Hz. The recorder is stepped through an hour of virtual
time as its process steps it. Then recordings of some lengths are written quickly, and
``info``, ``recover`` and ``evaluate`` look at them, each in a process of its own.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from paprle.config import resolve
from paprle.contracts.settings import RecordSettings
from paprle.contracts.types import GateState, LeaderInfo, SessionState, Vec
from paprle.evaluation.tracks import compute_poses
from paprle.hosts.plan import make_robot
from paprle.ipc.records import Layout, Stream, make_layout
from paprle.recording.channels import Rows
from paprle.recording.header import make_recording_header
from paprle.recording.journal import Journal
from paprle.recording.recorder import Recorder
from paprle.robot import RobotModel

_RATE = 200  # [Hz]
_PERIOD = 10  # [s] chosen: of the motion, which is computed once
_DELAY = 4  # chosen: rows that the robot is behind, 20 ms
_ORIGIN_NS = 10**12
_STEP = 10  # chosen: rows that come between two steps of the recorder, 50 ms
_HOUR = 3600  # [s]
_LEADER = LeaderInfo(limbs=("hand",), is_human=False)
_TRIPLE = {"leader": "autopilot", "follower": "piper", "env": "kinematic"}
_RUN = """
import resource, sys
from paprle.cli.app import main
code = main(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_SELF)
def read(name, key):
    with open(f"/proc/self/{name}") as file:
        return next(line.split()[1] for line in file if line.startswith(key))
memory = read("status", "VmHWM:") + " " + read("smaps_rollup", "Pss:")
sys.stderr.write(f"used {used.ru_utime + used.ru_stime} {memory}")
sys.exit(code)
"""


def main() -> None:
    """Print a row for each action."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=int, nargs="+", default=[10, 120])
    args = parser.parse_args()
    motion = _Motion()
    print("recorder, one hour of virtual time:")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        _watch_recorder(motion, Path(folder))
    columns = f"{'CPU [s]':>8} {'peak RSS [MB]':>14} {'PSS [MB]':>9}"
    print(f"{'minutes':>8} {'file [GB/h]':>12} {'action':<9} {columns}")
    for minutes in args.minutes:
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            _measure(motion, Path(folder), minutes)


def _measure(motion: _Motion, folder: Path, minutes: int) -> None:
    path = folder / "episode_000000.mcap"
    journal = Journal(path, motion.layout, motion.header | {"wall_offset_ns": 0})
    for stream, records in motion.list_records(60 * minutes * _RATE, _RATE):
        for record in records:
            journal.write(stream, record.tobytes())
    journal.close("end", {})
    per_hour = path.stat().st_size * 60e-9 / minutes
    for verb in ("info", "recover", "evaluate"):
        done = subprocess.run(
            [sys.executable, "-c", _RUN, verb, str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        cpu, rss, pss = map(float, done.stderr.rsplit("used ", 1)[-1].split())
        figures = f"{cpu:>8.1f} {rss / 1024:>14.0f} {pss / 1024:>9.0f}"
        print(f"{minutes:>8} {per_hour:>12.2f} {verb:<9} {figures}", flush=True)


def _watch_recorder(motion: _Motion, folder: Path) -> None:
    """Print what the recorder's process has resident as an episode grows."""
    ring = _Ring()
    recorder = Recorder(
        RecordSettings(dir=str(folder)), motion.layout, motion.header, [ring]
    )
    ring.items.append((Stream.EVENT, b'{"event": "episode_begin", "t_ns": 0}'))
    told = {60: "1 minute", 600: "10 minutes", _HOUR: "1 hour"}
    n = 0
    for stream, records in motion.list_records(_HOUR * _RATE, _STEP):
        ring.items += [(stream, record.tobytes()) for record in records]
        if stream == Stream.TICK:
            continue
        n += len(records)
        recorder.step(int(records["stamp_ns"][-1]))
        label = told.get(n // _RATE) if n % _RATE == 0 else None
        if label:
            print(f"  after {label:<10} {_read_memory():6.0f} MB", flush=True)
    recorder.finish("end", _ORIGIN_NS + _HOUR * 10**9)
    if recorder.failure or len(recorder.manifests) != 1:
        raise SystemExit(f"nothing was recorded: {recorder.failure}")


class _Ring:
    """A ring that is filled by hand."""

    dropped: dict[int, int] = {}

    def __init__(self) -> None:
        self.items: list[tuple[int, bytes]] = []

    def drain(self) -> list[tuple[int, bytes]]:
        items, self.items = self.items, []
        return items


def _read_memory() -> float:
    """Return what this process has resident, [MB]."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return float("nan")


class _Motion:
    """An arm that swings about home for any time.

    Attributes:
        layout: Dtypes of its session.
        header: Header of its recordings.
    """

    def __init__(self) -> None:
        robot = make_robot(resolve([f"{k}={v}" for k, v in _TRIPLE.items()]))
        self.layout: Layout = make_layout(robot.info, _LEADER)
        self.header: dict[str, Any] = make_recording_header(
            config={"session": {"rate": float(_RATE)}},
            names=_TRIPLE,
            robot=robot.info,
            leader=_LEADER,
            gate_period=1.0 / _RATE,
        )
        self._ticks, self._gate = _fill(self.layout, robot)

    def list_records(self, n: int, n_each: int) -> Iterator[tuple[Stream, Rows]]:
        """Yield n rows of each stream in turn, some at a time."""
        for first in range(0, n, n_each):
            k = np.arange(first, first + n_each)
            for stream, whole in (
                (Stream.TICK, self._ticks),
                (Stream.GATE, self._gate),
            ):
                rows = whole[k % len(whole)]
                rows["k"], rows["stamp_ns"] = k, _ORIGIN_NS + k * (10**9 // _RATE)
                if stream == Stream.TICK:
                    rows["sample"]["seq"] = k + 1
                    rows["sample"]["stamp_ns"] = rows["posted_ns"] = rows["stamp_ns"]
                    rows["sample"]["limb_ns"] = rows["stamp_ns"][:, None]
                else:
                    rows["meas_ns"] = rows["setpoint_ns"] = rows["stamp_ns"]
                yield stream, rows


def _fill(layout: Layout, robot: RobotModel) -> tuple[Rows, Rows]:
    """Return ticks and gate ticks of one period; robots measure with noise."""
    n = _PERIOD * _RATE
    ticks, gate = np.zeros(n, layout.tick), np.zeros(n, layout.status)
    turns = 2.0 * np.pi * np.arange(n)[:, None] / n
    q: Vec = robot.info.home + 0.1 * np.sin(
        turns * np.arange(1, 1 + len(robot.info.home))
    )
    ticks["state"], gate["state"] = SessionState.ENGAGED, GateState.ENGAGED
    ticks["has_sample"] = True
    ticks["q_des"] = gate["q_des"] = gate["q_cmd"] = q
    for row, limb in enumerate(robot.limbs.values()):
        ticks["target"][:, row] = compute_poses(limb, limb.take(q.T).T)
    ticks["raw"] = ticks["target"]
    ticks["sample"]["pose"] = ticks["target"][:, :1]
    noise = np.random.default_rng(0).normal(0.0, 1e-5, (3, *q.shape))
    gate["q_meas"] = np.roll(q, _DELAY, axis=0) + noise[0]
    gate["dq_meas"], gate["tau_meas"] = noise[1:]
    gate["dq_cmd"] = np.gradient(q, 1.0 / _RATE, axis=0)
    gate["speed_scale"], gate["clearance"] = 1.0, 0.01
    return ticks, gate


if __name__ == "__main__":
    main()
