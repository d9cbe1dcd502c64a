"""A batch as a user starts it, in a process of its own that may be hurt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import yaml

from paprle.ipc.process import WORKSPACE
from paprle_lab.batch.driver import Batch, BatchProgress
from paprle_lab.batch.engine import Ended, Engine
from paprle_lab.batch.plan import read_plan
from paprle_lab.batch.result_store import ResultStore
from paprle_lab.batch.run_cell import do_job

START = "import sys; from paprle.cli import main; sys.exit(main())"
SHORT = ["leader=autopilot", "leader.size=0.01", "leader.speed=0.2"]


def write_plan(path: Path, **data) -> Path:
    """Write a plan of short sessions; what is given stands in place of it."""
    plan = {
        "leaders": [{"short": SHORT}],
        "robots": ["piper"],
        "settings": ["session.rate=100"],
    }
    path.write_text(yaml.safe_dump(plan | data))
    return path


def run(
    plan: Path, out: object, *words: str, **how
) -> subprocess.CompletedProcess[str]:
    """Run a batch to its end."""
    return subprocess.run(
        [sys.executable, "-c", START, "batch", str(plan), "--out", str(out), *words],
        capture_output=True,
        text=True,
        cwd=WORKSPACE,
        check=False,
        **how,
    )


class Here(Engine):
    """Does each cell at once, in this process."""

    def __init__(self) -> None:
        self.jobs = []

    @property
    def n_free(self) -> int:
        return 1 - len(self.jobs)

    def submit(self, job) -> None:
        self.jobs.append(job)

    def wait(self) -> list[Ended]:
        return [Ended(job, do_job(job)) for job in (self.jobs.pop(),)]

    def close(self) -> None:
        """Nothing to let go of."""


def run_here(plan: Path, out: object, engine: Engine | None = None) -> BatchProgress:
    """Run a batch in this process."""
    return Batch(read_plan(plan), ResultStore(str(out))).run(
        engine or Here(), lambda _: None
    )


class RunningBatch:
    """A batch that is at work."""

    def __init__(self, plan: Path, out: Path, *words: str) -> None:
        self.out = out
        self.log = out.with_suffix(".log")
        command = [sys.executable, "-c", START, "batch", str(plan), "--out", str(out)]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*command, *words], stdout=log, stderr=log, cwd=WORKSPACE
            )

    def wait_for(self, n: int, timeout: float = 60.0) -> None:
        """Wait until so many parts are there."""
        end = time.monotonic() + timeout
        while len(list_parts(self.out)) < n:
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < end, self.log.read_text()
            time.sleep(0.02)

    def find_workers(self) -> list[int]:
        """Return the processes that it started."""
        return [pid for pid, parent in _list_processes() if parent == self.process.pid]

    def kill_worker(self) -> int:
        """Kill one of its workers; return which."""
        pid = self.find_workers()[0]
        os.kill(pid, signal.SIGKILL)
        return pid

    def kill(self) -> None:
        """Kill the one who gives the work."""
        self.process.kill()
        self.process.wait()

    def finish(self, timeout: float = 100.0) -> int:
        """Wait for its end."""
        return self.process.wait(timeout)


def list_parts(out: Path) -> list[Path]:
    """Return the parts that are there."""
    return sorted((out / "parts").glob("*.json"))


def read_rows(out: Path) -> list[dict]:
    """Return the rows of the table."""
    return pq.read_table(out / "table.parquet").to_pylist()


def _list_processes():
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if fields[0] != "Z":
            yield int(entry.parent.name), int(fields[1])
