"""Verb ``dataset push``."""

from __future__ import annotations

import argparse
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from paprle.cli.verb import Verb, say
from paprle.contracts.errors import MissingDependency
from paprle.hosts.operator.slow_work import SlowWork


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("place", type=Path, metavar="DATA", help="folder of a LeRobot data set")
    add("repo", metavar="USER/NAME", help="data set on the Hub")
    add("--license", default="", metavar="ID", help="such as cc-by-4.0 or apache-2.0")
    add("--public", action="store_true", help="visible to all (default: private)")
    add(
        "--dry-run",
        action="store_true",
        help="print what it shows of people and places, and upload nothing",
    )


def _run(args: argparse.Namespace) -> int:
    if find_spec("pyarrow") is None:
        raise MissingDependency(
            "dataset push: expected the package 'pyarrow', got none; install it with: "
            "pip install 'paprle[data,hub]'"
        )
    hub = import_module("paprle_lab.dataset.hub")
    for line in hub.list_private(args.place):
        say(line)
    if args.dry_run:
        return 0
    with SlowWork("asking the Hub") as work:
        done = hub.push(
            args.place,
            args.repo,
            license_id=args.license,
            is_public=args.public,
            work=work,
        )
    say(f"{done.n_files} files, {done.n_bytes * 1e-6:.1f} MB: {done.url}")
    say(f"  lerobot-train --dataset.repo_id={args.repo} --policy.type=act")
    return 0


PUSH = Verb(
    name="dataset push",
    summary="Upload a LeRobot data set to the Hugging Face Hub.",
    help="""\
Prints what the set shows of people and places, then uploads it with its card and the
tag of its version, by which LeRobot loads it. A set is private unless --public; a
public one needs a licence. The same command uploads a set that has grown or was edited.

examples:
  hf auth login
  paprle dataset push DATA me/circle --dry-run
  paprle dataset push DATA me/circle --license cc-by-4.0 --public""",
    add_arguments=_add_arguments,
    run=_run,
)
