"""Verb ``batch``: runs many sessions."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from paprle.cli.verb import Verb, say
from paprle.contracts.errors import MissingDependency, RecordingError
from paprle.hosts.operator.slow_work import SlowWork

if TYPE_CHECKING:
    from paprle_lab.batch.plan import BatchPlan
    from paprle_lab.batch.result_store import ResultStore

_NEEDED = ("pyarrow", "fsspec")


def add_place(parser: argparse.ArgumentParser) -> None:
    """Add the options for engine and results."""
    parser.add_argument(
        "--on",
        default="local",
        metavar="ENGINE",
        help="local, local:N (processes), ray or ray:ADDRESS (default: local)",
    )
    parser.add_argument(
        "--out", required=True, help="results: a folder, or an address such as s3://…"
    )


def check_packages() -> None:
    """Check for the packages of the table.

    Raises:
        MissingDependency: With the command to install them.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise MissingDependency(
            f"batch: expected the package '{missing[0]}', got none; install it with: "
            "pip install 'paprle[batch]'"
        )


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("plan", type=Path, metavar="PLAN.yaml")
    add_place(parser)


def run_plan(plan: BatchPlan, place: ResultStore, engine: str) -> int:
    """Return the exit code of a plan.

    Raises:
        RecordingError: If results cannot be written or read.
    """
    from paprle_lab.batch.driver import Batch  # noqa: PLC0415 - heavy
    from paprle_lab.batch.engines import make_engine  # noqa: PLC0415 - heavy
    from paprle_lab.batch.table import NAME  # noqa: PLC0415 - heavy

    try:
        batch = Batch(plan, place)
        # an engine compiles at first, with a bar of its own
        with make_engine(engine) as workers, SlowWork("doing the batch") as work:
            account = batch.run(workers, lambda account: account.report(work))
    except OSError as err:
        raise RecordingError(f"results in '{place.address}': {err}") from err
    say(account.describe())
    say(f"table: {place.address}/{NAME}")
    return 1 if account.n_failed else 0


def _run(args: argparse.Namespace) -> int:
    check_packages()
    from paprle_lab.batch.plan import read_plan  # noqa: PLC0415 - heavy
    from paprle_lab.batch.result_store import ResultStore  # noqa: PLC0415 - keeps --help fast

    return run_plan(read_plan(args.plan), ResultStore(args.out), args.on)


BATCH = Verb(
    name="batch",
    summary="Do a plan of many sessions, evaluations or data sets; write one table.",
    help="""\
Each combination of the plan's leaders, robots, worlds, networks, variants and seeds is
a session on the virtual clock and a row of OUT/table.parquet, the same to the last bit
on every engine. The same command resumes a batch that was stopped or killed, and
retries the cells that failed. The exit code is 1 where cells failed.

example of a plan:
  leaders: [motions/*.csv, {circle: [leader=autopilot, leader.size=0.05]}]
  robots: [piper, ur5e]
  worlds: [kinematic]
  networks: [none, 4g]
  seeds: 3

examples:
  paprle batch PLAN.yaml --out OUT
  paprle batch PLAN.yaml --out s3://bucket/out --on ray:10.0.0.1:6379""",
    add_arguments=_add_arguments,
    run=_run,
)
