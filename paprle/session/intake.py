"""What the session accepts from a leader: order, age, tracking, plausible motion.

Bad samples are refused and counted, never repaired into something that moves a robot.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from paprle.errors import SessionError
from paprle.types import LeaderSample
from paprle.wire import Layout, Record, unpack_sample

_MAX_HAND_SPEED = 3.0  # [m/s] spec: safety.md A5
_MAX_HAND_TURN = 20.0  # [rad/s] chosen: quicker than a wrist turns
_NOISE_TURN = 0.1  # [rad] chosen: jitter of a tracked orientation
_NOISE = 0.01  # [m] chosen: jitter of a tracked pose between two close stamps
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

    def take(self, record: Record | None, now_ns: int) -> None:
        """Look at the mailbox's newest record."""
        if record is None or (self.sample and record["seq"] == self.sample.seq):
            return
        refusal = self._find_refusal(record)
        if refusal:
            self.refused[refusal] += 1
            return
        sample = unpack_sample(self._layout, record)
        self.jumped = self._has_jumped(sample)
        if self.jumped:
            self.refused["jump"] += 1
        self.sample, self.record, self.arrived_ns = sample, record, now_ns

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

    def _find_refusal(self, record: Record) -> str:
        if self.sample is not None:
            seq = int(record["seq"])
            if seq < self.sample.seq or seq - self.sample.seq > _MAX_SEQUENCE_JUMP:
                return "sequence"
        poses = record["pose"]
        norms = np.linalg.norm(poses[:, 3:], axis=1)
        low, high = _QUATERNION_NORM
        # an absent pose is NaN throughout; anything else must be whole
        is_absent = np.isnan(poses).all(axis=1)
        is_whole = np.isfinite(poses).all(axis=1) & (norms >= low) & (norms <= high)
        if not (is_absent | is_whole).all():
            return "pose"
        has_joints = not is_absent.all() or np.isfinite(record["q"]).any()
        if not has_joints or np.isinf(record["q"]).any():
            return "empty"
        return ""

    def _has_jumped(self, sample: LeaderSample) -> bool:
        if self.sample is None or not self.sample.valid:
            return False
        dt = max((sample.stamp_ns - self.sample.stamp_ns) * 1e-9, 0.0)
        allowed = _MAX_HAND_SPEED * dt + _NOISE
        allowed_turn = _MAX_HAND_TURN * dt + _NOISE_TURN
        for limb, command in sample.limbs.items():
            T = command.T_leader_base_leader_eef
            before = self.sample.limbs[limb].T_leader_base_leader_eef
            if T is None or before is None:
                continue
            step = float(np.linalg.norm(T.translation - before.translation))
            turn = float(np.trace(before.rotation.T @ T.rotation) - 1.0) / 2.0
            if step > allowed or math.acos(min(max(turn, -1.0), 1.0)) > allowed_turn:
                return True
        return False
