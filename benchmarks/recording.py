"""Memory and time of recording a robot, and of reading it back.

    python -m benchmarks.recording [--minutes 10 120] [--follower piper] [--rate 400]

A session at 200 Hz, and a gate. The recorder is stepped through virtual time, an hour
at most, as its process steps it. Then recordings of some lengths are written, and
``info``, ``recover`` and ``evaluate`` look at them, each in a process of its own. Exits
with 1 where one of them fails, or takes more memory for the last length than for the
first.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.memory import measure_memory
from paprle.config import resolve
from paprle.contracts.settings.core import RecordSettings
from paprle.contracts.types import GateState, LeaderInfo, SessionState, Vec
from paprle.hosts.plan import make_robot
from paprle.ipc.records import Layout, Stream, make_layout
from paprle.recording.header import make_recording_header
from paprle.recording.mcap.journal import Journal
from paprle.recording.messages.channels import Rows
from paprle.recording.recorder import Recorder
from paprle.recording.robot import compute_poses
from paprle.robot import RobotModel

_RATE = 200  # [Hz] of the session
_PERIOD = 10  # [s] chosen: of the motion, which is computed once
_DELAY = 0.02  # [s] chosen: that the robot is behind
_ORIGIN_NS = 10**12
_STEP = 0.02  # [s] between two steps of the recorder, as RecordSettings.flush
_STEPS = {"q_meas": 2.0**-18, "dq_meas": 2.0**-10, "tau_meas": 2.0**-8}
"""chosen: of an encoder, as followers/mujoco measures"""
_HOUR = 3600  # [s]
_GROWTH = 16.0  # [MB] chosen: the bytes of two minutes
_LEADER = LeaderInfo(limbs=("hand",), is_human=False)
_OBJECTS = ("block",)
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


def main(words: list[str] | None = None) -> int:
    """Print actions; return 1 if memory grew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=int, nargs="+", default=[10, 120])
    parser.add_argument("--follower", default="piper")
    parser.add_argument("--rate", type=int, default=400, help="of the gate, [Hz]")
    args = parser.parse_args(words)
    motion = _Motion(args.follower, args.rate)
    print(f"{args.follower}, session {_RATE} Hz, gate {args.rate} Hz; recorder:")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        _watch_recorder(motion, Path(folder), min(60 * max(args.minutes), _HOUR))
    columns = f"{'CPU [s]':>8} {'peak RSS [MB]':>14} {'PSS [MB]':>9}"
    print(f"{'minutes':>8} {'file [GB/h]':>12} {'action':<9} {columns}")
    peaks = []
    for minutes in args.minutes:
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            peaks.append(_measure(motion, Path(folder), minutes))
    grew = {verb: peaks[-1][verb] - peak for verb, peak in peaks[0].items()}
    return int(max(grew.values()) > _GROWTH)


def _measure(motion: _Motion, folder: Path, minutes: int) -> dict[str, float]:
    path = folder / "episode_000000.mcap"
    journal = Journal(path, motion.layout, motion.header | {"wall_offset_ns": 0})
    for stream, records in motion.list_records(60 * minutes, 1.0):
        for record in records:
            journal.write(stream, record.tobytes())
    journal.close("end", {})
    per_hour = path.stat().st_size * 60e-9 / minutes
    peaks = {}
    for verb in ("info", "recover", "evaluate"):
        done = subprocess.run(
            [sys.executable, "-c", _RUN, verb, str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(done.stderr)
        cpu, rss, pss = map(float, done.stderr.rsplit("used ", 1)[-1].split())
        figures = f"{cpu:>8.1f} {rss / 1024:>14.0f} {pss / 1024:>9.0f}"
        print(f"{minutes:>8} {per_hour:>12.2f} {verb:<9} {figures}", flush=True)
        peaks[verb] = rss / 1024
    return peaks


def _watch_recorder(motion: _Motion, folder: Path, seconds: int) -> None:
    ring = _Ring()
    recorder = Recorder(
        RecordSettings(dir=str(folder)), motion.layout, motion.header, [ring]
    )
    ring.items.append((Stream.EVENT, b'{"event": "episode_begin", "t_ns": 0}'))
    told = {60: "1 minute", 600: "10 minutes", _HOUR: "1 hour"}
    begin = time.process_time()
    for stream, records in motion.list_records(seconds, _STEP):
        ring.items += [(stream, record.tobytes()) for record in records]
        if stream == Stream.TICK:
            continue
        now_ns = int(records["stamp_ns"][-1])
        recorder.step(now_ns)
        elapsed = (int(records["k"][-1]) + 1) / motion.rate
        if elapsed in told:
            cpu = (time.process_time() - begin) / elapsed
            memory = f"{measure_memory() / 1e6:6.0f} MB, {100 * cpu:.0f} % of a core"
            print(f"  after {told[int(elapsed)]:<10} {memory}", flush=True)
    recorder.finish("end", _ORIGIN_NS + seconds * 10**9)
    if recorder.failure or len(recorder.manifests) != 1:
        raise SystemExit(f"nothing was recorded: {recorder.failure}")


class _Ring:
    dropped: dict[int, int] = {}

    def __init__(self) -> None:
        self.items: list[tuple[int, bytes]] = []

    def drain(self) -> list[tuple[int, bytes]]:
        items, self.items = self.items, []
        return items


class _Motion:
    def __init__(self, follower: str, rate: int) -> None:
        names = {"leader": "autopilot", "follower": follower, "env": "kinematic"}
        robot = make_robot(resolve([f"{k}={v}" for k, v in names.items()]))
        self.rate = rate
        self.layout: Layout = make_layout(robot.info, _LEADER, _OBJECTS)
        self.header: dict[str, Any] = make_recording_header(
            config={"session": {"rate": float(_RATE)}},
            names=names,
            robot=robot.info,
            leader=_LEADER,
            gate_period=1.0 / rate,
            objects=_OBJECTS,
        )
        self._ticks = _fill_ticks(self.layout, robot)
        self._gate = _fill_gate(self.layout, robot, rate)

    def list_records(
        self, seconds: int, period: float
    ) -> Iterator[tuple[Stream, Rows]]:
        """Yield each stream's rows by period."""
        for step in range(round(seconds / period)):
            for stream, whole, rate in (
                (Stream.TICK, self._ticks, _RATE),
                (Stream.GATE, self._gate, self.rate),
            ):
                each = round(rate * period)
                k = np.arange(step * each, (step + 1) * each)
                rows = whole[k % len(whole)]
                rows["k"], rows["stamp_ns"] = k, _ORIGIN_NS + k * (10**9 // rate)
                if stream == Stream.TICK:
                    rows["sample"]["seq"] = k + 1
                    rows["sample"]["stamp_ns"] = rows["posted_ns"] = rows["stamp_ns"]
                    rows["sample"]["limb_ns"] = rows["stamp_ns"][:, None]
                else:
                    rows["meas_ns"] = rows["setpoint_ns"] = rows["stamp_ns"]
                yield stream, rows


def _swing(robot: RobotModel, rate: int) -> Vec:
    n = _PERIOD * rate
    turns = 2.0 * np.pi * np.arange(n)[:, None] / n
    home = robot.info.home
    q: Vec = home + 0.1 * np.sin(turns * np.arange(1, 1 + len(home)))
    return q


def _fill_ticks(layout: Layout, robot: RobotModel) -> Rows:
    q = _swing(robot, _RATE)
    ticks = np.zeros(len(q), layout.tick)
    ticks["state"], ticks["has_sample"] = SessionState.ENGAGED, True
    ticks["q_des"], ticks["dq_des"] = q, np.gradient(q, 1.0 / _RATE, axis=0)
    for row, limb in enumerate(robot.limbs.values()):
        ticks["target"][:, row] = compute_poses(limb, limb.take(q.T).T)
    ticks["sample"]["pose"] = ticks["target"][:, :1]
    ticks["raw"] = ticks["sample"]["pose"]
    return ticks


def _fill_gate(layout: Layout, robot: RobotModel, rate: int) -> Rows:
    q = _swing(robot, rate)
    gate = np.zeros(len(q), layout.status)
    noise = np.random.default_rng(0).normal(0.0, 1e-5, q.shape)
    dq = np.gradient(q, 1.0 / rate, axis=0)
    gate["state"] = GateState.ENGAGED
    gate["q_des"] = gate["q_cmd"] = q
    gate["dq_cmd"] = dq
    delay = round(_DELAY * rate)
    gate["q_meas"] = np.roll(q, delay, axis=0) + noise
    gate["dq_meas"], gate["tau_meas"] = np.roll(dq, delay, axis=0), 10.0 * np.cos(q)
    for name, step in _STEPS.items():
        gate[name] = np.round(gate[name] / step) * step
    gate["objects"] = [0.3, 0.0, 0.015, 0.0, 0.0, 0.0, 1.0]
    gate["speed_scale"], gate["clearance"] = 1.0, 0.01
    return gate


if __name__ == "__main__":
    sys.exit(main())
