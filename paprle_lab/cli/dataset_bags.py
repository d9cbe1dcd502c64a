"""Verbs ``dataset inspect`` and ``dataset convert``."""

from __future__ import annotations

import argparse
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from paprle.cli.verb import Verb, say
from paprle.contracts.errors import ConfigError, MissingDependency
from paprle.hosts.operator.slow_work import SlowWork


def _add_inspect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("place", type=Path, metavar="BAG", help="a bag, or a folder of")
    parser.add_argument("--out", type=Path, help="new file for the drafted mapping")


def _inspect(args: argparse.Namespace) -> int:
    _check_packages("dataset inspect: ")
    files = import_module("paprle_lab.conversion.bags.message_files")
    inspection = import_module("paprle_lab.conversion.bags.inspection")
    draft = import_module("paprle_lab.conversion.bags.draft")
    bags = files.list_bags([args.place])
    with SlowWork(f"looking at {bags[0].name}"):
        seen = inspection.inspect_bag(bags[0])
    for line in seen.lines():
        say(line)
    if len(bags) > 1:
        say(f"{len(bags) - 1} more bags in {args.place}")
    text = draft.draft_mapping(seen)
    if args.out is None:
        say("")
        say(text.rstrip())
        return 0
    try:
        with args.out.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as err:
        raise ConfigError(f"--out: expected a new file, got {err}") from err
    n = text.count("CHECK") - 1
    say(f"mapping: {args.out}; {n} lines to check, then:")
    say(f"  paprle dataset convert {args.place} --mapping {args.out} --out DATA")
    return 0


def _add_convert(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("places", nargs="+", type=Path, metavar="BAG", help="bags, or folders of bags")
    add("--mapping", type=Path, required=True, help="of `paprle dataset inspect`")
    add("--out", type=Path, required=True, help="folder of the data set")
    add("--task", help="of the bags of this command (default: of the mapping)")
    add(
        "--images",
        choices=("newest", "nearest"),
        default="newest",
        help="of a row, the newest image at or before it, or the nearest",
    )


def _convert(args: argparse.Namespace) -> int:
    _check_packages("dataset convert: ")
    files = import_module("paprle_lab.conversion.bags.message_files")
    mapping = import_module("paprle_lab.conversion.bags.mapping")
    conversion = import_module("paprle_lab.conversion.bags.convert_bags")
    wanted = mapping.read_mapping(args.mapping)
    if args.task is not None:
        wanted = replace(wanted, task=args.task)
    bags = files.list_bags(args.places)
    with SlowWork("reading bags") as work:
        report: Any = conversion.convert_bags(
            bags, wanted, args.out, choice=args.images, work=work
        )
    for line in report.lines():
        say(line)
    say(f"data set: {args.out}")
    return 1 if report.left_out or not report.n_episodes else 0


def _check_packages(word: str) -> None:
    for name in ("pyarrow", "av"):
        if find_spec(name) is None:
            raise MissingDependency(
                f"{word}expected the package '{name}', got none; install it with: "
                "pip install 'paprle[data]'"
            )


INSPECT = Verb(
    name="dataset inspect",
    summary="List the topics of a bag and draft a mapping to a data set.",
    help="""\
Reads ROS bags (.mcap, .db3, .bag, folders of ros2 bag) and MCAP files of others with
ROS, JSON or Protobuf messages. Prints topics, types, rates and fields, and the draft of
a mapping for `dataset convert`. Lines of the draft with CHECK are guesses.

examples:
  paprle dataset inspect BAG
  paprle dataset inspect BAGS --out mapping.yaml""",
    add_arguments=_add_inspect,
    run=_inspect,
)
CONVERT = Verb(
    name="dataset convert",
    summary="Make a LeRobot v3 data set of ROS bags or MCAP files of others.",
    help="""\
Each bag becomes an episode, or several where a topic of the mapping is silent for
longer than max_gap. Bags that are damaged, or lack a topic, are left out, and the exit
code is 1. A stopped run is resumed; later bags are added by the same command.

examples:
  paprle dataset inspect BAGS --out mapping.yaml
  paprle dataset convert BAGS --mapping mapping.yaml --out DATA
  paprle dataset convert MORE --mapping mapping.yaml --out DATA --task "pick cube\"""",
    add_arguments=_add_convert,
    run=_convert,
)
