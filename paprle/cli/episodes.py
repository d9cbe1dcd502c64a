"""Verbs for recorded episodes: ``info``, ``recover``, ``export``."""

from __future__ import annotations

import argparse
from pathlib import Path

from paprle.cli.verb import Verb, say
from paprle.contracts.errors import ConfigError
from paprle.contracts.kit.work import Work
from paprle.hosts.operator.slow_work import SlowWork
from paprle.recording.exports import (
    make_adaptix,
    make_arbot_table,
    write_arbot_csv,
)
from paprle.recording.info import describe
from paprle.recording.mcap.recover import make_recovered_path, recover
from paprle.recording.others.adaptix import VERSIONS, write_adaptix
from paprle.recording.reader import Episode
from paprle.recording.robot import compute_poses, make_limbs


def _add_episode(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("episode", type=Path, help=".mcap, manifest or folder")


def _info(args: argparse.Namespace) -> int:
    say(describe(args.episode))
    return 0


def _add_recover(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("episode", type=Path, help="the damaged .mcap; it is only read")
    parser.add_argument("--out", type=Path, help="the new file")


def _recover(args: argparse.Namespace) -> int:
    out = args.out or make_recovered_path(args.episode)
    with SlowWork("saving what is readable") as work:
        recovered = recover(args.episode, out, work)
    say(str(recovered))
    return 0


def _add_export(parser: argparse.ArgumentParser) -> None:
    _add_episode(parser)
    parser.add_argument("out", type=Path, help="the new .csv")
    parser.add_argument("--limb", help="limb of the robot (default: the first)")
    parser.add_argument(
        "--format",
        choices=("arbot", *(f"adaptix-v{k}" for k in VERSIONS)),
        default="arbot",
        help="whose CSV (default: arbot)",
    )


def _export(args: argparse.Namespace) -> int:
    with SlowWork("reading the episode") as work:
        told = _write_csv(args, work)
    say(told)
    return 0


def _write_csv(args: argparse.Namespace, work: Work) -> str:
    episode = Episode.open(args.episode, work)
    limb = args.limb or episode.layout.limbs[0]
    if args.format != "arbot":
        work.note("exporting")
        recording = make_adaptix(episode, limb, int(args.format[-1]), work)
        write_adaptix(args.out, recording)
        return f"{args.out}: {len(recording.frames)} frames of limb '{limb}'"
    limbs = make_limbs(episode.robot_info, episode.urdf)
    if limb not in limbs:
        names = ", ".join(limbs)
        raise ConfigError(f"export: expected a limb of {names}, got '{limb}'")
    work.note("exporting")
    poses = compute_poses(limbs[limb], limbs[limb].take(episode.gate["q_meas"].T).T)
    table = make_arbot_table(episode, limb, poses)
    write_arbot_csv(args.out, table)
    return f"{args.out}: {len(table)} rows of limb '{limb}'"


INFO = Verb(
    name="info",
    summary="Show the content of a recorded episode, complete or damaged.",
    help="example:\n  paprle info OUT/episode_000000.mcap",
    add_arguments=_add_episode,
    run=_info,
)

RECOVER = Verb(
    name="recover",
    summary="Write what is whole of a damaged recording to a new file.",
    help="""\
A damaged piece is left out, a second of an arm or so; what follows is kept. Prints what
is missing: seconds and where, and messages by channel. The new file's stamps and counts
show the gap, and `paprle info` and its manifest (gaps, lost) name it.

example:
  paprle recover OUT/episode_000000.mcap --out saved.mcap""",
    add_arguments=_add_recover,
    run=_recover,
)

EXPORT = Verb(
    name="export",
    summary="Write an episode as CSV of ARBot's evaluator, or of AdaptiX.",
    help="""\
Poses of AdaptiX are in the robot's world; leader=offline plays either.

examples:
  paprle export OUT/episode_000000.mcap motion.csv --limb arm
  paprle export OUT/episode_000000.mcap motion.csv --format adaptix-v2""",
    add_arguments=_add_export,
    run=_export,
)
