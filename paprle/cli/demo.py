"""Verb ``demo``: runs a simulated arm and evaluates it."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path

from paprle.cli.app import find_verb
from paprle.cli.verb import EXIT_CODES, Verb, add_settings, say
from paprle.config import resolve
from paprle.hosts import run

_EXTRAS = {"mujoco": "sim", "matplotlib": "report"}
"""Packages that improve a demo, and the extra that installs each."""


def _demo(args: argparse.Namespace) -> int:
    missing = [package for package in _EXTRAS if find_spec(package) is None]
    if missing:
        extras = ",".join(_EXTRAS[package] for package in missing)
        say(
            f"without {' and '.join(missing)} the demo is plainer; "
            f"install: pip install 'paprle[{extras}]'"
        )
    resolved = resolve(
        [
            "leader=autopilot",
            "follower=piper",
            f"env={'kinematic' if 'mujoco' in missing else 'mujoco'}",
            "session.episodes=1",
            "record.dir=demo",
            *args.settings,
        ]
    )
    code = run(resolved)
    if code or resolved.record.dir is None:
        return code
    recorded = sorted(Path(resolved.record.dir).glob("episode_*.mcap"))
    if not recorded or find_spec("paprle_lab") is None:
        return code
    verb = find_verb("evaluate")
    return verb.run(verb.parse([str(recorded[-1])]))


DEMO = Verb(
    name="demo",
    summary="Draw a circle with a simulated PiPER, record it, and report the errors.",
    help=f"""\
Runs `paprle run leader=autopilot follower=piper env=mujoco session.episodes=1
record.dir=demo`, and then `paprle evaluate`. Settings override these. Without MuJoCo an
ideal robot moves.

examples:
  paprle demo
  paprle demo follower=ur5e leader.shape=square record.dir=OUT

{EXIT_CODES}""",
    add_arguments=add_settings,
    run=_demo,
)
