"""Recorded motion as a leader."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from paprle.contracts.axes import AxisSpeeds
from paprle.contracts.kit.callables import load_callable
from paprle.contracts.kit.playback import Playback
from paprle.contracts.plugins import Clock, Leader
from paprle.contracts.types import (
    Emits,
    Feedback,
    LeaderInfo,
    LeaderSample,
    RobotInfo,
    Vec,
)
from paprle.leaders.offline.config import OfflineConfig
from paprle.leaders.offline.frames import FrameCalls
from paprle.leaders.offline.motion import RecordedMotion, load_motion
from paprle.leaders.offline.timeline import Timeline
from paprle.leaders.offline.track import Rows


class Offline(Leader):
    """Plays a motion while engaged."""

    def __init__(self, config: OfflineConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._loaded: tuple[RecordedMotion, Timeline] | None = None
        self._playback = Playback(0.0, config.loop)
        self._calls: FrameCalls | None = None
        self._seq = 0
        self._robot: RobotInfo | None = None

    def meet(self, robot: RobotInfo) -> None:
        """Take the joint limits."""
        self._robot = robot

    @property
    def info(self) -> LeaderInfo:
        """Contents of the files, read on first access.

        Raises:
            ConfigError: If files do not match the config.
            DeviceError: If a file is unreadable, or has no motion.
        """
        motion, _ = self._load()
        rows = {name: track.rows for name, track in motion.tracks.items()}
        names = {name: r.joint_names for name, r in rows.items() if r.q is not None}
        axes = {name: r.axis_names for name, r in rows.items() if r.axes is not None}
        emits: Emits = "joints" if names else "pose"
        absolute = self._find_absolute(motion, rows)
        speeds = [self.config.speed * one for one in motion.axis_speeds]
        return LeaderInfo(
            limbs=tuple(rows),
            emits="axes" if len(axes) == len(rows) else emits,
            joint_names=names,
            axes=axes,
            axis_speeds=AxisSpeeds(*speeds),
            is_absolute=bool(absolute),
            relative=frozenset(rows) - absolute,
            is_human=False,
            has_gripper=any(r.opening is not None for r in rows.values()),
            look_ahead=motion.period / self.config.speed,
            robot=motion.robot,
            motion={name: r.q for name, r in rows.items() if r.q is not None},
            path=self._paths,
            reposture=self.config.reposture,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Findings in the files."""
        return self._load()[0].notes

    def open(self) -> None:
        """Load the files for the first episode.

        Raises:
            DeviceError: If ``hook`` names no function.
        """
        motion, timeline = self._load()
        if self.config.hook:
            call = load_callable(self.config.hook, "leader.hook")
            self._calls = FrameCalls(motion.frames, motion.begin, call)
        self._playback = Playback(timeline.duration, self.config.loop)

    def latest(self) -> LeaderSample:
        """Return the current motion; invalid in a gap."""
        motion, timeline = self._load()
        now_ns = self.clock()
        moment = timeline.at(self._playback.advance(now_ns))
        self._playback.coast_until_ns = moment.lost_until_ns
        if self._calls is not None and self._playback.has_begun:
            self._calls.play_to(moment.source, is_over=self._playback.is_over)
        self._seq += 1
        return LeaderSample(
            stamp_ns=now_ns,
            seq=self._seq,
            limbs={
                name: track.at(moment.source) for name, track in motion.tracks.items()
            },
            valid=not moment.lost_until_ns,
            start=self._playback.asks_to_start and not moment.lost_until_ns,
            end=self._playback.is_over,
            is_exhausted=self._playback.is_exhausted,
        )

    def apply(self, feedback: Feedback) -> None:
        """Run while engaged, anew with each episode."""
        self._playback.apply(feedback, self.clock())

    def close(self) -> None:
        """Do nothing."""

    def _find_absolute(
        self, motion: RecordedMotion, rows: Mapping[str, Rows]
    ) -> frozenset[str]:
        posed = frozenset(name for name, own in rows.items() if own.p is not None)
        told = {"auto": motion.absolute, "absolute": posed, "relative": frozenset()}
        return posed & told[self.config.frame]

    @cached_property
    def _paths(self) -> dict[str, Vec]:
        motion, timeline = self._load()
        paths = {}
        for name, track in motion.tracks.items():
            rows = track.rows
            if rows.p is not None and rows.quat_xyzw is not None:
                played = [timeline.find_play_time(t) for t in rows.t.tolist()]
                paths[name] = np.column_stack([played, rows.p, rows.quat_xyzw])
        return paths

    def _load(self) -> tuple[RecordedMotion, Timeline]:
        if self._loaded is None:
            motion = load_motion(self.config, self._robot)
            timeline = Timeline(list(motion.tracks.values()), self.config.speed)
            self._loaded = motion, timeline
        return self._loaded
