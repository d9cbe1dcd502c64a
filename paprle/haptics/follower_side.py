"""Follower's state, mapped to the leader."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from paprle.contracts.gate_status import GateStatus
from paprle.contracts.settings.feedback import RigSettings
from paprle.contracts.types import GateState, Vec
from paprle.haptics.contact.detection import JointContacts
from paprle.haptics.follower_model import FollowerModel
from paprle.haptics.joints import ContactGroup
from paprle.haptics.mirror import JointMirror
from paprle.haptics.reason_bits import HELD, NEAR
from paprle.ipc.records import HeadCodec, Layout, Record

Flags = npt.NDArray[np.bool_]

_PERIODS = 3.0  # spec: safety.md L3
_PAUSE_NS = 250_000_000  # spec: safety.md L3: what is older stops the gate
_LEARN = 0.1  # chosen: in ten periods a rate is known


class FollowerInLeaderJoints(NamedTuple):
    """Follower in the leader's joints, shape (M,); NaN: unmapped.

    Attributes:
        gate: Output of the gate, [rad].
        model: Predicted position in free motion, [rad].
        tau: Measured efforts, [N·m].
    """

    gate: Vec
    follower: Vec
    model: Vec
    tau: Vec


class FollowerSide:
    """Newest status of the gate.

    Attributes:
        q_gate: Output of the gate, shape (n,).
        clearance: Smallest clearance, [m]; +inf if unknown.
    """

    def __init__(
        self,
        layout: Layout,
        rig: RigSettings,
        mirror: JointMirror,
        parts: Sequence[ContactGroup],
    ) -> None:
        columns = [part.columns for part in parts]
        self.model = FollowerModel(rig, layout.joint_names, columns)
        self._mirror, self._parts = mirror, parts
        self._status: Record = np.zeros((), dtype=layout.status)
        self._codec = HeadCodec(GateStatus, layout.status)
        self.q_gate: Vec = self._status["q_cmd"]
        self.q_meas: Vec = self._status["q_meas"]
        self._tau_meas: Vec = self._status["tau_meas"]
        self._stamp_ns, self._meas_ns, self._state = 0, 0, GateState.DISARMED
        self._period_ns = 0.0
        self.clearance, self.is_near = math.inf, False
        self._is_finite = False
        n, delay = mirror.is_driven.size, rig.loop_delay
        self._gate_hold, self._delay = JointContacts(np.full(n, 2.0 * delay)), delay
        self._q_late: Vec | None = None

    def update(self, status: Record) -> None:
        """Copy a status and advance the model."""
        self._status[()] = status
        head = self._codec.read(self._status)
        self._learn_period(head.stamp_ns - self._stamp_ns)
        self._stamp_ns, self._meas_ns = head.stamp_ns, head.meas_ns
        self._state = GateState(head.state)
        self.clearance = math.inf if math.isnan(head.clearance) else head.clearance
        self.is_near = bool(head.reasons & NEAR)
        self._is_finite = bool(
            np.isfinite(self.q_gate).all() and np.isfinite(self.q_meas).all()
        )
        if self._is_finite:
            self.model.update(
                head.stamp_ns,
                self.q_gate,
                head.meas_ns,
                self.q_meas,
                is_held=bool(head.reasons & HELD),
            )

    @property
    def q_robot(self) -> tuple[Vec, Vec, Vec]:
        """Commanded, measured and predicted joints, shape (n,) each."""
        return self.q_gate, self.q_meas, self.model.q

    def _learn_period(self, passed_ns: int) -> None:
        if 0 < passed_ns <= _PAUSE_NS:
            share = _LEARN if self._period_ns else 1.0
            self._period_ns += share * (passed_ns - self._period_ns)

    def is_following(self, now_ns: int, stale_ns: int) -> bool:
        """Return whether the gate follows, with fresh data."""
        # a slow follower's measurement may be as old as the gate lets it be
        oldest_ns = max(float(stale_ns), _PERIODS * self._period_ns)
        is_fresh = now_ns - self._stamp_ns <= stale_ns
        is_fresh = is_fresh and now_ns - self._meas_ns <= oldest_ns
        return is_fresh and self._is_finite and self._state is GateState.ENGAGED

    def find_free(self) -> Flags:
        """Return joints without contact, by arm, (M,)."""
        is_free = np.ones(self._mirror.is_driven.size, dtype=np.bool_)
        for rows, columns in self._parts:
            is_free[rows] = self.model.is_free[columns].all()
        return is_free

    def find_held(self) -> tuple[Vec, Vec]:
        """Return the certainty of held joints, −1 … 1, and of their parts, (M,)."""
        held = self.model.contact.held
        by_part = np.zeros(self._mirror.is_driven.size)
        for rows, columns in self._parts:
            by_part[rows] = np.abs(held[columns]).max(initial=0.0)
        return self._mirror.held(held), by_part

    def find_gate_held(self, q: Vec, dt: float) -> Vec:
        """Return the certainty of gate-held joints, (M,); dt 0 resets."""
        if dt <= 0.0 or self._q_late is None:
            self._q_late = q
            self._gate_hold.reset()
            return np.zeros(q.size)
        self._q_late = self._q_late + (q - self._q_late) * (dt / (dt + self._delay))
        q_gate = self._mirror.positions(self.q_gate)
        q_gate = np.where(np.isnan(q_gate), q, q_gate)
        self._gate_hold.update(dt, q, q_gate, self._q_late)
        return np.abs(self._gate_hold.held)

    def mirror(self) -> FollowerInLeaderJoints:
        """Return the follower in the leader's joints."""
        positions = self._mirror.positions
        return FollowerInLeaderJoints(
            positions(self.q_gate),
            positions(self.q_meas),
            positions(self.model.q),
            self._mirror.efforts(self._tau_meas),
        )
