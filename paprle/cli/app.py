"""Dispatch of verbs, importing the chosen one."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module

from paprle import __version__
from paprle.cli.completion_words import COMPLETE, complete
from paprle.cli.verb import EXIT_CODES, SETTINGS, Verb, complain, say
from paprle.contracts.errors import (
    ConfigError,
    DeviceError,
    PaprleError,
    RecordingError,
    SessionError,
    suggest,
)
from paprle.contracts.kit.extensions import load_verbs
from paprle.ipc.threads import limit_threads

_PACKAGE = "paprle.cli"
FAILED = 1
REFUSED = 2

VERBS: Mapping[str, tuple[str, str]] = {
    "demo": ("demo:DEMO", "draw a circle with a simulated arm, and report the errors"),
    "run": ("sessions:RUN", "drive a robot; run.py is the same"),
    "serve": ("sessions:SERVE", "drive a robot here with a leader on another host"),
    "lead": ("lead:LEAD", "lead a robot on another host over a bad network"),
    "completion": ("completion:COMPLETION", "print completion for bash, zsh or fish"),
    "list": ("catalogue:LIST", "list leaders, robots and envs"),
    "config": ("catalogue:CONFIG", "show the merged config and explain each key"),
    "info": ("episodes:INFO", "show the content of a recorded episode"),
    "replay": ("sessions:REPLAY", "play an episode again on its robot"),
    "capture": ("capture:CAPTURE", "record a leader without a robot"),
    "recover": ("episodes:RECOVER", "save the valid part of a broken recording"),
    "export": ("episodes:EXPORT", "write an episode as ARBot CSV"),
    "collision": ("collision:COLLISION", "show pairs of bodies and their distances"),
    "find-cameras": ("cameras:FIND", "show the cameras there are, with a picture each"),
    "doctor": ("doctor:DOCTOR", "find faults of a leader, with their remedies"),
    "setup-servos": ("setup_servos:SETUP_SERVOS", "give servos their ids and rate"),
    "calibrate": ("calibrate:CALIBRATE", "measure signs, zeros and ranges of an arm"),
    "identify": ("identify:IDENTIFY", "measure lag, friction and delay of a rig"),
}
"""Verbs by name: ``module:attribute`` in this package, and a line of help."""

_SECOND_WORDS = {
    "calibrate": ("camera", "tool", "bases"),
    "dataset": ("edit", "score", "inspect", "convert", "push"),
}
"""Second words that make verbs of paprle_lab of their own."""

_EXAMPLES = """\
examples:
  paprle demo
  paprle list
  paprle run leader=autopilot follower=piper env=mujoco record.dir=OUT
  paprle run leader=offline leader.path=motion.csv follower=ur5e env=kinematic
  paprle run leader=keyboard follower=piper env=kinematic --dry-run
  paprle evaluate OUT/episode_000000.mcap"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    limit_threads()
    args = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _dispatch(args)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has enough; nothing may be flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except PaprleError as err:
        complain(str(err))
        has_failed = isinstance(err, DeviceError | RecordingError | SessionError)
        return FAILED if has_failed else REFUSED
    return code


def _dispatch(args: list[str]) -> int:
    if not args or args[0] in {"-h", "--help", "help"}:
        say(_help())
        return 0 if args else REFUSED
    if args[0] == "--version":
        say(f"paprle {__version__}")
        return 0
    if args[0] == COMPLETE:
        say("\n".join(complete(args[1:])))
        return 0
    if args[1:2] and args[1] in _SECOND_WORDS.get(args[0], ()):
        args = [f"{args[0]}-{args[1]}", *args[2:]]
    verb = find_verb(args[0])
    return verb.run(verb.parse(args[1:]))


def find_verb(name: str) -> Verb:
    """Return a verb, importing its module only.

    Raises:
        ConfigError: If it is unknown.
    """
    verbs = {_PACKAGE: VERBS}
    if name not in VERBS:
        verbs |= load_verbs()
    for package, table in verbs.items():
        if name in table:
            module, _, attribute = table[name][0].partition(":")
            verb: Verb = getattr(import_module(f"{package}.{module}"), attribute)
            return verb
    known = [name for table in verbs.values() for name in table]
    tail = suggest(name, known, "verbs")
    if "=" in name:
        how = "settings follow a verb: paprle run leader=… follower=… env=…"
        tail = f"{how}; {suggest('', known, 'verbs')}"
    raise ConfigError(f"paprle: unknown verb '{name}'; {tail}")


def _help() -> str:
    tables = (VERBS, *load_verbs().values())
    verbs = "\n".join(
        f"  {name:<12} {what}" for table in tables for name, (_, what) in table.items()
    )
    return (
        "usage: paprle VERB … | --version | --help\n\n"
        "Plug-and-play teleoperation: a leader drives a follower in an env.\n\n"
        f"verbs (details: `paprle VERB --help`):\n{verbs}\n\n"
        f"{SETTINGS}\n\n{_EXAMPLES}\n\n{EXIT_CODES}"
    )
