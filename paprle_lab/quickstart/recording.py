"""Last steps: a recorded session and its data set."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Callable, Sequence
from pathlib import Path

from paprle.cli.app import find_verb
from paprle.config import resolve
from paprle.hosts import run
from paprle_lab.quickstart.dialogue import Dialogue

RECORDINGS, DATA_SET = "recordings", "dataset"
"""Folders below ``--out``."""

_INTERRUPTED = 128 + signal.SIGINT


def describe_command(words: Sequence[str]) -> str:
    """Return the command line of a session."""
    return shlex.join(["paprle", "run", *words])


def record(words: Sequence[str]) -> int:
    """Run a session; return its exit code."""
    return run(resolve(list(words)))


def write_data_set(
    out: Path, code: int, dialogue: Dialogue, make: Callable[[Path, Path], int]
) -> int:
    """Return the exit code after writing the data set of kept episodes.

    ``code`` is the session's; after a Ctrl-C nothing is written.
    """
    recordings, data = out / RECORDINGS, out / DATA_SET
    n = len(list(recordings.glob("episode_*.mcap")))
    if not n:
        dialogue.say("no episode was recorded, so there is no data set")
        return code
    if code == _INTERRUPTED:
        dialogue.say(
            f"{n} episode(s) are in {recordings}; the data set, when you want it:\n"
            f"  paprle dataset create {recordings} --out {data}"
        )
        return code
    found = make(recordings, data)
    if found == 0:
        dialogue.say(describe_next(recordings, data))
    return code or found


def make_lerobot(recordings: Path, data: Path) -> int:
    """Write LeRobot v3.0 as ``paprle dataset create`` does."""
    verb = find_verb("dataset")
    return verb.run(verb.parse(["create", str(recordings), "--out", str(data)]))


def describe_next(recordings: Path, data: Path) -> str:
    """Return instructions to use the data set."""
    return f"""\
Look at an episode:
  paprle view {recordings}/episode_000000.mcap
Load it in LeRobot:
  from lerobot.datasets.lerobot_dataset import LeRobotDataset
  LeRobotDataset("local/so101", root="{data}")
Train:
  lerobot-train --dataset.repo_id=local/so101 --dataset.root={data} \\
      --policy.type=act --policy.push_to_hub=false"""
