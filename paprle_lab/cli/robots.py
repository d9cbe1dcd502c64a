"""The verb that makes a robot known: ``new-robot``."""

from __future__ import annotations

import argparse
from pathlib import Path

from paprle.cli.slow_work import SlowWork
from paprle.cli.verb import Verb, say
from paprle.config.folders import DATA, IS_PACKED
from paprle_lab.onboarding.new_robot import write_new_robot
from paprle_lab.onboarding.xacro_files import provide_urdf


def _add_new_robot(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "urdf", type=Path, help="the URDF, or a .xacro file; it is not changed"
    )
    parser.add_argument("--name", help="name of the follower (default: the URDF's)")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path() if IS_PACKED else DATA / "configs/follower",
        help="folder of the YAML and the URDF copy (default: configs/follower of a "
        "checkout, else this folder)",
    )
    parser.add_argument(
        "--ignore",
        type=_read_pair,
        action="append",
        default=[],
        metavar="LINK,LINK",
        help="two links that are exempt from collision checks; repeatable",
    )
    parser.add_argument(
        "--limbs",
        type=lambda text: tuple(part.strip() for part in text.split(",")),
        default=(),
        metavar="NAME,…",
        help="the limbs that are to move; the others hold home (default: all)",
    )


def _new_robot(args: argparse.Namespace) -> int:
    with SlowWork("reading the URDF") as work:
        report = write_new_robot(
            provide_urdf(args.urdf, args.out),
            args.out,
            args.name,
            tuple(args.ignore),
            args.limbs,
            note=work.note,
        )
    say("\n".join(report.lines()))
    return 0


def _read_pair(text: str) -> tuple[str, str]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(parts):
        raise argparse.ArgumentTypeError(f"expected two links, a,b, got {text!r}")
    return parts[0], parts[1]


NEW_ROBOT = Verb(
    name="new-robot",
    summary="Write a robot's YAML from a bare URDF, mark every guess, and check it.",
    help="""\
Limbs, end-effectors, home, limits and grippers are guessed; review the lines that
begin with CHECK before the robot moves. Collision meshes are enclosed in bodies,
several per link where one would be too large, in a copy of the URDF beside the YAML;
that takes tens of seconds, minutes for robots with hands, and reports its progress.
`follower=./my_arm.urdf` does the same in a cache, for envs without a real robot. Where
every home that is found touches something, nothing is written, and the links are
named.

example:
  paprle new-robot my_arm.urdf --name my_arm
  paprle new-robot humanoid.urdf --limbs left_arm,right_arm
  paprle run leader=autopilot follower=my_arm env=kinematic""",
    add_arguments=_add_new_robot,
    run=_new_robot,
)
