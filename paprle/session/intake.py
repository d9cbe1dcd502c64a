"""What the session accepts from a leader: order, age, tracking, plausible motion.

Bad samples are refused and counted, never repaired into something that moves a robot.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from paprle.errors import SessionError
from paprle.types import LeaderSample, LimbCommand
from paprle.wire import Layout, Record, unpack_sample

_MAX_HAND_SPEED = 3.0  # [m/s] spec: safety.md A5
_MAX_HAND_TURN = 20.0  # [rad/s] chosen: quicker than a wrist turns
_MAX_JOINT_SPEED = 20.0  # [rad/s] chosen: quicker than a hand moves a puppeteer
_NOISE_JOINT = 0.05  # [rad] chosen: several steps of any encoder
_BURST = 0.1  # [s] chosen: samples may be held up this long and then come at once
_STEADY_NS = 200_000_000  # chosen: an automatic leader re-engages after this much data
_NOISE_TURN = 0.1  # [rad] chosen: jitter of a tracked orientation
_NOISE = 0.01  # [m] chosen: jitter of a tracked pose between two close stamps
_FARTHEST = 1e4  # [m] chosen: beyond any tracked space; 1e30 is no pose
_QUATERNION_NORM = (0.9, 1.1)  # spec: safety.md A6
_MAX_SEQUENCE_JUMP = 1_000_000  # spec: safety.md A3


class Intake:
    """The newest sample that may be used, how old it is, and what was refused.

    Attributes:
        sample: The newest accepted sample; None before the first.
        record: The same as it came.
        arrived_ns: When it was accepted, [ns].
        refused: Refusals so far, by reason.
        jumped: The newest accepted sample is not a plausible motion from the last.
    """

    def __init__(self, layout: Layout, max_age: float) -> None:
        self._layout = layout
        self._max_age_ns = int(max_age * 1e9)
        self.sample: LeaderSample | None = None
        self.record: Record | None = None
        self.arrived_ns = 0
        self.refused: Counter[str] = Counter()
        self.jumped = False
        self._seen: set[str] = set()
        self._usable_since_ns: int | None = None

    def take(self, record: Record | None, now_ns: int) -> None:
        """Look at the mailbox's newest record."""
        if record is None or (self.sample and record["seq"] == self.sample.seq):
            return
        refusal = self._find_refusal(record)
        if refusal:
            self.refused[refusal] += 1
            return
        sample = unpack_sample(self._layout, record)
        self.jumped = self._has_jumped(sample, now_ns)
        if self.jumped:
            self.refused["jump"] += 1
        self.sample, self.record, self.arrived_ns = sample, record, now_ns
        self._seen.update(
            limb
            for limb, command in sample.limbs.items()
            if command.q is not None or command.T_leader_base_leader_eef is not None
        )

    def get_sample(self) -> LeaderSample:
        """Return the newest accepted sample, where ``is_usable`` has been seen.

        Raises:
            SessionError: If there is none.
        """
        if self.sample is None:
            raise SessionError("intake: expected a sample, got none yet")
        return self.sample

    def is_fresh(self, now_ns: int) -> bool:
        """Whether the newest sample is young enough to move a robot (A1)."""
        return self.sample is not None and now_ns - self.arrived_ns <= self._max_age_ns

    def is_usable(self, now_ns: int) -> bool:
        """Whether it is fresh, tracked, plausible, and the dead-man is held."""
        sample = self.sample
        return (
            sample is not None
            and self.is_fresh(now_ns)
            and sample.valid
            and sample.engaged
            and not self.jumped
        )

    def is_steady(self, now_ns: int) -> bool:
        """Whether it has been usable for a while: asked once every tick."""
        if not self.is_usable(now_ns):
            self._usable_since_ns = None
            return False
        if self._usable_since_ns is None:
            self._usable_since_ns = now_ns
        return now_ns - self._usable_since_ns >= _STEADY_NS

    def _find_refusal(self, record: Record) -> str:
        if self.sample is not None:
            seq = int(record["seq"])
            if seq < self.sample.seq or seq - self.sample.seq > _MAX_SEQUENCE_JUMP:
                return "sequence"
        poses = record["pose"]
        is_sane = (np.abs(poses) < _FARTHEST).all(axis=1)  # NaN and infinity are not
        norms = np.linalg.norm(np.where(is_sane[:, None], poses, 0.0)[:, 3:], axis=1)
        low, high = _QUATERNION_NORM
        # an absent pose is NaN throughout; anything else must be whole
        is_absent = np.isnan(poses).all(axis=1)
        is_whole = is_sane & (norms >= low) & (norms <= high)
        if not (is_absent | is_whole).all():
            return "pose"
        has_joints = not is_absent.all() or np.isfinite(record["q"]).any()
        if not has_joints or np.isinf(record["q"]).any():
            return "empty"
        return ""

    def _has_jumped(self, sample: LeaderSample, now_ns: int) -> bool:
        """Whether this is no plausible motion from the last valid sample (A5)."""
        before = self.sample
        if before is None or not before.valid:
            return False
        arrival = (now_ns - self.arrived_ns) * 1e-9
        dt = (sample.stamp_ns - before.stamp_ns) * 1e-9
        dt = min(max(dt, 0.0), max(arrival, _BURST))  # a stamp alone allows nothing
        for limb, command in sample.limbs.items():
            last = before.limbs[limb]
            if _has_returned(command, last) and limb in self._seen:
                return True
            if _is_leap(command, last, dt):
                return True
        return False


def _has_returned(command: LimbCommand, last: LimbCommand) -> bool:
    """Whether a limb that was absent is there again, wherever it may be."""
    is_there = command.q is not None or command.T_leader_base_leader_eef is not None
    was_there = last.q is not None or last.T_leader_base_leader_eef is not None
    return is_there and not was_there


def _is_leap(command: LimbCommand, last: LimbCommand, dt: float) -> bool:
    """Whether a limb moved farther than a hand can in that time."""
    T, T_last = command.T_leader_base_leader_eef, last.T_leader_base_leader_eef
    if T is not None and T_last is not None:
        step = float(np.linalg.norm(T.translation - T_last.translation))
        cosine = float(np.trace(T_last.rotation.T @ T.rotation) - 1.0) / 2.0
        turn = math.acos(min(max(cosine, -1.0), 1.0))
        return (
            step > _MAX_HAND_SPEED * dt + _NOISE
            or turn > _MAX_HAND_TURN * dt + _NOISE_TURN
        )
    if command.q is not None and last.q is not None:
        leap = np.abs(command.q - last.q)
        return bool((leap > _MAX_JOINT_SPEED * dt + _NOISE_JOINT).any())
    return False
