"""Episodes of a dataset as a leader."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from paprle.contracts.errors import ConfigError, DeviceError, MissingDependency
from paprle.contracts.plugins import Clock, Leader
from paprle.contracts.types import (
    Feedback,
    LeaderInfo,
    LeaderSample,
    RobotInfo,
    Vec,
)
from paprle.leaders.dataset.aloha import AlohaSource
from paprle.leaders.dataset.config import DatasetConfig
from paprle.leaders.dataset.continuity import find_jump, join_turns
from paprle.leaders.dataset.lerobot import LerobotSource
from paprle.leaders.dataset.limbs import LimbRows, make_rows
from paprle.leaders.dataset.limits import JointLimits
from paprle.leaders.dataset.plays import Plays
from paprle.leaders.dataset.table import DatasetReader, check_table
from paprle.leaders.dataset.track import EpisodeTrack
from paprle.leaders.dataset.umi import UmiSource
from paprle.leaders.dataset.units import describe_units, find_doubts

_INSTALL = "pip install 'paprle[data]'"
_RANGE = re.compile(r"(\d+)(?::(\d+))?")


class Dataset(Leader):
    """Plays one episode in each of the session."""

    def __init__(self, config: DatasetConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._plays: Plays | None = None
        self._sample: LeaderSample | None = None
        self._seq = 0
        self._limits = JointLimits()
        self._robot: RobotInfo | None = None
        self._told: dict[int, tuple[str, ...]] = {}
        self._doubts: dict[str, str] = {}  # of the first episode
        self._units: list[str] = []

    def meet(self, robot: RobotInfo) -> None:
        """Take the joint limits."""
        self._limits, self._robot = JointLimits(robot), robot

    @property
    def info(self) -> LeaderInfo:
        """Contents of the first episode, read on first access.

        Raises:
            ConfigError: If the dataset does not match the config.
            DeviceError: If it cannot be read.
            MissingDependency: Without its reader's package.
        """
        track, limbs = self._first, self.config.limbs
        names = {k: tuple(own.joints) for k, own in limbs.items() if own.joints}
        rows = track.rows
        is_alone = len(self._order) == 1  # others have paths of their own
        return LeaderInfo(
            limbs=tuple(limbs),
            emits="joints" if names else "pose",
            joint_names=names,
            is_absolute=not names and self.config.frame == "absolute",
            is_human=False,
            has_gripper=any(own.gripper for own in limbs.values()),
            look_ahead=track.period / self.config.speed,
            robot=self.config.robot,
            motion={k: own.q for k, own in rows.items() if own.q is not None},
            path=self._make_paths(track) if is_alone else {},
            reposture=self.config.reposture,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Size of the dataset and notes on its first episode."""
        track, order, shortage = self._first, self._order, self._source.shortage
        return (
            *([f"dataset: {self._source.path.name}: {shortage}"] if shortage else []),
            f"dataset: {len(order)} of {self._source.n_episodes} episodes of "
            f"{self._source.path.name}; the first is {order[0]}, "
            f"{track.duration / self.config.speed:.1f} s, "
            f"{1.0 / track.period:.3g} rows a second",
            *(f"dataset: {told}" for told in self._units),
            *(f"dataset: episode {order[0]}: {told}" for told in self._told[order[0]]),
            *(
                f"CHECK: {self._source.path.name}: episode {order[0]}: {doubt}"
                for doubt in self._doubts.values()
            ),
        )

    def open(self) -> None:
        """Read the first episode, and the next in a thread.

        Raises:
            ConfigError: If the dataset does not match the config.
            DeviceError: If no episode can be read.
            MissingDependency: Without its reader's package.
        """
        c = self.config
        self._plays = Plays(self._read, self._order, c.repeat, c.speed)
        self._sample = None

    def latest(self) -> LeaderSample | None:
        """Return the current motion."""
        plays = self._plays
        if plays is None:
            return self._sample
        now_ns = self.clock()
        self._seq += 1
        limbs = plays.track.at(plays.advance(now_ns))
        self._sample = LeaderSample(
            stamp_ns=now_ns,
            seq=self._seq,
            limbs=limbs,
            start=plays.asks_to_start,
            end=plays.is_over,
            is_exhausted=plays.is_exhausted,
        )
        return self._sample

    def apply(self, feedback: Feedback) -> None:
        """Play while engaged, one episode for each."""
        if self._plays is not None:
            self._plays.apply(feedback, self.clock())

    def take_warnings(self) -> Sequence[str]:
        """Return newly skipped or unwrapped episodes."""
        told = [
            f"dataset: episode {episode}: {text}"
            for episode in list(self._told)
            if episode != self._order[0]
            for text in self._told.pop(episode)
        ]
        return told if self._plays is None else told + self._plays.take_warnings()

    def close(self) -> None:
        """Close the dataset."""
        if self._plays is not None:
            self._plays.close()
        self._plays = None
        if "_source" in self.__dict__:
            self.__dict__.pop("_source").close()

    @cached_property
    def _source(self) -> DatasetReader:
        c = self.config
        path = Path(c.path).expanduser()
        if not c.path or not path.exists():
            raise ConfigError(
                f"leader.path: expected a dataset, got nothing at '{c.path}'"
            )
        try:
            if c.format == "umi":
                return UmiSource(path, c.rate)
            if c.format == "aloha":
                return AlohaSource(path, c.sources, c.rate)
            return LerobotSource(path, c.sources)
        except ImportError as err:
            raise MissingDependency(
                f"leader 'dataset': expected the package {err.name}, got none; "
                f"{_INSTALL}"
            ) from err

    @cached_property
    def _order(self) -> tuple[int, ...]:
        return choose_episodes(self.config.episodes, self._source.n_episodes)

    @cached_property
    def _first(self) -> EpisodeTrack:
        return self._read(self._order[0])

    def _read(self, episode: int) -> EpisodeTrack:
        source = self._source
        table = check_table(source.path, episode, source.read(episode))
        where, limbs = f"{source.path}: episode {episode}", self.config.limbs
        rows = make_rows(source.path, episode, table, self.config)
        doubts = find_doubts(where, table, self.config, self._limits)
        rows, told = join_turns(table.t, rows, limbs, self._robot)
        if jump := find_jump(table.t, rows, limbs, self._robot):
            hints = "".join(f"; {doubt}" for doubt in doubts.values())
            raise DeviceError(
                f"{where}: expected motion without jumps, got {jump}{hints}; leave it "
                "out with leader.episodes"
            )
        told += _count_clipped(rows)
        if episode == self._order[0]:
            self._doubts, self._units = doubts, describe_units(table, self.config)
        else:
            self._check_limits(episode, rows)
            new = doubts.keys() - self._doubts.keys()
            told += tuple(f"CHECK: {doubts[key]}" for key in sorted(new))
        self._told[episode] = told
        return EpisodeTrack(table.t, rows)

    def _check_limits(self, episode: int, rows: Mapping[str, LimbRows]) -> None:
        """Refuse an episode beyond the limits, unless the first is, too."""
        # Where the first is beyond them by its names and was accepted, the session maps
        # joints, and names tell nothing.
        limbs = self.config.limbs
        misfit = self._limits.find_misfit(rows, limbs)
        if misfit and not self._limits.find_misfit(self._first.rows, limbs):
            raise DeviceError(
                f"{self._source.path}: episode {episode}: expected joints within the "
                f"robot's limits, got {misfit}; leave it out with leader.episodes"
            )

    def _make_paths(self, track: EpisodeTrack) -> dict[str, Vec]:
        t = track.t / self.config.speed
        return {
            limb: np.column_stack([t, own.pose])
            for limb, own in track.rows.items()
            if own.pose is not None
        }


def _count_clipped(rows: Mapping[str, LimbRows]) -> tuple[str, ...]:
    return tuple(
        f"{own.n_clipped} gripper openings of '{limb}' clipped to 0 … 1"
        for limb, own in rows.items()
        if own.n_clipped
    )


def choose_episodes(text: str, n: int) -> tuple[int, ...]:
    """Return the numbers of ``3``, ``0:10`` or ``7,2,20:30`` below n; empty: all.

    Raises:
        ConfigError: If invalid.
    """
    chosen: list[int] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise ConfigError(
                f"leader.episodes: expected numbers as 3, 0:10 or 7,2,20:30, got "
                f"'{text}'"
            )
        begin = int(match[1])
        end = begin + 1 if match[2] is None else int(match[2])
        chosen += range(begin, min(end, max(n, begin) + 1))
    if not text.strip():
        chosen = list(range(n))
    if not chosen or max(chosen) >= n:
        raise ConfigError(
            f"leader.episodes: expected some of the dataset's {n} episodes, 0 to "
            f"{n - 1}, got '{text}'"
        )
    return tuple(chosen)
