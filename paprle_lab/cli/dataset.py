"""Verbs ``dataset create`` and ``dataset check``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paprle.cli.verb import Verb, say
from paprle.config import resolve
from paprle.config.laws import list_named
from paprle.contracts.errors import ConfigError
from paprle.hosts.factories import list_objects, make_camera
from paprle.hosts.operator.slow_work import SlowWork
from paprle.hosts.plan import make_robot
from paprle.observation.live import Observations, PolicyActions
from paprle_lab.dataset.check import check
from paprle_lab.dataset.create import create
from paprle_lab.dataset.episodes import Selection
from paprle_lab.scoring.scoring import find_refused
from paprle_lab.trials.labels import find_by_layout, write_index
from paprle_lab.trials.schema import check_set, index_trials

_FASTEST = 1000  # [Hz] chosen: no gate is quicker


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("create", "check", "columns", "index"))
    parser.add_argument(
        "places",
        nargs="+",
        metavar="DIR",
        help="folders with recordings, or .mcap files; columns: follower=… env=…",
    )
    parser.add_argument("--format", choices=("lerobot", "hdf5"), default="lerobot")
    parser.add_argument("--out", type=Path, help="create: folder of the data set")
    parser.add_argument(
        "--fps",
        type=int,
        help="create: frames a second (default: of the slowest camera, or 30)",
    )
    parser.add_argument(
        "--keep-undriven",
        action="store_true",
        help="create: frames that no leader drove, too: alignment, pauses",
    )
    parser.add_argument(
        "--images",
        choices=("newest", "nearest"),
        default="newest",
        help="create: of a frame, the newest image at or before it, which a policy "
        "has at run time, too, or the nearest (default: newest)",
    )
    parser.add_argument(
        "--min-score",
        type=float,
        help="create: leave out recordings below this score of `dataset score`",
    )
    parser.add_argument(
        "--schema", choices=("arbot",), help="check: of a set of logs, ARBot's"
    )
    parser.add_argument(
        "--layout",
        help="index: how paths are made of labels, for example "
        "'{user}/{mode}/{task}_{trial}.csv'",
    )


def _run(args: argparse.Namespace) -> int:
    if args.what == "columns":
        say(json.dumps(_list_columns(args.places)))
        return 0
    args.places = [Path(place) for place in args.places]
    if args.what == "index":
        return _index(args)
    if args.what == "check":
        return _check_set(args) if args.schema else _check(args)
    if args.out is None:
        raise ConfigError("dataset create: expected --out FOLDER, got none")
    if args.fps is not None and not 1 <= args.fps <= _FASTEST:
        raise ConfigError(
            f"dataset create: expected --fps 1 … {_FASTEST}, got {args.fps}"
        )
    with SlowWork("reading recordings") as work:
        refused = _find_refused(args, work)
        report = create(
            args.places,
            args.out,
            args.format,
            fps=args.fps,
            selection=Selection(args.keep_undriven, refused, args.images),
            work=work,
        )
    for line in report.lines():
        say(line)
    say(f"data set: {args.out}")
    return 0 if report.n_episodes else 1


def _find_refused(args: argparse.Namespace, work: SlowWork) -> dict[Path, str]:
    if args.min_score is None:
        return {}
    if not 0.0 <= args.min_score <= 100.0:
        raise ConfigError(
            f"dataset create: expected --min-score 0 … 100, got {args.min_score:g}"
        )
    return find_refused(args.places, args.min_score, work)


def _list_columns(words: Sequence[str]) -> dict[str, Any]:
    resolved = resolve(["leader=autopilot", *words])
    cameras = {k: make_camera(resolved, k).info for k in list_named(resolved.cameras)}
    robot = make_robot(resolved).info
    seen = Observations(robot, cameras, list_objects(resolved))
    return {
        "action": list(PolicyActions(robot, "joints").names),
        "objects": seen.object_names,
        "cameras": {k: [cameras[k].height, cameras[k].width, 3] for k in seen.cameras},
    }


def _index(args: argparse.Namespace) -> int:
    if args.layout is None:
        raise ConfigError("dataset index: expected --layout, got none")
    for folder in args.places:
        trials = index_trials(find_by_layout(folder, args.layout))
        say(f"{write_index(folder, trials)}: {len(trials)} trials")
    return 0


def _check_set(args: argparse.Namespace) -> int:
    n_faults = 0
    for place in args.places:
        with SlowWork(f"checking {place}") as work:
            findings, told = check_set(place, work)
        for finding in findings:
            say(str(finding))
        own = sum(finding.is_fault for finding in findings)
        say(f"{place}: {told}; {own} faults, {len(findings) - own} notes")
        n_faults += own
    return 1 if n_faults else 0


def _check(args: argparse.Namespace) -> int:
    with SlowWork("reading recordings") as work:
        findings = check(args.places, say, work)
    for finding in findings:
        say(str(finding))
    return 1 if findings else 0


DATASET = Verb(
    name="dataset",
    summary="Make a data set of recorded episodes for training, or check for faults.",
    help="""\
create writes LeRobot v3.0 (`--format lerobot`) or ALOHA's HDF5 (`--format hdf5`) of all
episodes that were kept, at one rate, and reports what was interpolated, held or
dropped. Frames that no leader drove (alignment, pauses) are left out unless
--keep-undriven is given. A stopped run is resumed; later episodes are added to an
existing data set. --min-score leaves out recordings below a score, with the reason
(`paprle dataset score OUT`).
columns prints names of joints, coordinates of objects and sizes of images as JSON
(follower=… env=…).
check prints the share of each episode's frames that a leader drove, and reports frozen
or missing images, gaps, drift, jumps, copies, missing labels and episodes that were
mostly not driven; the exit code is 1 where it found any.
index writes trials.csv for a folder of ARBot's logs: users, tasks, modes by --layout,
real rates, duplicates, gaps, SHA-256. check --schema arbot compares a set with
ARBot's 132 trajectories, their units and what the index says; repeated stamps and
a rate below the paper's are notes, all else is a fault (exit code 1).

examples:
  paprle dataset check OUT
  paprle dataset create OUT --out DATA
  paprle dataset index LOGS --layout '{user}/{mode}/{task}_{trial}.csv'
  paprle dataset check LOGS --schema arbot
  paprle dataset create OUT --format hdf5 --out DATA --fps 50""",
    add_arguments=_add_arguments,
    run=_run,
)
