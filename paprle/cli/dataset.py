"""The verb for data sets: ``dataset create`` and ``dataset check``."""

from __future__ import annotations

import argparse
from pathlib import Path

from paprle.cli.verb import Verb, say
from paprle.contracts.errors import ConfigError
from paprle.dataset.check import check
from paprle.dataset.create import create

_FASTEST = 1000  # [Hz] chosen: no gate is quicker


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("create", "check"))
    parser.add_argument(
        "places",
        nargs="+",
        type=Path,
        metavar="DIR",
        help="folders with recordings, or .mcap files",
    )
    parser.add_argument("--format", choices=("lerobot", "hdf5"), default="lerobot")
    parser.add_argument("--out", type=Path, help="create: folder of the data set")
    parser.add_argument(
        "--fps",
        type=int,
        help="create: frames a second (default: of the slowest camera, or 30)",
    )


def _run(args: argparse.Namespace) -> int:
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
check tells of frozen or missing images, gaps, drift, jumps, copies and missing labels;
the exit code is 1 where it found any.

examples:
  paprle dataset check OUT
  paprle dataset create OUT --out DATA
  paprle dataset create OUT --format hdf5 --out DATA --fps 50""",
    add_arguments=_add_arguments,
    run=_run,
)
