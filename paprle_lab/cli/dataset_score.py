"""Verb ``dataset score``."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from paprle.cli.verb import Verb, say
from paprle.contracts.errors import ConfigError, MissingDependency
from paprle.hosts.operator.slow_work import SlowWork
from paprle_lab.scoring.report import draw_set, list_lines, write_scores
from paprle_lab.scoring.scoring import is_lerobot, score_places
from paprle_lab.scoring.spool import Spool

_WORD = "dataset score: "


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("places", nargs="+", type=Path, metavar="DIR", help="data sets or recordings")
    add("--out", type=Path, help="folder for scores.csv, scores.json and scores.html")
    add(
        "--no-images",
        action="store_true",
        help="of data sets, read rows alone: quick, and cameras are unknown",
    )


def _run(args: argparse.Namespace) -> int:
    groups = _group(args.places)
    sets, pictures = [], []
    for places in groups:
        with SlowWork("reading episodes") as work, Spool() as spool:
            scored = score_places(
                places, spool, has_images=not args.no_images, work=work
            )
            sets.append(scored)
            if args.out is not None:
                work.note("drawing plots")
                pictures.append(draw_set(scored, spool))
        for line in list_lines(scored):
            say(line)
    if args.out is not None:
        write_scores(args.out, sets, pictures)
        say(f"page: {args.out / 'scores.html'}")
    return 1 if any(scored.n_faults for scored in sets) else 0


def _group(places: Sequence[Path]) -> list[list[Path]]:
    """Return the recordings as one set, and each data set by itself."""
    for place in places:
        if not place.exists():
            raise ConfigError(f"{_WORD}expected a folder, got none at '{place}'")
    found = [place for place in places if is_lerobot(place)]
    if found and find_spec("pyarrow") is None:
        raise MissingDependency(
            f"{_WORD}expected the package 'pyarrow', got none; install it with: "
            "pip install 'paprle[data]'"
        )
    recordings = [place for place in places if place not in found]
    return [*([recordings] if recordings else []), *([place] for place in found)]


SCORE = Verb(
    name="dataset score",
    summary="Score and rank episodes of recordings or LeRobot v3 sets; find faults.",
    help="""\
Each episode gets a score of 0 … 100 and reasons, the most important first: time in
which nothing moves, detours, jerk, frozen and missing images, failure; of recordings
also clutches, the gate's interventions and lost tracking. A measure that cannot be
known is unknown, never zero, and costs nothing.

Faults make an episode useless, and the exit code 1: an action shifted against the
state, a stuck camera, a rate that fits neither times nor motion, exchanged arms,
another unit, a duplicate, no motion, a jump in the first frame. A low score is no
fault.

Compare scores within a set: detours, units and usual lags are those of its episodes.
`paprle dataset create --min-score 60` leaves out recordings below a score;
`paprle dataset edit --delete` removes episodes of a data set.

examples:
  paprle dataset score DATA
  paprle dataset score OUT --out SCORES
  paprle dataset score DATA --no-images
  paprle dataset create OUT --out DATA --min-score 60""",
    add_arguments=_add_arguments,
    run=_run,
)
