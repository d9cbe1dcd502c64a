"""ARBot's replay protocol: one human motion repeated by a robot.

The first pose is held for 5 s at 30 Hz before the motion, with 30 s of rest after it.

References:
    ARBot, section 4.1.3; cake-lab/AR-PiPER, evaluation's replay node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from paprle.contracts.errors import ConfigError, RecordingError
from paprle.contracts.types import SessionState, Vec
from paprle.recording.exports import (
    ARBOT_COLUMNS,
    is_arbot_csv,
    make_arbot_table,
    read_arbot_csv,
    write_arbot_csv,
)
from paprle.recording.reader import Episode
from paprle.recording.robot import compute_poses, make_limbs
from paprle_lab.evaluation.reporting.files import write_text
from paprle_lab.trials.labels import Trial, guess_labels, write_index

LEAD = 5.0  # [s] spec: requirements A24, the first pose before the motion
LEAD_RATE = 30.0  # [Hz] spec: requirements A24
PAUSE = 30.0  # [s] spec: requirements A24, between two replays
REPLAYS = 5  # spec: ARBot, section 4.1.3
_STILL = 1e-3  # [s] chosen: no clock of a session is as far off


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """The replayed motion and its results."""

    motion: Path
    played: Path
    out: Path
    humans: tuple[Trial, ...]


def prepare(motion: Path, beside: Sequence[Path], out: Path) -> Protocol:
    """Return the protocol with the written motion.

    Raises:
        ConfigError: If a file is of neither kind, or the folder has replays.
        RecordingError: If one cannot be read.
    """
    there = sorted(out.glob("robot_*.csv"))
    if there:
        raise ConfigError(f"{out}: expected a folder without replays, got {there[0]}")
    for path in (motion, *beside):
        if not is_arbot_csv(path) and path.suffix != ".mcap":
            raise ConfigError(
                f"repeat: expected a log of ARBot (.csv) or an episode (.mcap), got "
                f"'{path}'"
            )
    out.mkdir(parents=True, exist_ok=True)
    logs = [_provide_log(path, out) for path in (motion, *beside)]
    task = guess_labels(motion).task or "motion"
    humans = [
        replace(guess_labels(log), path=log, kind="human", task=task, trial=str(k + 1))
        for k, log in enumerate(logs)
    ]
    table = read_arbot_csv(logs[0])
    if len(table) < 2:
        raise RecordingError(f"{motion}: expected a motion, got {len(table)} rows")
    played = out / "played.csv"
    _write_log(played, add_lead(table))
    return Protocol(motion=logs[0], played=played, out=out, humans=tuple(humans))


def _provide_log(path: Path, out: Path) -> Path:
    if path.suffix == ".csv":
        return path
    log = out / f"{path.stem}.csv"
    _write_log(log, make_log(Episode.open(path)))
    return log


def _write_log(path: Path, table: Vec) -> None:
    lines = [",".join(ARBOT_COLUMNS), *(",".join(map(repr, r)) for r in table.tolist())]
    write_text(path, "\n".join(lines) + "\n")


def make_log(episode: Episode) -> Vec:
    """Return an ARBot log of the first limb with targets.

    Raises:
        RecordingError: If there are no targets.
    """
    limbs = make_limbs(episode.robot_info, episode.urdf)
    is_on = episode.ticks["state"] == SessionState.ENGAGED
    targets = np.isfinite(episode.ticks["target"][is_on]).all(axis=2).any(axis=0)
    for limb, has_targets in zip(episode.layout.limbs, targets, strict=True):
        if has_targets:
            chain = limbs[limb]
            poses = compute_poses(chain, chain.take(episode.gate["q_meas"].T).T)
            return make_arbot_table(episode, limb, poses)
    raise RecordingError(f"{episode.path}: no limb had target poses while ENGAGED")


def add_lead(table: Vec) -> Vec:
    """Return a motion after its held first pose, shape (N + LEAD · LEAD_RATE, 19)."""
    n = round(LEAD * LEAD_RATE)
    lead = np.repeat(table[:1], n, axis=0)
    lead[:, 0] = table[0, 0] + (np.arange(n) - n) / LEAD_RATE
    return np.concatenate([lead, table])


def cut_lead(table: Vec) -> Vec:
    """Return a replay without the held pose, shape (M, 19)."""
    kept: Vec = table[table[:, 0] >= table[0, 0] + LEAD - _STILL]
    return kept


def list_settings(protocol: Protocol, n: int, pause: float) -> list[str]:
    """Return the settings of n replays, ``pause`` apart [s]."""
    return [
        "leader=offline",
        f"leader.path={protocol.played.resolve()}",
        f"record.dir={protocol.out.resolve()}",
        f"session.episodes={n}",
        f"session.reset_time={pause!r}",
    ]


def collect(protocol: Protocol, episodes: Sequence[Path]) -> Path:
    """Return the index of replays, written as ``robot_N.csv``.

    Raises:
        RecordingError: If a recording holds no replay.
    """
    task = protocol.humans[0].task
    robots = []
    for k, path in enumerate(episodes):
        table = cut_lead(make_log(Episode.open(path)))
        if len(table) < 2:
            raise RecordingError(f"{path}: expected a replay, got {len(table)} rows")
        log = protocol.out / f"robot_{k + 1}.csv"
        write_arbot_csv(log, table)
        robots.append(Trial(path=log, kind="robot", task=task, trial=str(k + 1)))
    return write_index(protocol.out, [*protocol.humans, *robots])
