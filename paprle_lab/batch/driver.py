"""Driver of a batch."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any
from uuid import uuid4

from paprle.contracts.errors import ConfigError
from paprle.contracts.kit.work import Work
from paprle_lab.batch.cells import Cell, Cells, find_versions
from paprle_lab.batch.engine import Ended, Engine, Job
from paprle_lab.batch.plan import BatchPlan
from paprle_lab.batch.result_store import ResultStore
from paprle_lab.batch.run_cell import (
    DONE,
    FAILED,
    LOST,
    MARK,
    REFUSED,
    encode_part,
    name_part,
)
from paprle_lab.batch.table import write_table

PLAN = "plan.json"

Json = dict[str, Any]


@dataclass
class BatchProgress:
    """Progress of a batch.

    Attributes:
        robot_s: Duration of recordings.
        core_s: Core time.
    """

    n: int
    n_before: int = 0
    n_done: int = 0
    n_failed: int = 0
    n_retries: int = 0
    robot_s: float = 0.0
    core_s: float = 0.0
    problem: str = ""

    def report(self, work: Work) -> None:
        """Report finished and failed cells."""
        n_over = self.n_before + self.n_done + self.n_failed
        failed = f", {self.n_failed} failed" if self.n_failed else ""
        work.count(n_over, self.n, f"cells{failed}")

    def describe(self) -> str:
        """Return a summary in a few lines."""
        lines = [f"{self.n} cells: {self.n_done} done"]
        lines[0] += f", {self.n_before} were before" if self.n_before else ""
        lines[0] += f", {self.n_failed} failed" if self.n_failed else ""
        lines[0] += f", {self.n_retries} tried again" if self.n_retries else ""
        if self.n_done:
            cost = self.core_s / self.n_done
            lines.append(f"{cost:.3f} core-seconds a cell")
            if self.robot_s:
                rate = self.robot_s / self.core_s
                lines[-1] += f", {rate:.1f} robot-seconds a core-second"
        if self.n_failed:
            lines.append(f"the last that failed: {self.problem.strip()}")
        return "\n".join(lines)


class Batch:
    """A plan and its results."""

    def __init__(self, plan: BatchPlan, place: ResultStore) -> None:
        """Open the results of a plan.

        Raises:
            ConfigError: If they belong to another plan, files or versions.
        """
        self._plan, self._place = plan, place
        self._cells = Cells(plan)
        self._mark = self._open()
        self._is_done = bytearray(self._cells.n)
        for name in place.list_names("parts"):
            stem, _, ending = name.partition(".")
            if ending == "json" and stem.isdecimal() and int(stem) < self._cells.n:
                self._is_done[int(stem)] = 1
        self.account = BatchProgress(self._cells.n, sum(self._is_done))

    def run(
        self, engine: Engine, look: Callable[[BatchProgress], None]
    ) -> BatchProgress:
        """Run the open cells, and write the table."""
        todo, again = self._list_jobs(), deque[Job]()
        n_out, is_empty = 0, False
        while True:
            while engine.n_free and not (is_empty and not again):
                job = again.popleft() if again else next(todo, None)
                if job is None:
                    is_empty = True
                    break
                engine.submit(job)
                n_out += 1
            look(self.account)
            if is_empty and not n_out and not again:
                break
            for ended in engine.wait():  # a cluster may have no core yet
                n_out -= 1
                if self._take(ended):
                    again.append({**ended.job, "tries": ended.job["tries"] + 1})
        write_table(self._place, self._cells.n)
        return self.account

    def _open(self) -> str:
        digest, place = self._cells.compute_digest(), self._place
        held = place.read(PLAN)
        if held is None:
            told = {
                "digest": digest,
                "versions": find_versions(),
                "plan": asdict(self._plan),
            }
            place.write(PLAN, json.dumps(told, indent=1).encode())
        elif json.loads(held).get("digest") != digest:
            raise ConfigError(
                f"'{place.address}': expected results of this plan, got those of "
                "another, of other files or of other versions; give another --out"
            )
        mark = place.read(MARK)
        if mark is None:
            mark = uuid4().hex.encode()
            place.write(MARK, mark)
        return mark.decode()

    def _list_jobs(self) -> Iterator[Job]:
        given = {
            "address": self._place.address,
            "mark": self._mark,
            "versions": find_versions(),
            "time_limit": self._plan.time_limit,
            "tries": 0,
        }
        for cell in self._cells:
            if not self._is_done[cell.index]:
                yield {"cell": cell.to_dict(), **given}

    def _take(self, ended: Ended) -> bool:
        account = self.account
        outcome = ended.outcome or {"status": LOST, "error": ended.reason}
        account.core_s += outcome.get("core_s", 0.0)
        account.robot_s += outcome.get("robot_s", 0.0)
        status, error = outcome["status"], outcome["error"]
        if status == DONE:
            account.n_done += 1
            return False
        if status != REFUSED and ended.job["tries"] < self._plan.retries:
            account.n_retries += 1
            return True
        cell = Cell.from_dict(ended.job["cell"])
        account.n_failed += 1
        account.problem = f"cell {cell.index} ({status}): {error}"
        part = encode_part(cell, status, error, {})
        self._place.write(name_part(cell.index, FAILED), part)
        return False
