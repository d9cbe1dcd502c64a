"""Verb ``calibrate``: measures a device and stores the result."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from paprle.cli.doctor import resolve_follower, resolve_leader
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
from paprle.contracts.device import Device
from paprle.contracts.errors import ConfigError, DeviceError
from paprle.hosts.factories import make_leader
from paprle.hosts.plan import make_follower, make_robot


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
    if any(word.startswith("env=") for word in args.settings):
        return _calibrate_follower(args)
    resolved = resolve_leader(args.settings)
    leader = make_leader(resolved)
    found = _measure(leader, args.joint, f"leader '{resolved.leader_type}'")
    if found is None:
        return 1
    place = f"leader/{resolved.leader_name}.yaml"
    _write(
        found,
        {"leader": place, "rig": SESSION},
        resolved.leader_name,
        lambda: make_leader(resolve_leader(args.settings)),
    )
    return 0


def _calibrate_follower(args: argparse.Namespace) -> int:
    resolved = resolve_follower(args.settings)
    follower = make_follower(resolved, make_robot(resolved))
    found = _measure(follower, args.joint, f"env '{resolved.env_name}'")
    if found is None:
        return 1
    files = found.pop("files")
    _write(
        found,
        {"env": f"env/{resolved.env_name}.yaml"},
        "",
        lambda: resolve_follower(args.settings),
    )
    for path in files:
        say(f"written: {path}")
    return 0


def _measure(device: Device, joints: Sequence[str], name: str) -> dict[str, Any] | None:
    dialogue = device.calibrate(joints)
    if dialogue is None:
        raise ConfigError(
            f"calibrate: expected a device with a calibration, got {name}; it needs no "
            "calibration"
        )
    device.open()
    try:
        found = talk(dialogue)
    finally:
        device.close()
        print_closing_notes(device)
    if found is None:
        complain("calibrate: the operator left; nothing was written")
    return found


def talk(dialogue: Generator[str, str, dict[str, Any]]) -> dict[str, Any] | None:
    """Show questions and send answers; None if the operator leaves."""
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


def _write(
    found: Mapping[str, Any],
    names: Mapping[str, str],
    leader: str,
    check: Callable[[], object],
) -> None:
    before: dict[Path, str | None] = {}
    site = find_site()
    for key, tree in found.items():
        label, path = f"{site.label}/{names[key]}", site.path / names[key]
        before[path] = path.read_text("utf-8") if path.is_file() else None
        problems: list[str] = []
        old = (read_yaml(path, label, problems) or {}) if before[path] else {}
        if problems:
            raise ConfigError(problems)
        if key == "rig":
            store(old, tree, {"leader": leader})
        new = old if key == "rig" else merge([old, dict(tree)])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(yaml.safe_dump(new, sort_keys=False))
    try:
        check()
    except (ConfigError, DeviceError):
        for path, text in before.items():
            path.unlink() if text is None else path.write_text(text)
        raise
    for path in before:
        say(f"written: {path}")


CALIBRATE = Verb(
    name="calibrate",
    summary="Measure signs, zeros and ranges of a leader or an arm, guided.",
    help=f"""\
For puppeteers: hold a known pose, turn each joint in its positive sense, then close
and open the gripper; finally each joint's own motor swings it (s skips this). Results
go to configs/site/leader/NAME.yaml, friction to configs/site/session.yaml, and
replace only the same keys, so one joint can be calibrated again. Implausible answers
are refused and the question is repeated; leaving writes nothing.

With ``env=`` an arm of Feetech servos is calibrated as a follower: its torque goes off
after a warning and stays off, so that the arm falls; you show two postures and turn
each joint from stop to stop. The result goes to the servos and to a file of LeRobot.

{SETTINGS}

examples:
  paprle calibrate leader=puppeteer_papras_7dof
  paprle calibrate leader=puppeteer_papras_7dof_2arm --joint left/joint3
  paprle calibrate leader=so101 leader.limbs.arm.port=/dev/ttyACM1
  paprle calibrate follower=so101 env=feetech env.port=/dev/ttyACM0""",
    add_arguments=_add_calibrate,
    run=_calibrate,
)
