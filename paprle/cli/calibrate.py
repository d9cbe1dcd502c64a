"""Verb ``calibrate``: measures a leader and stores the result."""

from __future__ import annotations

import argparse
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from paprle.cli.doctor import resolve_leader
from paprle.cli.verb import (
    SETTINGS,
    Verb,
    add_settings,
    complain,
    print_closing_notes,
    say,
)
from paprle.config.folders import SESSION, find_site
from paprle.config.layers import merge
from paprle.config.measured import store
from paprle.config.yaml_text import read_yaml
from paprle.contracts.errors import ConfigError, DeviceError
from paprle.hosts.factories import make_leader


def _add_calibrate(parser: argparse.ArgumentParser) -> None:
    add_settings(parser)
    parser.add_argument(
        "--joint",
        action="append",
        default=[],
        metavar="limb/joint",
        help="calibrate only this joint; may be repeated",
    )


def _calibrate(args: argparse.Namespace) -> int:
    resolved = resolve_leader(args.settings)
    leader = make_leader(resolved)
    dialogue = leader.calibrate(args.joint)
    if dialogue is None:
        raise ConfigError(
            f"leader: expected one with a calibration, got "
            f"'{resolved.leader_type}'; it needs no calibration"
        )
    leader.open()
    try:
        found = talk(dialogue)
    finally:
        leader.close()
        print_closing_notes(leader)
    if found is None:
        complain("calibrate: the operator left; nothing was written")
        return 1
    _write(resolved.leader_name, found, args.settings)
    return 0


def talk(dialogue: Generator[str, str, dict[str, Any]]) -> dict[str, Any] | None:
    """Show questions and send answers; None when the operator leaves."""
    try:
        question = next(dialogue)
        while True:
            say(f"\n{question}")
            answer = input("Enter when done, q to leave: ").strip().lower()
            if answer == "q":
                return None
            question = dialogue.send(answer)
    except StopIteration as end:
        found: dict[str, Any] = end.value
        return found
    except EOFError:
        return None
    finally:
        dialogue.close()


def _write(name: str, found: Mapping[str, Any], settings: list[str]) -> None:
    """Merge the result, and restore the file if invalid."""
    before: dict[Path, str | None] = {}
    site = find_site()
    names = {"leader": f"leader/{name}.yaml", "rig": SESSION}
    for key, tree in found.items():
        label, path = f"{site.label}/{names[key]}", site.path / names[key]
        before[path] = path.read_text("utf-8") if path.is_file() else None
        problems: list[str] = []
        old = (read_yaml(path, label, problems) or {}) if before[path] else {}
        if problems:
            raise ConfigError(problems)
        if key == "rig":
            store(old, tree, {"leader": name})
        new = old if key == "rig" else merge([old, dict(tree)])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(new, sort_keys=False))
    try:
        make_leader(resolve_leader(settings))
    except (ConfigError, DeviceError):
        for path, text in before.items():
            path.unlink() if text is None else path.write_text(text)
        raise
    for path in before:
        say(f"written: {path}")


CALIBRATE = Verb(
    name="calibrate",
    summary="Measure a leader's signs, zeros, gripper range and friction, guided.",
    help=f"""\
For puppeteers: hold a known pose, turn each joint in its positive sense, then close
and open the gripper; finally each joint's own motor swings it (s skips this). Results
go to configs/site/leader/NAME.yaml, friction to configs/site/session.yaml, and
replace only the same keys, so one joint can be calibrated again. Implausible answers
are refused and the question is repeated; leaving writes nothing.

{SETTINGS}

examples:
  paprle calibrate leader=puppeteer_papras_7dof
  paprle calibrate leader=puppeteer_papras_7dof_2arm --joint left/joint3""",
    add_arguments=_add_calibrate,
    run=_calibrate,
)
