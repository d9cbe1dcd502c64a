"""Verb ``lead``: leads a robot on another host."""

from __future__ import annotations

import argparse

from paprle.cli.verb import EXIT_CODES, SETTINGS, Verb, add_settings


def _lead(args: argparse.Namespace) -> int:
    from paprle.cli.doctor import resolve_leader  # noqa: PLC0415 - a refusal is quicker
    from paprle.hosts.factories import add_view  # noqa: PLC0415
    from paprle.hosts.two_hosts.lead import lead  # noqa: PLC0415

    resolved = resolve_leader(args.settings)
    knows_robot = any(word.startswith("follower=") for word in args.settings)
    if knows_robot:
        resolved = add_view(resolved, is_asked=True)
    return lead(resolved, knows_robot=knows_robot)


LEAD = Verb(
    name="lead",
    summary="Lead a robot on another host, where the session runs, over a bad network.",
    help=f"""\
The leader is here; session, gate and recording are at the robot, where `paprle run
leader=remote` follows it. Only captures cross the link, each several times over
(link.repeats), so that the robot tolerates delay, loss and reordering. At the start it
prints the command to type at the robot. A stop can be cleared only at the robot.

With follower=ROBOT this host serves a page of the robot, with or without a terminal:
grey where it was confirmed, green where it is predicted, the distances between hand,
picture and robot, and losses.

keys here: Enter engage/pause, Space STOP, n next, x discard, q quit the session at the
robot (twice: this, too); other keys are the leader's. Ctrl-C leaves.

{SETTINGS}

examples:
  openssl rand -hex 32 > link.key; chmod 600 link.key       # the same file on both
  paprle lead leader=webxr link.peer=10.0.0.2 link.key=link.key link.type=udp
  paprle lead leader=webxr follower=piper link.peer=10.0.0.2 link.key=link.key \\
      link.type=udp                                         # with a page of the robot
  paprle run leader=remote follower=piper env=can link.peer=10.0.0.1 \\
      link.key=link.key link.type=udp                       # at the robot, 10.0.0.2

{EXIT_CODES}""",
    add_arguments=add_settings,
    run=_lead,
)
