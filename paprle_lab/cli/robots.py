"""Verb ``new-robot``: onboards a robot."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin

from paprle.cli.verb import Verb, say
from paprle.config.folders import DATA, IS_PACKED
from paprle.contracts.errors import ConfigError
from paprle.hosts.operator.slow_work import SlowWork
from paprle_lab.onboarding.joined.several_arms import read_arms, write_several
from paprle_lab.onboarding.new_robot import write_new_robot
from paprle_lab.onboarding.xacro_files import provide_urdf


def _add_new_robot(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "robots",
        nargs="+",
        metavar="URDF|FOLLOWER@LIMB",
        help="the URDF, or a .xacro file, which is not changed; or described followers "
        "that are to be one robot, each with the name of its limb",
    )
    parser.add_argument(
        "--name",
        help="name of the follower (default: the URDF's, or those of the arms)",
    )
    parser.add_argument(
        "--place",
        type=_read_place,
        action="append",
        default=[],
        metavar="LIMB=X,Y,Z,ROLL,PITCH,YAW",
        help="where an arm's base stands, in m and rad; repeatable (default: side by "
        "side, 0.3 m apart at home)",
    )
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
    if any("@" in word and not Path(word).exists() for word in args.robots):
        return _new_robot_of_arms(args)
    if len(args.robots) > 1 or args.place:
        raise ConfigError(
            "new-robot: expected one URDF, or FOLLOWER@LIMB for each arm, got "
            f"'{' '.join(args.robots)}'{' and --place' * bool(args.place)}; for "
            "example: paprle new-robot ur5e@left xarm7@right"
        )
    with SlowWork("reading the URDF") as work:
        report = write_new_robot(
            provide_urdf(Path(args.robots[0]), args.out),
            args.out,
            args.name,
            tuple(args.ignore),
            args.limbs,
            work=work,
        )
    say("\n".join(report.lines()))
    return 0


def _new_robot_of_arms(args: argparse.Namespace) -> int:
    if args.limbs:
        raise ConfigError(
            "--limbs: expected a URDF, got arms, whose limbs all move; leave it out"
        )
    with SlowWork("reading the arms") as work:
        lines = write_several(
            read_arms(args.robots),
            args.out,
            args.name,
            _gather_places(args.place),
            args.ignore,
            work=work,
        )
    say("\n".join(lines))
    return 0


def _gather_places(given: Sequence[tuple[str, pin.SE3]]) -> dict[str, pin.SE3]:
    limbs = [limb for limb, _ in given]
    twice = [limb for limb in dict.fromkeys(limbs) if limbs.count(limb) > 1]
    if twice:
        raise ConfigError(f"--place: expected one place, got two of '{twice[0]}'")
    return dict(given)


def _read_place(text: str) -> tuple[str, pin.SE3]:
    limb, _, numbers = text.partition("=")
    try:
        values = np.array([float(part) for part in numbers.split(",")])
    except ValueError:
        values = np.array([])
    if not limb or values.shape != (6,) or not np.isfinite(values).all():
        raise argparse.ArgumentTypeError(
            f"expected limb=x,y,z,roll,pitch,yaw in m and rad, got {text!r}"
        )
    return limb, pin.SE3(pin.rpy.rpyToMatrix(*values[3:].tolist()), values[:3])


def _read_pair(text: str) -> tuple[str, str]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(parts):
        raise argparse.ArgumentTypeError(f"expected two links, a,b, got {text!r}")
    return parts[0], parts[1]


NEW_ROBOT = Verb(
    name="new-robot",
    summary="Write a robot's YAML from a bare URDF, or from described arms; check it.",
    help="""\
Limbs, end-effectors, home, limits and grippers are guessed; review the lines that
begin with CHECK before the robot moves. Collision meshes are enclosed in bodies,
several per link where one would be too large, in a copy of the URDF beside the YAML;
that takes tens of seconds, minutes for robots with hands, and reports its progress.
`follower=./my_arm.urdf` does the same in a cache, for envs without a real robot. Where
every home that is found touches something, nothing is written, and the links are
named.

Described followers of one limb each become one robot, ``FOLLOWER@LIMB`` for each
(docs/two_arms.md): names get the limb in front, limits, homes, grippers and ignored
pairs stay, and `env=mix` drives each arm by its own env. Their places are the only
guess where --place does not say them.

examples:
  paprle new-robot my_arm.urdf --name my_arm
  paprle new-robot humanoid.urdf --limbs left_arm,right_arm
  paprle run leader=autopilot follower=my_arm env=kinematic
  paprle new-robot ur5e@left xarm7@right --place right=0,-0.5,0,0,0,0""",
    add_arguments=_add_new_robot,
    run=_new_robot,
)
