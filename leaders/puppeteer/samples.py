"""Samples of the buses' snapshots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from paprle.contracts.kit.gestures.grip import (
    GripperReading,
    GripperSignals,
    OperatorSignals,
)
from paprle.contracts.types import JointState, LeaderSample, LimbCommand, SessionState
from paprle.hardware.dynamixel.bus_thread import Snapshot
from paprle.leaders.puppeteer.arm import Arm, ArmState, stand_still
from paprle.leaders.puppeteer.config import PuppeteerConfig
from paprle.leaders.puppeteer.fault_log import find_limp_joints
from paprle.leaders.puppeteer.gestures.presence import ArmPresence, Look

_AT_REST = 0.2  # [rad/s] chosen: eight counts of a servo's velocity; hands are quicker


class SampleMaker:
    """Makes one opened rig's samples, in one thread at a time.

    Attributes:
        is_quiet: The arms stand, without signals.
    """

    def __init__(self, config: PuppeteerConfig, arms: Sequence[Arm]) -> None:
        self.presence = ArmPresence(arm.name for arm in arms)
        self.sample: LeaderSample | None = None
        self.is_quiet = False
        self._arms = arms
        self._seen: Sequence[int] = ()  # numbers of the snapshots that were looked at
        self._goes_on = config.on_loss == "go_on"
        self._signals = GripperSignals(config.reset_box)
        self._whole: Sequence[ArmState] = ()  # when all arms were there last
        self._joint_names = tuple(
            f"{arm.name}/{joint}" for arm in arms for joint in arm.joint_names
        )

    def update(
        self,
        snapshots: Mapping[str, Snapshot],
        state: SessionState | None,
        now_ns: int,
        *,
        is_engaged: bool,
    ) -> LeaderSample | None:
        """Return the newest sample, renewed if due at ``now_ns``."""
        seqs = [snapshot.seq for snapshot in snapshots.values()]
        if seqs == self._seen:
            return self.sample
        self._seen = seqs
        looks = {
            arm.name: _look_at(arm, snapshots[arm.settings.port]) for arm in self._arms
        }
        if self.presence.update(looks, is_engaged=is_engaged):
            self.sample = self._make(snapshots, state, now_ns)
        return self.sample

    def _make(
        self, snapshots: Mapping[str, Snapshot], state: SessionState | None, now_ns: int
    ) -> LeaderSample:
        last = self.sample
        arms = [arm for arm in self._arms if arm.name not in self.presence.lost]
        states = [arm.convert(snapshots[arm.settings.port].reading) for arm in arms]
        used = {arm.settings.port for arm in arms} or snapshots
        stamp_ns = min(snapshots[port].reading.stamp_ns for port in used)
        is_whole = len(arms) == len(self._arms)
        limbs = {
            arm.name: LimbCommand(q=s.q[: arm.n_arm], opening=s.opening)
            for arm, s in zip(arms, states, strict=True)
        }
        signals = self._read_signals(states if is_whole else None, state, now_ns)
        return LeaderSample(
            stamp_ns=stamp_ns if last is None else max(stamp_ns, last.stamp_ns),
            seq=0 if last is None else last.seq + 1,
            limbs=limbs,
            valid=is_whole or (self._goes_on and bool(arms)),
            engaged=signals.engaged,
            start=signals.start,
            end=signals.end,
            leader_state=self._join(self._fill_in(arms, states)),
            limp_joints=find_limp_joints(self._arms, snapshots, self.presence.lost),
        )

    def _read_signals(
        self, states: Sequence[ArmState] | None, state: SessionState | None, now_ns: int
    ) -> OperatorSignals:
        if states is None:
            self.is_quiet = False
            self._signals.require_press()
            return OperatorSignals(engaged=True)
        both = list(zip(self._arms, states, strict=True))
        reading = GripperReading(
            openings=[s.opening for s in states if s.opening is not None],
            arms=[s.q[: arm.n_arm] for arm, s in both],
            distances=[arm.find_distance(s) for arm, s in both],
        )
        signals = self._signals.step(state, reading, now_ns)
        is_at_rest = all(np.abs(s.dq).max() <= _AT_REST for s in states)
        self.is_quiet = is_at_rest and not self._signals.is_holding
        return signals

    def _fill_in(
        self, arms: Sequence[Arm], states: Sequence[ArmState]
    ) -> Sequence[ArmState]:
        if len(arms) == len(self._arms):
            self._whole = states
            return states
        found = {arm.name: state for arm, state in zip(arms, states, strict=True)}
        return [
            found.get(arm.name) or stand_still(state)
            for arm, state in zip(self._arms, self._whole, strict=False)
        ]

    def _join(self, states: Sequence[ArmState]) -> JointState | None:
        # Torques are given only where all are measured.
        if not states:
            return None
        q, dq, tau = (
            np.concatenate(parts)
            for parts in zip(*((s.q, s.dq, s.tau) for s in states), strict=True)
        )
        for values in (q, dq, tau):
            values.setflags(write=False)
        is_measured = bool(np.isfinite(tau).all())
        return JointState(
            joint_names=self._joint_names, q=q, dq=dq, tau=tau if is_measured else None
        )


def _look_at(arm: Arm, snapshot: Snapshot) -> Look:
    is_answering = snapshot.is_open and arm.is_in(snapshot.reading)
    return Look(snapshot.seq, snapshot.reading.stamp_ns, is_answering)
