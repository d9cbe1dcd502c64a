"""Verbs ``dataset inspect`` and ``dataset convert``."""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from paprle.cli.verb import Verb, say
from paprle.contracts.errors import ConfigError, MissingDependency
from paprle.hosts.operator.slow_work import SlowWork


def _add_inspect(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("place", type=Path, metavar="FILE", help="a file, or a folder")
    parser.add_argument("--out", type=Path, help="new file for the drafted mapping")


def _inspect(args: argparse.Namespace) -> int:
    _check_packages("dataset inspect: ")
    files, is_table = _list_files([args.place])
    with SlowWork(f"looking at {files[0].name}"):
        lines, text = (_look_at_table if is_table else _look_at_bag)(files[0])
    for line in lines:
        say(line)
    if len(files) > 1:
        say(f"{len(files) - 1} more files in {args.place}")
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


def _look_at_bag(path: Path) -> tuple[list[str], str]:
    inspection = import_module("paprle_lab.conversion.bags.inspection")
    draft = import_module("paprle_lab.conversion.bags.draft")
    seen = inspection.inspect_bag(path)
    return list(seen.lines()), draft.draft_mapping(seen)


def _look_at_table(path: Path) -> tuple[list[str], str]:
    files = import_module("paprle_lab.conversion.tables.table_files")
    draft = import_module("paprle_lab.conversion.tables.table_draft")
    with files.open_table(path) as table:
        return list(draft.list_contents(table)), draft.draft_table(table)


def _list_files(places: list[Path]) -> tuple[list[Path], bool]:
    """Return files, and whether they are tables and not bags."""
    tables = import_module("paprle_lab.conversion.tables.table_files")
    bags = import_module("paprle_lab.conversion.bags.message_files")
    are_tables = []
    for place in places:
        inside = [place, *place.rglob("*")] if place.is_dir() else [place]
        are_tables.append(any(map(tables.is_table, inside)))
    if any(are_tables) and not all(are_tables):
        raise ConfigError("expected bags, or HDF5 and zarr files, got both")
    if all(are_tables):
        return tables.list_tables(places), True
    return bags.list_bags(places), False


def _add_convert(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("places", nargs="+", type=Path, metavar="FILE", help="files, or folders")
    add("--mapping", type=Path, required=True, help="of `paprle dataset inspect`")
    add("--out", type=Path, required=True, help="folder of the data set")
    add("--task", help="of the files of this command (default: of the mapping)")
    add(
        "--images",
        choices=("newest", "nearest"),
        default="newest",
        help="bags: of a row, the newest image at or before it, or the nearest",
    )


def _convert(args: argparse.Namespace) -> int:
    _check_packages("dataset convert: ")
    mapping = import_module("paprle_lab.conversion.mapping")
    conversion = import_module("paprle_lab.conversion.convert")
    files, is_table = _list_files(args.places)
    wanted = mapping.read_mapping(args.mapping, is_table=is_table)
    if args.task is not None:
        wanted = replace(wanted, task=args.task)
    with SlowWork("reading files") as work:
        open_rows = _make_opener(wanted, args.images, work, is_table=is_table)
        report: Any = conversion.convert(
            files, wanted, args.out, open_rows, choice=args.images, work=work
        )
    for line in report.lines():
        say(line)
    say(f"data set: {args.out}")
    return 1 if report.left_out or not report.n_episodes else 0


def _make_opener(wanted: Any, images: str, work: Any, *, is_table: bool) -> Any:
    if is_table:
        tables = import_module("paprle_lab.conversion.tables.table_rows")
        return partial(tables.open_table_rows, mapping=wanted, work=work)
    bags = import_module("paprle_lab.conversion.bags.bag_rows")
    return partial(bags.open_bag_rows, mapping=wanted, choice=images, work=work)


def _check_packages(word: str) -> None:
    for name in ("pyarrow", "av", "h5py", "zarr"):
        if find_spec(name) is None:
            raise MissingDependency(
                f"{word}expected the package '{name}', got none; install it with: "
                "pip install 'paprle[data]'"
            )


INSPECT = Verb(
    name="dataset inspect",
    summary="List the contents of a file of others and draft a mapping to a data set.",
    help="""\
Reads ROS bags (.mcap, .db3, .bag, folders of ros2 bag), MCAP files of others with ROS,
JSON or Protobuf messages, HDF5 of ACT, ALOHA and robomimic, and zarr of UMI. Prints
topics or arrays, and the draft of a mapping for `dataset convert`. Lines of the draft
with CHECK are guesses.

examples:
  paprle dataset inspect BAG
  paprle dataset inspect BAGS --out mapping.yaml
  paprle dataset inspect episode_0.hdf5 --out mapping.yaml""",
    add_arguments=_add_inspect,
    run=_inspect,
)
CONVERT = Verb(
    name="dataset convert",
    summary="Make a LeRobot v3 data set of bags, HDF5 or zarr files of others.",
    help="""\
Each bag becomes an episode, or several where a topic of the mapping is silent for
longer than max_gap; HDF5 and zarr files have episodes of their own. Files that are
damaged, or lack a topic or array, are left out, and the exit code is 1. A stopped run
is resumed; later files are added by the same command.

examples:
  paprle dataset inspect BAGS --out mapping.yaml
  paprle dataset convert BAGS --mapping mapping.yaml --out DATA
  paprle dataset convert MORE --mapping mapping.yaml --out DATA --task "pick cube\"""",
    add_arguments=_add_convert,
    run=_convert,
)
