"""Rate and memory of batches, by number of workers.

python -m benchmarks.batch_rate [--cells 40] [--cores 2] [--many 20000]
python -m benchmarks.batch_rate --sessions

Runs `paprle batch` over a bad network, with equal cells per worker; rates count while
all workers are warm and busy. Instant workers then show a driver's memory. `linear` is
1 where N workers do N times as much as one. Exits with 1 below 0.9, or if the driver's
memory grew. ``--sessions`` measures warm, recorded sessions.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from benchmarks.memory import measure_memory
from paprle.config import resolve
from paprle.hosts.virtual import VirtualSession
from paprle_lab.batch.driver import Batch
from paprle_lab.batch.engine import Ended, Engine
from paprle_lab.batch.plan import read_plan
from paprle_lab.batch.result_store import ResultStore
from paprle_lab.batch.run_cell import DONE, do_job, name_part

START = "import sys; from paprle.cli import main; sys.exit(main())"
WARM = 3  # chosen: first cells of a worker, which load and compile
TURNS = 5  # chosen: of each session, one after the other; the median counts
SESSIONS = {
    "32 s, kinematic": ["follower=piper", "env=kinematic", "leader.laps=5"],
    "6.6 s, kinematic": ["follower=piper", "env=kinematic"],
    "32 s, kinematic, lossy": [
        "follower=piper", "env=kinematic", "leader.laps=5", "link.emulate=lossy",
    ],
    "32 s, mujoco": ["follower=ur5e", "env=mujoco", "leader.laps=5"],
    "32 s, mujoco, env.rate=200": [
        "follower=ur5e", "env=mujoco", "leader.laps=5", "env.rate=200",
    ],
}  # fmt: skip
LINEAR = 0.9  # chosen: below it cores are wasted
GROWTH = 4.0  # [MB] chosen: as benchmarks.gate_soak; a byte a cell is 0.02
PLAN = {
    "leaders": [{"lap": ["leader=autopilot", "leader.size=0.02", "leader.speed=0.05"]}],
    "robots": ["piper"],
    "networks": ["lossy"],
    "settings": ["session.rate=200"],
}


def write_plan(folder, n_cells):
    plan = folder / f"{n_cells}.yaml"
    plan.write_text(yaml.safe_dump(PLAN | {"seeds": n_cells}))
    return plan


def measure_rate(folder, n_workers, n_cells):
    """Return a batch's cells per second, and costs."""
    out = folder / f"out{n_workers}"
    plan = write_plan(folder, n_cells * n_workers)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", START, "batch", str(plan),
         "--out", str(out), "--on", f"local:{n_workers}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    ends = sorted(one.stat().st_mtime for one in (out / "parts").glob("*.json"))
    steady = ends[WARM * n_workers : len(ends) - n_workers + 1]
    return (len(steady) - 1) / (steady[-1] - steady[0]), done.stdout.splitlines()[1]


def measure_sessions():
    """Return SESSIONS' core-seconds, and robot-seconds per core-second."""
    costs = {name: [] for name in SESSIONS}
    for turn in range(TURNS + 1):
        for name, words in SESSIONS.items():
            seconds, cost = run_session(words)
            if turn:
                costs[name].append((cost, seconds / cost))
        gc.collect()
        gc.freeze()
    return {
        name: [round(statistics.median(one), 2) for one in zip(*own, strict=True)]
        for name, own in costs.items()
    }


def run_session(words):
    """Return a session's length and cost in a worker, [s]."""
    with tempfile.TemporaryDirectory(prefix="session-") as folder:
        own = ["session.clock=virtual", "session.episodes=1", f"record.dir={folder}"]
        began = time.process_time()
        session = VirtualSession(
            resolve(["leader=autopilot", "session.rate=200", *words, *own]),
            say=lambda _: None,
            is_thrown_away=True,
        )
        begin_ns = session.clock.now_ns
        session.run()
        cost = time.process_time() - began
    return (session.clock.now_ns - begin_ns) * 1e-9, cost


class Quick(Engine):
    """Engine that repeats the first cell's result."""

    def __init__(self, place):
        self._place, self._jobs, self._first = place, [], None

    @property
    def n_free(self):
        return 1 - len(self._jobs)

    def submit(self, job):
        self._jobs.append(job)

    def wait(self):
        job = self._jobs.pop()
        index = job["cell"]["index"]
        if self._first is None:
            outcome = do_job(job)
            self._first = outcome, json.loads(self._place.read(name_part(index, DONE)))
            return [Ended(job, outcome)]
        outcome, row = self._first
        part = json.dumps(row | {"index": index, "seed": index}).encode()
        self._place.write(name_part(index, DONE), part)
        return [Ended(job, outcome | {"index": index})]

    def close(self):
        """Do nothing."""


def watch_driver(folder, n_cells):
    """Return a driver's memory, [MB], by tenths, and time per cell, [ms]."""
    place = ResultStore(str(folder / "many"))
    batch = Batch(read_plan(write_plan(folder, n_cells)), place)
    held, began = [], time.monotonic()

    def look(account):
        if account.n_done >= (len(held) + 1) * n_cells // 10:
            held.append(round(measure_memory() / 1e6, 1))

    batch.run(Quick(place), look)
    took = time.monotonic() - began
    return {
        "cells": n_cells,
        "mb_at_tenths": held,
        "mb_after_the_table": round(measure_memory() / 1e6, 1),
        "ms_a_cell": round(1e3 * took / n_cells, 2),
    }


def main(words=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--cells", type=int, default=40, help="of each worker")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--many", type=int, default=20000, help="of the driver alone")
    parser.add_argument("--sessions", action="store_true", help="their cost alone")
    args = parser.parse_args(words)
    if args.sessions:
        print(json.dumps(measure_sessions(), indent=1))
        return 0
    with tempfile.TemporaryDirectory(prefix="batch-") as name:
        folder = Path(name)
        one, said = measure_rate(folder, 1, args.cells)
        many, _ = measure_rate(folder, args.cores, args.cells)
        driver = watch_driver(folder, args.many)
    linear = many / (args.cores * one)
    told = {
        "cells_a_second": {1: round(one, 3), args.cores: round(many, 3)},
        "linear": round(linear, 3),
        "said": said,
        "driver": driver,
    }
    print(json.dumps(told, indent=1))
    grew = driver["mb_at_tenths"][-1] - driver["mb_at_tenths"][0]
    return 0 if linear >= LINEAR and grew <= GROWTH else 1


if __name__ == "__main__":
    sys.exit(main())
