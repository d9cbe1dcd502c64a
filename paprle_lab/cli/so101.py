"""Verb ``so101``: guides newcomers to a data set."""

from __future__ import annotations

import argparse
from pathlib import Path

from paprle.cli.verb import EXIT_CODES, Verb, add_settings, say
from paprle.contracts.errors import ConfigError

_MOST = 1000  # chosen: more is no first session


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("so101"),
        help="folder of recordings and data set (default: so101)",
    )
    parser.add_argument(
        "--episodes", type=int, default=3, help="how many to record (default: 3)"
    )
    parser.add_argument(
        "--task", default="", help="what is done in them (default: it is asked)"
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help="take the default of each question: for a rig that was set up before",
    )
    add_settings(parser)


def _run(args: argparse.Namespace) -> int:
    if not 1 <= args.episodes <= _MOST:
        raise ConfigError(
            f"so101 --episodes: expected 1 … {_MOST}, got {args.episodes}"
        )
    from paprle_lab.quickstart.dialogue import Dialogue, Quit  # noqa: PLC0415 - heavy
    from paprle_lab.quickstart.steps import (  # noqa: PLC0415 - heavy
        Plan,
        check_packages,
        go,
    )

    check_packages()
    plan = Plan(
        out=args.out,
        n_episodes=args.episodes,
        task=args.task,
        settings=tuple(args.settings),
    )
    try:
        return go(plan, Dialogue(is_brief=args.yes))
    except Quit:
        say("you left; no arm was moved")
        return 1


SO101 = Verb(
    name="so101",
    summary="From a plugged-in SO-101 to a data set, step by step.",
    help=f"""\
A dialogue in six steps. Enter takes the default of each question, q leaves.
  1 ports        finds the servos at each serial port, and says what is missing
  2 roles        you move the leader arm, so that both are told apart; with one arm the
                 page or a simulation stands in for the other, with none for both
  3 calibration  from the servos, from LeRobot's files, or made now
  4 cameras      lists them; the page shows robot and pictures, on a phone by a QR code
  5 episodes     the gripper of the leader begins and ends each
  6 data set     LeRobot v3.0, with LeRobot's names and units of an SO-101

No arm gets torque before step 5. Ports and calibrations are stored in configs/site (of
a package: ~/.config/paprle), so that the next time only asks to confirm them;
recordings and data set go below --out. The session's own command line is printed:
`paprle run …`. Settings (key=value) are added to it and win, as in `paprle run`.

Without arms, in two other terminals (marked EMULATED here, and never stored):
  paprle-emulate so101
  paprle-emulate so101-leader

{EXIT_CODES}

examples:
  paprle so101
  paprle so101 session.reduced=true        # the robot moves slowly
  paprle so101 --episodes 10 --task 'put the cube into the box' --out cube
  uvx --from 'paprle[so101,sim,page,data]' paprle so101""",
    add_arguments=_add_arguments,
    run=_run,
)
