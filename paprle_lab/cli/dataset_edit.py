"""Verb ``dataset edit``."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from paprle.cli.verb import Verb, say
from paprle.contracts.errors import ConfigError, MissingDependency
from paprle.hosts.operator.slow_work import SlowWork
from paprle_lab.editing.edit_recordings import edit_recordings
from paprle_lab.editing.edit_recordings import undo as undo_recordings
from paprle_lab.editing.edits import Edits

_WORD = "dataset edit: "


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("places", nargs="+", type=Path, metavar="DIR", help="data sets or recordings")
    add("--out", type=Path, help="new folder (default: in place, with a way back)")
    add("--delete", metavar="EPISODES", default="", help="such as 0,3,7-9")
    add(
        "--trim",
        nargs=2,
        action="append",
        default=[],
        metavar=("EPISODES", "BEGIN:END"),
        help="keep these times [s] of an episode; either may be left out",
    )
    add("--task", metavar="TEXT", help="of all episodes")
    add(
        "--task-of",
        nargs=2,
        action="append",
        default=[],
        metavar=("EPISODES", "TEXT"),
        help="of some episodes",
    )
    for name, of in (("task", "a task"), ("feature", "a column or camera")):
        add(
            f"--rename-{name}",
            nargs=2,
            action="append",
            default=[],
            metavar=("OLD", "NEW"),
            help=f"of {of}",
        )
    add(
        "--remove-feature",
        action="append",
        default=[],
        metavar="NAME",
        help="a column or camera",
    )
    add(
        "--split",
        action="append",
        default=[],
        metavar="NAME=PART",
        help="parts as folders of --out: shares (train=0.8) or episodes (val=40-49)",
    )
    add("--recompute-stats", action="store_true", help="from all data")
    add("--to", choices=("v2.1",), help="another version: files for each episode")
    add("--undo", action="store_true", help="put back what the last edit replaced")


def _run(args: argparse.Namespace) -> int:
    edits = _read_edits(args)
    are_recordings = [_holds_recordings(place) for place in args.places]
    if any(are_recordings) and not all(are_recordings):
        raise ConfigError(_WORD + "expected recordings or data sets, got both")
    if all(are_recordings):
        return _edit_recordings(args, edits)
    return _edit_sets(args, edits)


def _edit_sets(args: argparse.Namespace, edits: Edits) -> int:
    editing = _load_editing()
    if args.undo:
        for place in args.places:
            back, undone = editing.undo(place)
            say(f"data set: {back}, as it was; the edited one: {undone}")
        return 0
    if not edits.describe() and len(args.places) == 1:
        raise ConfigError(_WORD + "expected an edit, got none; see --help")
    with SlowWork("reading tables") as work:
        written = editing.edit_sets(args.places, edits, args.out, work)
    for one in written:
        say(f"data set: {one.root}: {one.n_episodes} episodes, {one.n_frames} frames")
        if one.before is not None:
            say(f"before: {one.before}; back: paprle dataset edit {one.root} --undo")
    return 0


def _edit_recordings(args: argparse.Namespace, edits: Edits) -> int:
    if args.undo:
        paths = undo_recordings(args.places)
    else:
        with SlowWork("editing recordings") as work:
            paths = edit_recordings(args.places, edits, args.out, work)
    for path, told in paths:
        say(f"{path}: {told}")
    return 0


def _load_editing() -> Any:
    for name in ("pyarrow", "av"):
        if find_spec(name) is None:
            raise MissingDependency(
                f"{_WORD}expected the package '{name}', got none; install it with: "
                "pip install 'paprle[data]'"
            )
    return import_module("paprle_lab.editing.edit_set")


def _holds_recordings(place: Path) -> bool:
    if not place.exists():
        raise ConfigError(f"{_WORD}expected a folder, got none at '{place}'")
    if place.is_file():
        return place.suffix == ".mcap"
    return not (place / "meta").is_dir() and any(place.rglob("episode_*.mcap"))


def _read_edits(args: argparse.Namespace) -> Edits:
    trims = {
        episode: _read_span(span)
        for episodes, span in args.trim
        for episode in _read_numbers("--trim", episodes)
    }
    tasks = {
        episode: _read_text("--task-of", text)
        for episodes, text in args.task_of
        for episode in _read_numbers("--task-of", episodes)
    }
    shares, parts = dict[str, float](), dict[str, tuple[int, ...]]()
    for word in args.split:
        name, _, value = word.partition("=")
        if not name or "/" in name or name.startswith(".") or not value:
            raise ConfigError(f"{_WORD}expected --split NAME=PART, got '{word}'")
        if "." in value:
            shares[name] = _read_number("--split", value)
        else:
            parts[name] = tuple(_read_numbers("--split", value))
    numbers = _read_numbers("--delete", args.delete) if args.delete else []
    return Edits(
        deleted=frozenset(numbers),
        trims=trims,
        task=None if args.task is None else _read_text("--task", args.task),
        tasks=tasks,
        renamed_tasks={
            old: _read_text("--rename-task", new) for old, new in args.rename_task
        },
        removed=tuple(args.remove_feature),
        renamed=dict(args.rename_feature),
        shares=shares,
        parts=parts,
        has_new_stats=args.recompute_stats,
        is_older=args.to == "v2.1",
    )


def _read_numbers(option: str, text: str) -> Sequence[int]:
    """Return the numbers of ``0,3,7-9``."""
    numbers = list[int]()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        ends = (first, last if dash else first)
        if not all(end.isdecimal() and len(end) < 8 for end in ends):
            raise ConfigError(f"{_WORD}expected {option} 0,3,7-9, got '{text}'")
        numbers += range(int(ends[0]), int(ends[1]) + 1)
        if int(ends[0]) > int(ends[1]):
            raise ConfigError(f"{_WORD}expected {option} to count up, got '{part}'")
    return numbers


def _read_span(text: str) -> tuple[float, float]:
    first, colon, last = text.partition(":")
    begin = _read_number("--trim", first) if first else 0.0
    end = _read_number("--trim", last) if last else math.inf
    if not colon or not 0.0 <= begin < end:
        raise ConfigError(f"{_WORD}expected --trim N BEGIN:END in [s], got '{text}'")
    return begin, end


def _read_number(option: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ConfigError(f"{_WORD}expected a number for {option}, got '{text}'")
    return value


def _read_text(option: str, text: str) -> str:
    if not text.strip():
        raise ConfigError(f"{_WORD}expected words for {option}, got none")
    return text


EDIT = Verb(
    name="dataset edit",
    summary="Edit a LeRobot v3 data set of anybody, or recordings.",
    help="""\
Episodes have the numbers of the set that is there, from 0; all edits of one command are
made in one pass. Several sets are merged. Videos are copied without a loss. Statistics
of whole episodes are kept; --recompute-stats computes all of them from the data.

Without --out the set is replaced and stays beside as NAME.before-1; --undo puts it
back. meta/edits.json lists what was done.

Recordings are never rewritten: tasks, deletions and trims go into their .json, for
`dataset create`, and --undo takes them back; --out copies them (merge, --split).
They are numbered in the order of their names.

examples:
  paprle dataset edit DATA --delete 0,3,7-9 --out CLEAN
  paprle dataset edit DATA --trim 4 0.5:12 --task "pick up the cube"
  paprle dataset edit DATA --rename-task "pick cube" "pick up the cube"
  paprle dataset edit DATA --split train=0.8 --split val=0.2 --out PARTS
  paprle dataset edit MONDAY TUESDAY --out WEEK
  paprle dataset edit DATA --remove-feature observation.images.wrist --out SMALL
  paprle dataset edit DATA --to v2.1 --out OLDER
  paprle dataset edit DATA --undo
  paprle dataset edit OUT --delete 2""",
    add_arguments=_add_arguments,
    run=_run,
)
