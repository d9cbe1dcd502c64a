"""Verbs ``study plan``, ``run``, ``status`` and ``export``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from paprle.cli.verb import Verb, complain, say
from paprle.contracts.errors import ConfigError, MissingDependency
from paprle.contracts.kit.text import make_printable
from paprle_lab.study.answer_log import Book
from paprle_lab.study.export import describe, export, make_tables
from paprle_lab.study.latin import is_balanced
from paprle_lab.study.plan import Study, deal_study, open_study, read_plan
from paprle_lab.study.runner import StudyDialogue, lead


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("plan", "run", "status", "export"))
    parser.add_argument("place", type=Path, help="plan: the YAML; else: the folder")
    parser.add_argument("participant", nargs="?", help="run: whose turn it is")
    parser.add_argument("--out", type=Path, help="plan, export: where to write")


def _run(args: argparse.Namespace) -> int:
    if (args.participant is None) == (args.what == "run"):
        told = "a participant" if args.what == "run" else "no participant"
        raise ConfigError(f"study {args.what}: expected {told}")
    if args.what == "plan":
        return _plan(args)
    study = open_study(args.place)
    if args.what == "run":
        return lead(Book(study, args.participant), StudyDialogue(say, _ask))
    if args.what == "export":
        return _export(study, args.out or study.folder)
    for participant, order in study.orders.items():
        left = len(Book(study, participant).list_open())
        of = len(study.list_steps(participant))
        say(f"{participant}  {of - left:3d} of {of}  {' → '.join(order)}")
    return 0


def _plan(args: argparse.Namespace) -> int:
    if args.out is None:
        raise ConfigError("study plan: expected --out FOLDER, got none")
    plan = read_plan(args.place)
    study = deal_study(plan, args.out)
    for participant, order in study.orders.items():
        say(f"{participant}  {' → '.join(order)}")
    if not is_balanced(len(plan.conditions), plan.participants):
        say(
            f"note: {plan.participants} participants are not balanced over "
            f"{len(plan.conditions)} conditions"
        )
    first = next(iter(study.orders))
    say(f"study: {args.out}; the first: paprle study run {args.out} {first}")
    return 0


def _ask(question: str) -> str | None:
    sys.stdout.write(make_printable(question))
    sys.stdout.flush()
    line = sys.stdin.readline()
    return line.rstrip("\n") if line else None


def _export(study: Study, out: Path) -> int:
    try:
        tables, written = export(study, out)
    except MissingDependency as err:
        complain(str(err))
        tables, written = make_tables(study), sorted(out.glob("*.csv"))
    for line in describe(study, tables):
        say(line)
    for path in written:
        say(f"written: {path}")
    return 0


STUDY = Verb(
    name="study",
    summary="Lead people through a study; collect what they did and answered.",
    help="""\
plan assigns the conditions of a YAML to participants by a balanced Latin square, and
gives them pseudonyms, both from the plan's seed. run leads a participant through
sessions and questionnaires at the terminal, and resumes where it was interrupted.
status shows the progress of each. export writes answers, scores and sessions as CSV and
Parquet, and trials.csv for `paprle evaluate`. Nothing leaves this machine
(docs/studies.md).

examples:
  paprle study plan study.yaml --out STUDY
  paprle study run STUDY K7QX
  paprle study export STUDY --out TABLES""",
    add_arguments=_add_arguments,
    run=_run,
)
