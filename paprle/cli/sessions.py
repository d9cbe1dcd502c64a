"""Verbs that move a robot: ``run``, ``serve`` and ``replay``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paprle.cli.verb import EXIT_CODES, SETTINGS, Verb, add_settings, say
from paprle.config import Resolved, resolve
from paprle.contracts.errors import ConfigError, RecordingError
from paprle.contracts.kit.text import make_printable
from paprle.contracts.types import RobotInfo
from paprle.hosts import check, run
from paprle.hosts.operator.slow_work import SlowWork
from paprle.hosts.operator.terminal import HELP

if TYPE_CHECKING:
    from paprle.recording.reader import Episode

_SIMULATED = ("kinematic", "mujoco")  # envs that move nothing real, whoever names them

_KEYS = f"""\
keys during a session:
  {HELP}
  Ctrl-C brakes and ends; with session.close_policy=park the robot parks first, and
  a second Ctrl-C skips the park."""


def _add_dry_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="report what a start would refuse; open no device",
    )


def _add_run(parser: argparse.ArgumentParser) -> None:
    add_settings(parser)
    _add_dry_run(parser)


def _run(args: argparse.Namespace) -> int:
    return _start(resolve(args.settings), is_dry=args.dry_run)


def _start(resolved: Resolved, *, is_dry: bool) -> int:
    if not is_dry:
        return run(resolved)
    with SlowWork("checking leader, robot and env, as a start would"):
        found = check(resolved)
    say(found.told)
    if found.problems:
        raise ConfigError(found.problems)
    say("dry run: a start would be accepted as far as this shows; nothing was opened")
    return 0


def _add_replay(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "episode", type=Path, help="the episode's .mcap, manifest or folder"
    )
    parser.add_argument(
        "--speed", type=float, default=1.0, help="speed factor (1: as recorded)"
    )
    add_settings(parser)
    _add_dry_run(parser)


def _replay(args: argparse.Namespace) -> int:
    from paprle.recording.reader import Episode  # noqa: PLC0415 - to run needs none

    try:
        episode = Episode.open(args.episode)
    except RecordingError as err:  # Nothing was started: this is a refusal.
        raise ConfigError(str(err)) from err
    from paprle.hosts.plan import make_robot  # noqa: PLC0415 - heavy

    ask = _ask if sys.stdin.isatty() and not args.dry_run else None
    words = make_replay_settings(episode, args.speed, args.settings, ask)
    resolved = resolve(words)
    robot = make_robot(resolved)
    check_same_robot(episode, robot.info)
    return _start(resolved, is_dry=args.dry_run)


def _ask(question: str) -> bool:
    sys.stdout.write(f"{make_printable(question)} [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def make_replay_settings(
    episode: Episode,
    speed: float,
    settings: Sequence[str],
    ask: Callable[[str], bool] | None = None,
) -> list[str]:
    """Return the ``run`` settings that replay an episode.

    ``settings`` override the recorded ones.

    Raises:
        ConfigError: If ``ask`` does not confirm a possibly real robot.
    """
    if not episode.robot["joint_names"]:
        raise ConfigError(
            f"{episode.path}: expected an episode of a robot, got a leader's capture; "
            f"play it on one: paprle run leader=offline leader.path={episode.path} "
            "follower=… env=…"
        )
    retarget = dict(episode.config.get("retarget") or {})
    env = episode.header["env"]
    if env not in _SIMULATED and not any(word.startswith("env=") for word in settings):
        _agree_on_env(episode, settings, ask)
    return [
        "leader=offline",
        f"leader.path={episode.path.resolve()}",
        f"leader.speed={speed!r}",
        f"follower={episode.header['follower']}",
        f"env={env}",
        "session.episodes=1",
        *(f"retarget.{key}={json.dumps(value)}" for key, value in retarget.items()),
        *settings,
    ]


def _agree_on_env(
    episode: Episode, settings: Sequence[str], ask: Callable[[str], bool] | None
) -> None:
    env, follower = episode.header["env"], episode.header["follower"]
    for word in settings:
        if word.startswith("follower="):
            follower = word.partition("=")[2]
    question = (
        f"{episode.path} was recorded with robot '{episode.robot_info.name}' in "
        f"env={env}. Move the real robot follower={follower} env={env}?"
    )
    if ask is not None and ask(question):
        return
    raise ConfigError(
        f"{episode.path}: expected env=… to be given, got a recording of env={env}; "
        f"a file does not choose a real robot: type env={env} to move it, or "
        "env=kinematic"
    )


def check_same_robot(episode: Episode, robot: RobotInfo) -> None:
    """Refuse to replay on another robot.

    Raises:
        ConfigError: If joints or limbs differ.
    """
    recorded = episode.robot_info
    if recorded.joint_names != robot.joint_names:
        what = f"joints {', '.join(recorded.joint_names)}"
        got = ", ".join(robot.joint_names)
    elif recorded.limbs != robot.limbs:
        what = f"limbs {', '.join(limb.name for limb in recorded.limbs)} as recorded"
        got = "limbs with other links or joints"
    else:
        return
    raise ConfigError(
        f"{episode.path}: expected the robot '{recorded.name}' with {what}, got "
        f"'{robot.name}' with {got}; to play its leader on another robot: "
        f"paprle run leader=offline leader.path={episode.path} follower={robot.name} "
        "env=…"
    )


RUN = Verb(
    name="run",
    summary="Drive a follower with a leader in an env.",
    help=f"""\
{SETTINGS}

examples:
  paprle run leader=autopilot follower=piper env=mujoco record.dir=OUT
  paprle run leader=autopilot follower=piper env=kinematic --dry-run
  paprle run leader=offline leader.path=motion.csv follower=ur5e env=mujoco

{_KEYS}

{EXIT_CODES}""",
    add_arguments=_add_run,
    run=_run,
)


def _serve(args: argparse.Namespace) -> int:
    from paprle.hosts.two_hosts.serve import serve  # noqa: PLC0415 - a refusal is quicker

    return serve(resolve(args.settings))


SERVE = Verb(
    name="serve",
    summary="Drive a follower here with a leader on another host; the gate runs here.",
    help=f"""\
Both hosts get the same settings except link.peer: each names the other. This host runs
the gate and enforces limits and the age of commands; the other host runs `paprle run`,
the leader and the recording. A stopped robot is driven again only after c and Enter
here.

{SETTINGS}

examples:
  openssl rand -hex 32 > link.key; chmod 600 link.key        # the same file on both
  paprle serve leader=puppeteer follower=piper env=can link.peer=10.0.0.1 \\
      link.key=link.key gate.accept_unattended=true          # at the robot, 10.0.0.2
  paprle run leader=puppeteer follower=piper env=can link.peer=10.0.0.2 \\
      link.key=link.key                                      # at the leader, 10.0.0.1

{EXIT_CODES}""",
    add_arguments=add_settings,
    run=_serve,
)

REPLAY = Verb(
    name="replay",
    summary="Play a recorded episode again through the same gate.",
    help=f"""\
Robot, env and retargeting come from the recording; settings override them. Before a
real robot moves because a file says so, a person at the terminal is asked; without a
terminal its env has to be given. A robot with other joints or limbs is refused. The
robot first moves slowly to the start of the motion. The robot's own limits apply, never
those in the file.

examples:
  paprle replay OUT/episode_000000.mcap
  paprle replay OUT/episode_000000.mcap follower=piper env=kinematic --speed 0.5
  paprle replay OUT/episode_000000.mcap session.clock=virtual record.dir=AGAIN

{_KEYS}

{EXIT_CODES}""",
    add_arguments=_add_replay,
    run=_replay,
)
