"""Verb ``bench``: runs the benchmark."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from paprle.cli.verb import Verb, say
from paprle.contracts.errors import MissingDependency
from paprle.hosts.operator.slow_work import SlowWork
from paprle_lab.cli.batch import add_place, check_packages, run_plan


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "manifest",
        type=Path,
        nargs="?",
        metavar="MANIFEST.yaml",
        help="motions and what drives them (default: the standard one)",
    )
    add_place(parser)


def _run(args: argparse.Namespace) -> int:
    check_packages()
    from paprle_lab.batch.result_store import ResultStore  # noqa: PLC0415 - keeps --help fast
    from paprle_lab.batch.table import read_table  # noqa: PLC0415 - heavy
    from paprle_lab.bench.manifest import STANDARD, read_bench  # noqa: PLC0415 - heavy
    from paprle_lab.bench.page import render_bench  # noqa: PLC0415 - heavy
    from paprle_lab.bench.scores import make_scores  # noqa: PLC0415 - heavy

    try:
        from paprle_lab.bench.pictures import draw_scores  # noqa: PLC0415 - matplotlib
    except ImportError as err:
        raise MissingDependency(
            "bench: expected matplotlib for its plots, got none; "
            "pip install 'paprle[report]'"
        ) from err

    with SlowWork("reading the motions"):
        bench = read_bench(args.manifest or STANDARD)
    place = ResultStore(args.out)
    code = run_plan(bench.plan, place, args.on)
    with SlowWork("making the scores") as work:
        scores = make_scores(bench, read_table(place))
        text = json.dumps(scores, indent=1, allow_nan=False) + "\n"
        place.write("leaderboard.json", text.encode())
        work.note("drawing the page")
        page = render_bench(scores, draw_scores(scores))
        place.write("leaderboard.html", page.encode())
    say(f"scores: {place.address}/leaderboard.json, and a page beside it")
    return code


BENCH = Verb(
    name="bench",
    summary="Play fixed motions on robots over networks; write scores and a page.",
    help="""\
Motions, robots, worlds, networks and seeds are those of the manifest. Its files are
identified by their SHA-256; other people's files you download yourself. Two runs of the
same versions give the same scores. OUT has leaderboard.json, leaderboard.html and the
table of `paprle batch`.

examples:
  paprle bench --out OUT
  paprle bench benchmarks/public_motions.yaml --out OUT --on ray""",
    add_arguments=_add_arguments,
    run=_run,
)
