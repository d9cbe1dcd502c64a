"""The verb of an operator who is far from the robot: ``lead``."""

from __future__ import annotations

import argparse

from paprle.cli.verb import EXIT_CODES, SETTINGS, Verb, add_settings


def _lead(args: argparse.Namespace) -> int:
    from paprle.cli.doctor import resolve_leader  # noqa: PLC0415 - a refusal is quicker
    from paprle.hosts.lead import lead  # noqa: PLC0415

    return lead(resolve_leader(args.settings))


LEAD = Verb(
    name="lead",
    summary="Lead a robot on another host, where the session runs, over a bad network.",
    help=f"""\
The leader is here; session, gate and recording are at the robot, where `paprle run
leader=remote` follows it. Only captures cross the link, each several times over
(link.repeats), so that the robot bears delay, loss and reordering. It starts by
saying what to type at the robot. A stop is cleared at the robot alone.

keys here: Enter engage/pause, Space STOP, n next, x discard, q quit the session at the
robot (twice: this, too); other keys are the leader's. Ctrl-C leaves.

{SETTINGS}

examples:
  openssl rand -hex 32 > link.key; chmod 600 link.key       # the same file on both
  paprle lead leader=webxr link.peer=10.0.0.2 link.key=link.key link.type=udp
  paprle run leader=remote follower=piper env=can link.peer=10.0.0.1 \\
      link.key=link.key link.type=udp                       # at the robot, 10.0.0.2

{EXIT_CODES}""",
    add_arguments=add_settings,
    run=_lead,
)
