"""Pool of processes on this host."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import sys
import time
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import IO, Any

from paprle.contracts.errors import SessionError
from paprle.hosts.precompile import compile_once
from paprle_lab.batch.engine import Ended, Engine, Job

MOST = 512  # chosen: more processes than any host has cores for
_WAIT = 1.0  # [s] chosen: a progress bar goes on meanwhile
_END = 10.0  # [s] chosen: a worker between two cells ends at once
_FRUITLESS = 20  # chosen: more than cells that fail with all their retries in a row
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)


def count_cores() -> int:
    """Return the number of usable cores."""
    return len(os.sched_getaffinity(0))


@dataclass
class _Worker:
    """One process; ``began``: monotonic, [s]."""

    process: subprocess.Popen[bytes]
    jobs: IO[bytes]
    answers: int
    folder: TemporaryDirectory[str]
    text: bytearray = field(default_factory=bytearray)
    job: Job | None = None
    began: float = 0.0

    def tell(self, job: Job) -> None:
        """Send a job; answers of a dead worker end."""
        self.job, self.began = job, time.monotonic()
        with contextlib.suppress(OSError):
            self.jobs.write(json.dumps(dict(job)).encode() + b"\n")
            self.jobs.flush()


class Pool(Engine):
    """Workers on this host."""

    def __init__(self, n: int) -> None:
        compile_once()
        self._selector = selectors.DefaultSelector()
        self._n_fruitless = 0
        self._workers = [self._start() for _ in range(n)]

    @property
    def n_free(self) -> int:
        """Number of idle workers."""
        return sum(worker.job is None for worker in self._workers)

    def submit(self, job: Job) -> None:
        """Give a job to an idle worker."""
        next(one for one in self._workers if one.job is None).tell(job)

    def wait(self) -> list[Ended]:
        """Return finished jobs; wait at most 1 s."""
        ended: list[Ended] = []
        for key, _ in self._selector.select(_WAIT):
            worker: _Worker = key.data
            data = os.read(worker.answers, 1 << 16)
            if not data:
                ended += self._replace(worker)
                continue
            worker.text += data
            while (at := worker.text.find(b"\n")) >= 0:
                line = bytes(worker.text[:at])
                del worker.text[: at + 1]
                self._n_fruitless = 0
                if worker.job is not None:
                    ended.append(Ended(worker.job, json.loads(line)))
                worker.job = None
        return ended

    def close(self) -> None:
        """End all workers."""
        for worker in self._workers:
            if worker.job is not None:
                worker.process.kill()
            self._let_go(worker)
        self._workers.clear()
        self._selector.close()

    def _start(self) -> _Worker:
        reads, writes = os.pipe()
        folder = TemporaryDirectory(prefix="paprle-", ignore_cleanup_errors=True)
        try:
            process = subprocess.Popen(
                [sys.executable, "-m", "paprle_lab.batch.worker", str(writes)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=[writes],
                env={**os.environ, **_ONE_THREAD, "TMPDIR": folder.name},
                start_new_session=True,  # a Ctrl-C is ours to answer
            )
        finally:
            os.close(writes)
        jobs: Any = process.stdin
        worker = _Worker(process, jobs, reads, folder)
        self._selector.register(reads, selectors.EVENT_READ, worker)
        return worker

    def _replace(self, worker: _Worker) -> list[Ended]:
        code = self._let_go(worker)
        self._n_fruitless += 1
        if self._n_fruitless > _FRUITLESS:
            raise SessionError(
                f"batch: expected a worker to answer, got {self._n_fruitless} that "
                f"ended before, the last with exit code {code}; what was done is kept"
            )
        self._workers[self._workers.index(worker)] = self._start()
        if worker.job is None:
            return []
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        took = time.monotonic() - worker.began
        how += (
            f" after {took:.0f} s, of {worker.job['time_limit']:g} s that it may take"
        )
        return [Ended(worker.job, None, f"its process ended with {how}")]

    def _let_go(self, worker: _Worker) -> int:
        self._selector.unregister(worker.answers)
        os.close(worker.answers)
        with contextlib.suppress(OSError):
            worker.jobs.close()
        try:
            return worker.process.wait(_END)
        except subprocess.TimeoutExpired:
            worker.process.kill()
            return worker.process.wait()
        finally:
            worker.folder.cleanup()
