"""Shape drawn from the pose of engagement (ARBot, arXiv 2602.06273; A12)."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin

from paprle.contracts.kit.playback import Playback
from paprle.contracts.plugins import Clock, Leader
from paprle.contracts.types import Feedback, LeaderInfo, LeaderSample, LimbCommand
from paprle.leaders.autopilot.config import AutopilotConfig
from paprle.leaders.autopilot.shapes import make_path, make_time_law

_LIMB = "hand"
_R = np.eye(3)  # it never turns


class Autopilot(Leader):
    """Emits poses relative to its start."""

    def __init__(self, config: AutopilotConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._path = make_path(config.shape, config.size, config.aspect)
        self._law = make_time_law(
            config.laps * self._path.length, config.speed, config.ramp
        )
        self._axes = ["xyz".index(axis) for axis in config.plane]
        self._open_again()

    @property
    def info(self) -> LeaderInfo:
        """One hand without an operator."""
        return LeaderInfo(
            limbs=(_LIMB,),
            is_human=False,
            has_gripper=self.config.gripper,
            reposture=self.config.reposture,
        )

    def open(self) -> None:
        """Reset to the first episode."""
        self._open_again()

    def latest(self) -> LeaderSample:
        """Return the current pose."""
        now_ns = self.clock()
        t = self._playback.advance(now_ns) * 1e-9
        self._seq += 1
        return LeaderSample(
            stamp_ns=now_ns,
            seq=self._seq,
            limbs={_LIMB: self._command(t)},
            start=self._playback.asks_to_start,
            end=self._playback.is_over,
            is_exhausted=self._playback.is_exhausted,
        )

    def apply(self, feedback: Feedback) -> None:
        """Run while engaged, anew with each episode."""
        self._playback.apply(feedback, self.clock())

    def close(self) -> None:
        """Do nothing."""

    def _open_again(self) -> None:
        self._playback = Playback(self._law.duration, self.config.episodes)
        self._seq = 0

    def _command(self, t: float) -> LimbCommand:
        walked = self._law.walked(t)
        p = np.zeros(3)
        p[self._axes] = self._path.point(walked)
        opening = None
        if self.config.gripper:
            opening = (1 - math.cos(2 * math.pi * walked / self._path.length)) / 2
        return LimbCommand(T_leader_base_leader_eef=pin.SE3(_R, p), opening=opening)
