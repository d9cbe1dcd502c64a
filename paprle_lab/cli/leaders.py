"""Verb ``new-leader``: onboards a leader of servos."""

from __future__ import annotations

import argparse
from pathlib import Path

from paprle.cli.calibrate import talk
from paprle.cli.verb import Verb, complain, say
from paprle.config.folders import DATA, IS_PACKED
from paprle.contracts.errors import MissingDependency
from paprle.plugins import find_plugin, load_servo_search
from paprle_lab.onboarding.leader.known import KNOWN
from paprle_lab.onboarding.leader.new_leader import LeaderRequest, make_new_leader

_LISTED = "\n".join(f"  {name:<12} {one.about}" for name, one in KNOWN.items())


def _add_new_leader(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="name of the leader")
    parser.add_argument("--port", default="", help="serial port (default: it asks)")
    arm = parser.add_mutually_exclusive_group()
    arm.add_argument("--like", default="", metavar="KNOWN", help="a known leader")
    arm.add_argument(
        "--urdf", type=Path, help="URDF of the leader, or of the robot that it copies"
    )
    arm.add_argument("--words", default="", help="the arm in words (default: it asks)")
    parser.add_argument("--limb", default="", help="which arm of --urdf")
    parser.add_argument(
        "--scale",
        type=float,
        default=1.0,
        help="length of its links by those of the URDF, words or robot (default: 1)",
    )
    parser.add_argument(
        "--home",
        type=_read_home,
        default=(),
        metavar="DEG,…",
        help="first posture, a joint each (default: that of a known one, else zeros)",
    )
    parser.add_argument(
        "--calibration",
        type=Path,
        metavar="FILE",
        help="values of GELLO (YAML, JSON, or its Python source, which is not run) or "
        "LeRobot (JSON)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path() if IS_PACKED else DATA / "configs/leader",
        help="folder of YAML and URDF (default: configs/leader of a checkout, else "
        "this folder)",
    )


def _new_leader(args: argparse.Namespace) -> int:
    search = load_servo_search(find_plugin("leader", "puppeteer"))
    request = LeaderRequest(
        name=args.name,
        out=args.out,
        port=args.port,
        like=args.like,
        urdf=args.urdf,
        limb=args.limb,
        words=args.words,
        scale=args.scale,
        home=args.home,
        calibration=args.calibration,
    )
    if search is None:
        raise MissingDependency("leader 'puppeteer': expected a search for servos")
    found = talk(make_new_leader(request, search(), say))
    if found is None:
        complain("new-leader: the operator left; nothing was written")
        return 1
    say("\n" + "\n".join(found["lines"]))
    return 0


def _read_home(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(word) for word in text.replace(",", " ").split())
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected degrees, got {text!r}") from None


NEW_LEADER = Verb(
    name="new-leader",
    summary="Write the YAML and URDF of a printed leader of servos, guided.",
    help=f"""\
Finds the servos of a port (Dynamixel at any rate, Feetech at 1 Mbit/s), asks for two
postures, and solves signs, zeros and gears; then it names each joint that you turn, and
which way it turns. The arm is a known one, a URDF (of the leader, or of the robot that
it copies at a scale), or described in words from the base to the hand. q leaves;
nothing is written before the end.

known leaders:
{_LISTED}

words: the way from joint to joint in millimetres, and the axis of each, with the arm at
zero; yaw turns left, pitch down, roll right, unless the other word follows it. A gear
is turns of the servo a turn of the joint.

examples:
  paprle new-leader my_gello --port /dev/ttyUSB0 --like gello_ur5e --scale 0.5
  paprle new-leader my_gello --urdf panda.urdf --scale 0.45 --calibration gello.yaml
  paprle new-leader koch --words "up 54, pan yaw, up 30, lift pitch, up 108 forward 28,
    elbow pitch, forward 94, wrist pitch, forward 45, roll, forward 70, gripper\"""",
    add_arguments=_add_new_leader,
    run=_new_leader,
)
