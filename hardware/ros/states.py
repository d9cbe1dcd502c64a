"""States of joints, with their age.

Age counts from arrival, plus the largest known wait or delay before.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paprle.hardware.ros.bus import Bus
from paprle.hardware.ros.joints import Vec, decode_joints
from paprle.hardware.ros.messages import Codec, MessageError
from paprle.hardware.ros.sender_stamps import SenderStamps
from paprle.hardware.ros.turns import TURN, Turns

_LONGEST_STEP = 0.5  # [s] chosen: states farther apart than this give no velocity
_JUMP = 0.2  # [rad] chosen: between two states, beyond what twice V explains
_LONGEST_WAIT_NS = 1_000_000_000  # [ns] chosen: more is another clock, not a wait
_STEADY_NS = 1_000_000_000  # [ns] chosen: without a jump for so long, it is over


class JointStates:
    """Joints from any topics, shape (n,).

    Attributes:
        q: With whole turns, [rad] or [m], or NaN.
        dq: Differences if only 0 is sent.
        stamps_ns: Measurement, [ns].
        jump: Recent impossible motion, or empty.
    """

    def __init__(
        self,
        codec: Codec,
        names: tuple[str, ...],
        scale: Vec,
        dq_max: Vec,
        turns: Turns,
    ) -> None:
        self._codec, self._names = codec, names
        self._scale, self._dq_max = scale, dq_max
        self.turns = turns
        n = len(names)
        self.q, self.dq, self.tau = np.full((3, n), np.nan)
        self.stamps_ns, self.n_heard = np.zeros((2, n), dtype=np.int64)
        self._arrived_ns = np.zeros(n, dtype=np.int64)
        self._headers, self._sources = SenderStamps(n), SenderStamps(n)
        self._is_told = np.zeros(n, dtype=np.bool_)
        self.n_refused = 0
        self.jump, self._jumped_ns = "", 0
        self._orders: dict[tuple[str, ...], tuple[list[int], list[int]]] = {}

    def make_callback(
        self, bus: Bus, clock: Callable[[], int]
    ) -> Callable[[bytes], None]:
        """Return a JointState callback; clock in [ns]."""
        return lambda data: self.take(
            data, clock(), source_ns=bus.source_ns, waited_ns=bus.waited_ns
        )

    def take(
        self, data: bytes, now_ns: int, *, source_ns: int = 0, waited_ns: int = 0
    ) -> None:
        """Take a JointState; ``source_ns`` in middleware's time, 0: unknown."""
        try:
            joints = decode_joints(self._codec, data)
        except MessageError:
            self.n_refused += 1
            return
        ours, theirs = self._find_order(joints.names)
        if not ours:
            return
        scale = self._scale[ours]
        allowed = self._find_allowed(ours, joints.stamp_ns, now_ns)
        read, dq = joints.q[theirs] / scale, joints.dq[theirs] / scale
        q, is_crossing = self.turns.unwrap(ours, read, allowed)
        # a driver that has never told another velocity than 0 does not measure it
        self._is_told[ours] |= np.nan_to_num(dq) != 0.0
        # a driver that derives velocities from its own positions is off at a crossing
        is_missing = np.isnan(dq) | ~self._is_told[ours] | is_crossing
        if is_missing.any():
            estimated = self._estimate_speed(ours, q, joints.stamp_ns, now_ns)
            dq = np.where(is_missing, estimated, dq)
        self._look_for_jump(ours, q, allowed, now_ns)
        since_ns = now_ns - self._arrived_ns[ours]
        late = np.maximum(
            self._headers.find_delay(ours, joints.stamp_ns, now_ns, since_ns),
            self._sources.find_delay(ours, source_ns, now_ns, since_ns),
        )
        late = np.maximum(late, waited_ns)
        self.q[ours], self.dq[ours] = q, dq
        self.tau[ours] = joints.tau[theirs] * scale
        self.stamps_ns[ours], self._arrived_ns[ours] = now_ns - late, now_ns
        self.n_heard[ours] += 1

    def agree_on_turns(self, names: tuple[str, ...], asked: Vec) -> None:
        """Count turns by a controller's reference, in ROS's units."""
        ours, theirs = self._find_order(names)
        before = self.turns.n[ours]
        self.turns.agree(ours, asked[theirs] / self._scale[ours])
        self.q[ours] += TURN * (self.turns.n[ours] - before)

    def _find_order(self, names: tuple[str, ...]) -> tuple[list[int], list[int]]:
        if names not in self._orders:
            if len(self._orders) > len(self._names) * 8:
                self._orders.clear()  # a sender that makes up names fills no memory
            known = {name: i for i, name in enumerate(self._names)}
            pairs = [(known[name], k) for k, name in enumerate(names) if name in known]
            self._orders[names] = [i for i, _ in pairs], [k for _, k in pairs]
        return self._orders[names]

    def _estimate_speed(
        self, ours: list[int], q: Vec, header_ns: int, now_ns: int
    ) -> Vec:
        has_stamps = (self._headers.last_ns[ours] > 0) & (header_ns > 0)
        by_header = header_ns - self._headers.last_ns[ours]
        by_arrival = now_ns - self._arrived_ns[ours]
        dt = np.where(has_stamps, by_header, by_arrival) * 1e-9
        is_usable = (dt > 1e-4) & (dt < _LONGEST_STEP)
        before = np.nan_to_num(self.dq[ours])
        steps = (q - self.q[ours]) / np.where(is_usable, dt, 1.0)
        standing = np.where(dt >= _LONGEST_STEP, 0.0, before)
        return np.where(is_usable & np.isfinite(steps), steps, standing)

    def _find_allowed(self, ours: list[int], header_ns: int, now_ns: int) -> Vec:
        # What waited while we stood still comes at once and with gaps: then the
        # sender's stamps tell how much time was between.
        before_ns = self._headers.last_ns[ours]
        by_header = np.where(before_ns > 0, header_ns - before_ns, 0)
        by_header = np.where(by_header <= _LONGEST_WAIT_NS, by_header, 0)
        dt = np.maximum(now_ns - self._arrived_ns[ours], by_header) * 1e-9
        return np.asarray(_JUMP + 2.0 * self._dq_max[ours] * dt)

    def _look_for_jump(
        self, ours: list[int], q: Vec, allowed: Vec, now_ns: int
    ) -> None:
        steps = np.abs(q - self.q[ours])
        if self.jump and now_ns - self._jumped_ns > _STEADY_NS:
            self.jump = ""
        for k in np.flatnonzero(steps > allowed):
            name = self._names[ours[k]]
            self.jump = (
                f"{name} jumped by {steps[k]:.3g} from state to state; is its driver "
                "in radians, in one order of joints, and alone?"
            )
            self._jumped_ns = now_ns
