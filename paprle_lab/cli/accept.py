"""Verb ``accept``: accepts a rig."""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from paprle.cli.interactive import end_softly
from paprle.cli.verb import SETTINGS, Verb, add_settings, say
from paprle.config import Resolved, resolve
from paprle.contracts.errors import ConfigError
from paprle.hosts.factories import make_leaders
from paprle.hosts.operator.slow_work import SlowWork
from paprle.hosts.plan import make_plan
from paprle.hosts.precompile import compile_once
from paprle.ipc.loop import request_realtime
from paprle_lab.acceptance.check import Kit
from paprle_lab.acceptance.kit import Run
from paprle_lab.acceptance.led import find_leader_info
from paprle_lab.acceptance.person import Person, Quit
from paprle_lab.acceptance.privacy import clean
from paprle_lab.acceptance.report import (
    AcceptanceReport,
    find_emulated,
    find_names,
    find_settings,
    find_versions,
)
from paprle_lab.acceptance.table import HOOKS, TABLE

_NAMES = tuple(check.name for check in TABLE)


def _add_accept(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--yes", action="store_true", help="ask nobody: for emulated robots alone"
    )
    parser.add_argument(
        "--only", default="", metavar="NAME,…", help=f"of {', '.join(_NAMES)}"
    )
    parser.add_argument(
        "--hook",
        action="append",
        default=[],
        metavar="MOMENT=COMMAND",
        help=f"do it instead of a person's hands; moments: {', '.join(HOOKS)}",
    )
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="of the recording (default: 20)"
    )
    parser.add_argument(
        "--out", type=Path, default=Path(), help="folder of the report (default: here)"
    )
    add_settings(parser)


def _accept(args: argparse.Namespace) -> int:
    resolved = resolve(args.settings)
    emulated = find_emulated(resolved)
    only, hooks = _read_words(args, resolved, is_emulated="robot" in emulated)
    person = Person(is_absent=args.yes)
    with SlowWork("reading leader, robot and env"):
        plan = make_plan(resolved)
    compile_once()
    run, code = Run(), 0
    with (
        tempfile.TemporaryDirectory(prefix="paprle-accept-") as folder,
        end_softly(),
    ):
        kit = Kit(
            words=args.settings,
            resolved=resolved,
            robot=plan.robot,
            leaders=make_leaders(resolved, robot=plan.robot.info),
            person=person,
            hooks=hooks,
            seconds=args.seconds,
            folder=Path(folder),
        )
        hardware = dict.fromkeys(("leader", "robot"), "not named") | emulated
        if not find_leader_info(kit).is_human:
            hardware["leader"] = emulated["leader"] = "a program"
        request_realtime()
        try:
            hardware |= _name_hardware(person, emulated)
            run.go(kit, TABLE, only)
        except Quit:
            say("ended; the robot is at rest")
        except SystemExit as signalled:
            code = int(str(signalled.code))
            say("ended; the robot is at rest")
    report = AcceptanceReport(
        names=find_names(resolved),
        versions=find_versions(),
        hardware=hardware,
        settings=find_settings(resolved),
        results=run.results,
        n_unconfirmed=person.n_unconfirmed,
        is_whole=run.is_whole,
    )
    _summarise(report, report.write(args.out))
    return code or int(not report.is_accepted)


def _read_words(
    args: argparse.Namespace, resolved: Resolved, *, is_emulated: bool
) -> tuple[list[str], dict[str, list[str]]]:
    only = [name for name in args.only.split(",") if name]
    pairs = [word.partition("=") for word in args.hook]
    problems = [
        f"accept --only: expected some of {', '.join(_NAMES)}, got '{name}'"
        for name in only
        if name not in _NAMES
    ]
    problems += [
        f"accept --hook: expected MOMENT=COMMAND with one of {', '.join(HOOKS)}, got "
        f"'{''.join(pair)}'"
        for pair in pairs
        if pair[0] not in HOOKS or not pair[2]
    ]
    if not 1.0 <= args.seconds <= 600.0:
        problems.append(f"accept --seconds: expected 1 … 600, got {args.seconds:g}")
    if resolved.session.clock != "wall" or resolved.is_gate_afar:
        problems.append(
            "accept: expected session.clock=wall and a robot on this host, got another "
            "clock or link.peer; run it beside the robot"
        )
    if args.yes and not is_emulated:
        problems.append(
            f"accept --yes: expected an emulated or simulated robot, got "
            f"env={resolved.env_name}; a real one moves only with a person beside it"
        )
    if not args.yes and not sys.stdin.isatty():
        problems.append(
            "accept: expected a terminal, at which a person agrees to each check, got "
            "none; for an emulated robot give --yes"
        )
    if problems:
        raise ConfigError(problems)
    return only, {name: shlex.split(command) for name, _, command in pairs}


def _name_hardware(person: Person, emulated: Mapping[str, str]) -> dict[str, str]:
    return {
        part: clean(person.name(f"Name and firmware of the {part}'s hardware:"))
        or "not named"
        for part in ("leader", "robot")
        if part not in emulated
    }


def _summarise(report: AcceptanceReport, path: Path) -> None:
    counts = [r.verdict for r in report.results]
    say(
        f"\n{counts.count('passed')} passed, {counts.count('failed')} failed, "
        f"{counts.count('skipped')} skipped; report: {path}"
    )
    failed = [r for r in report.results if r.verdict == "failed"]
    for result in failed:
        say(f"next, {result.name}: {result.remedy}")
    if failed:
        names = ",".join(result.name for result in failed)
        say(f"then again with --only {names}")
    elif not report.is_whole:
        say("next: run it again to its end")
    else:
        say("next: read the report, and attach it to an entry of the support table")


ACCEPT = Verb(
    name="accept",
    summary="Accept a rig: checks from slow and safe on, each asked for, and a report.",
    help=f"""\
Checks leader, follower and env together, in this order: doctor, start without motion,
limits and Stop at a tenth of speed, the leader's silence, cables pulled, latency,
contact, gripper, recording, clean end. Each is described and asked for (y, skip, quit)
before it begins. Ctrl-C brakes, and keeps a partial report.

The report (Markdown, and JSON beside it) holds versions, names, settings that differ
from the defaults, and the figure, criterion and verdict of each check. It holds no name
of host or user, no folder, address or serial number. docs/acceptance_kit.md

{SETTINGS}

exit codes: 0 all checks that were run have passed, 1 one failed or the person quit,
2 refused, 128+n ended by signal n

examples:
  paprle accept leader=autopilot follower=piper env=kinematic --yes --out OUT
  paprle accept leader=puppeteer_piper follower=piper env=can
  paprle accept leader=puppeteer_piper follower=piper env=can --only silence,latency""",
    add_arguments=_add_accept,
    run=_accept,
)
