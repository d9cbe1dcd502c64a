"""Verb ``setup-servos``: sets ids and rate of servos."""

from __future__ import annotations

import argparse

from paprle.cli.calibrate import talk
from paprle.cli.doctor import resolve_leader
from paprle.cli.verb import SETTINGS, Verb, add_settings, complain, say
from paprle.contracts.errors import ConfigError
from paprle.hosts.factories import make_leader


def _add_setup_servos(parser: argparse.ArgumentParser) -> None:
    add_settings(parser)
    parser.add_argument(
        "--joint",
        action="append",
        default=[],
        metavar="limb/joint",
        help="set up only the servo of this joint; may be repeated",
    )


def _setup_servos(args: argparse.Namespace) -> int:
    resolved = resolve_leader(args.settings)
    dialogue = make_leader(resolved).set_up(args.joint)
    if dialogue is None:
        raise ConfigError(
            f"leader: expected one with servos, got '{resolved.leader_type}'; it needs "
            "no set-up"
        )
    found = talk(dialogue)
    if found is None:
        complain("setup-servos: the operator left; what was set up stays so")
        return 1
    for line in found["servos"]:
        say(line)
    say(f"{len(found['servos'])} servo(s) are set up")
    return 0


SETUP_SERVOS = Verb(
    name="setup-servos",
    summary="Give a puppeteer's servos their ids, their rate and no return delay.",
    help=f"""\
Where all servos of a port answer with the ids of the config, at whatever rate, the
whole chain is set up at once. Otherwise you connect each servo alone: it is found at
any id and any rate, compared with the model in the config, and given its id,
leader.baud and a return delay of 0. Settings that are right are not written again.

{SETTINGS}

examples:
  paprle setup-servos leader=puppeteer_papras_7dof
  paprle setup-servos leader=puppeteer_papras_7dof leader.baud=1000000
  paprle setup-servos leader=puppeteer_papras_7dof_2arm --joint left/joint3""",
    add_arguments=_add_setup_servos,
    run=_setup_servos,
)
