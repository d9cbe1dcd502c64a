"""The verb for data sets: ``dataset create`` and ``dataset check``."""

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
from paprle.dataset.check import check
from paprle.dataset.create import create
from paprle.dataset.live import Actions
from paprle.hosts.factories import make_camera
from paprle.hosts.plan import make_robot

_FASTEST = 1000  # [Hz] chosen: no gate is quicker


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("create", "check", "columns"))
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


def _run(args: argparse.Namespace) -> int:
    if args.what == "columns":
        say(json.dumps(_list_columns(args.places)))
        return 0
    args.places = [Path(place) for place in args.places]
    if args.what == "check":
        return _check(args)
    if args.out is None:
        raise ConfigError("dataset create: expected --out FOLDER, got none")
    if args.fps is not None and not 1 <= args.fps <= _FASTEST:
        raise ConfigError(
            f"dataset create: expected --fps 1 … {_FASTEST}, got {args.fps}"
        )
    report = create(args.places, args.out, args.format, fps=args.fps, say=say)
    for line in report.lines():
        say(line)
    say(f"data set: {args.out}")
    return 0 if report.n_episodes else 1


def _list_columns(words: Sequence[str]) -> dict[str, Any]:
    """Return what a data set of such a session has: names of joints, cameras."""
    resolved = resolve(["leader=autopilot", *words])
    cameras = {k: make_camera(resolved, k).info for k in list_named(resolved.cameras)}
    return {
        "action": list(Actions(make_robot(resolved).info, "joints").names),
        "cameras": {k: [one.height, one.width, 3] for k, one in cameras.items()},
    }


def _check(args: argparse.Namespace) -> int:
    findings = check(args.places)
    for finding in findings:
        say(str(finding))
    return 1 if findings else 0


DATASET = Verb(
    name="dataset",
    summary="Make a data set of recorded episodes for training, or look for what "
    "spoils it.",
    help="""\
create writes LeRobot v3.0 (`--format lerobot`) or ALOHA's HDF5 (`--format hdf5`) of all
episodes that were kept, at one rate, and tells what was interpolated, held or dropped.
A run that was stopped goes on where it was; later episodes are added to what is there.
columns prints names of joints and sizes of images as JSON (follower=… env=…).
check tells of frozen or missing images, gaps, drift, jumps, copies and missing labels;
the exit code is 1 where it found any.

examples:
  paprle dataset check OUT
  paprle dataset create OUT --out DATA
  paprle dataset create OUT --format hdf5 --out DATA --fps 50""",
    add_arguments=_add_arguments,
    run=_run,
)
