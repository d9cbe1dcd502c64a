"""Verb ``repeat``: replays a human motion."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from paprle.cli.verb import EXIT_CODES, SETTINGS, Verb, add_settings, complain, say
from paprle.config import resolve
from paprle.contracts.errors import ConfigError, MissingDependency
from paprle.hosts import run
from paprle.hosts.exit_codes import NOT_FOLLOWED
from paprle.hosts.operator.slow_work import SlowWork
from paprle_lab.evaluation.reporting.report import find_report
from paprle_lab.trials.labels import read_index
from paprle_lab.trials.repeat import (
    LEAD,
    LEAD_RATE,
    PAUSE,
    REPLAYS,
    collect,
    list_settings,
    prepare,
)
from paprle_lab.trials.report import describe_set, evaluate_set, write_set

_LONGEST = 600.0  # [s] spec: session.reset_time


def _add_repeat(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "motion", type=Path, help="log of ARBot (.csv) or episode (.mcap)"
    )
    parser.add_argument("--n", type=int, default=REPLAYS, help="replays (default: 5)")
    parser.add_argument(
        "--pause", type=float, default=PAUSE, help="between replays, [s] (default: 30)"
    )
    parser.add_argument(
        "--beside",
        type=Path,
        nargs="+",
        default=[],
        metavar="TRIAL",
        help="other trials of the same human, to compare with",
    )
    parser.add_argument("--out", type=Path, required=True, help="a new folder")
    add_settings(parser)


def _repeat(args: argparse.Namespace) -> int:
    if args.n < 1:
        raise ConfigError(f"repeat: expected --n of 1 and more, got {args.n}")
    if not (math.isfinite(args.pause) and 0.0 <= args.pause <= _LONGEST):
        raise ConfigError(
            f"repeat: expected --pause 0 … {_LONGEST:g} s, got {args.pause:g}"
        )
    missing = [path for path in (args.motion, *args.beside) if not path.exists()]
    if missing:
        raise ConfigError(
            f"repeat: expected a motion, got '{missing[0]}'; no such file"
        )
    with SlowWork("reading the motion"):
        protocol = prepare(args.motion, args.beside, args.out)
    before = set(args.out.glob("episode_*.mcap"))
    own = list_settings(protocol, args.n, args.pause)
    code = run(resolve([*args.settings, *own]))
    made = sorted(set(args.out.glob("episode_*.mcap")) - before)
    if code not in {0, NOT_FOLLOWED} or not made:
        complain(f"repeat: {len(made)} of {args.n} replays; nothing was compared")
        return code or 1
    with SlowWork("reading the replays") as work:
        index = collect(protocol, made)
        work.note("measuring the replays")
        figures, results = evaluate_set(read_index(index), work)
    page = find_report([index], args.out)
    told = f"report: {page}"
    try:
        with SlowWork("drawing the report"):
            write_set(figures, results, page)
    except MissingDependency as err:
        complain(str(err))
        told = f"figures: {page.with_suffix('.json')}"
    say(f"{describe_set(figures)}\n\n{told}")
    return code


REPEAT = Verb(
    name="repeat",
    summary="Have a robot replay one human motion several times; compare the two.",
    help=f"""\
ARBot's replay protocol: the first pose for {LEAD:g} s at {LEAD_RATE:g} Hz, the motion
at its own stamps, and a pause, n times. Writes a recording and robot_N.csv of each,
trials.csv, and a report with the ITV of both, as `paprle evaluate FOLDER` does.

{SETTINGS}

examples:
  paprle repeat H1.csv --beside H2.csv H3.csv --out OUT follower=piper env=mujoco
  paprle repeat H1.csv --out OUT follower=piper env=mujoco session.clock=virtual

{EXIT_CODES}""",
    add_arguments=_add_repeat,
    run=_repeat,
)
