"""What a robot says of its joints: by name, and as old as it is.

A message counts as old as its arrival, and older by what it came later than the
quickest one: arrival − header, beyond the least of it. So the sender's clock need not
be ours; how late the quickest one was nobody can tell. That least may rise slowly, as
clocks drift. A header that goes back is another clock, and begins anew; one of
simulated time, or none, says nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from hardware.ros.joints import Vec, decode_joints
from hardware.ros.messages import Codec, MessageError

_LONGEST_STEP = 0.5  # [s] chosen: states farther apart than this give no velocity
_JUMP = 0.2  # [rad] chosen: between two states, beyond what twice V explains
_LONGEST_WAIT_NS = 1_000_000_000  # [ns] chosen: more is another clock, not a wait
_STEADY_NS = 1_000_000_000  # [ns] chosen: without a jump for so long, it is over
_DRIFT = 500e-6  # spec: RFC 5905, MAXFREQ: no clock that NTP keeps drifts faster
_SIMULATED_NS = 10**18  # [ns] chosen: before 2001 it is no time of day

Ints = npt.NDArray[np.int64]


class JointStates:
    """The joints of a robot, from any number of topics.

    Attributes:
        q: Positions, shape (n,), [rad] or [m]; NaN before they are known.
        dq: Velocities, shape (n,).
        tau: Efforts, shape (n,); NaN where there are none.
        stamps_ns: When each joint was measured, as far as is known, shape (n,), [ns].
        n_heard: Messages that told of each joint, shape (n,).
        n_refused: Messages that could not be used.
        jump: A change that no motion explains, until a second without one; or empty.
    """

    def __init__(
        self, codec: Codec, names: tuple[str, ...], scale: Vec, dq_max: Vec
    ) -> None:
        """Know nothing yet.

        Args:
            codec: Messages of the robot's distribution.
            names: What ROS calls the joints, in vector order.
            scale: Position in ROS over position in the URDF, shape (n,).
            dq_max: Velocity limits V, shape (n,), [rad/s] or [m/s].
        """
        self._codec, self._names = codec, names
        self._scale, self._dq_max = scale, dq_max
        n = len(names)
        self.q, self.dq, self.tau = np.full((3, n), np.nan)
        self.stamps_ns, self.n_heard = np.zeros((2, n), dtype=np.int64)
        self._arrived_ns, self._header_ns, self._least_ns = np.zeros(
            (3, n), dtype=np.int64
        )
        self.n_refused = 0
        self.jump, self._jumped_ns = "", 0
        self._orders: dict[tuple[str, ...], tuple[list[int], list[int]]] = {}

    def make_callback(self, clock: Callable[[], int]) -> Callable[[bytes], None]:
        """Return what takes the bytes of a JointState, by a clock in [ns]."""
        return lambda data: self.take(data, clock())

    def take(self, data: bytes, now_ns: int) -> None:
        """Take a JointState that arrived just now, [ns]."""
        try:
            joints = decode_joints(self._codec, data)
        except MessageError:
            self.n_refused += 1
            return
        ours, theirs = self._find_order(joints.names)
        if not ours:
            return
        scale = self._scale[ours]
        q, dq = joints.q[theirs] / scale, joints.dq[theirs] / scale
        is_missing = np.isnan(dq)
        if is_missing.any():
            estimated = self._estimate_speed(ours, q, joints.stamp_ns, now_ns)
            dq = np.where(is_missing, estimated, dq)
        self._look_for_jump(ours, q, joints.stamp_ns, now_ns)
        late = self._find_delay(ours, joints.stamp_ns, now_ns)
        self.q[ours], self.dq[ours] = q, dq
        self.tau[ours] = joints.tau[theirs] * scale
        self.stamps_ns[ours], self._arrived_ns[ours] = now_ns - late, now_ns
        self._header_ns[ours] = joints.stamp_ns
        self.n_heard[ours] += 1

    def _find_order(self, names: tuple[str, ...]) -> tuple[list[int], list[int]]:
        """Return where the joints of a message stand with us, and in the message."""
        if names not in self._orders:
            if len(self._orders) > len(self._names) * 8:
                self._orders.clear()  # a sender that makes up names fills no memory
            known = {name: i for i, name in enumerate(self._names)}
            pairs = [(known[name], k) for k, name in enumerate(names) if name in known]
            self._orders[names] = [i for i, _ in pairs], [k for _, k in pairs]
        return self._orders[names]

    def _find_delay(self, ours: list[int], header_ns: int, now_ns: int) -> Ints:
        """Return by how much a message is later than the quickest one, [ns]."""
        if header_ns < _SIMULATED_NS:
            return np.zeros(len(ours), dtype=np.int64)
        offset, before_ns = now_ns - header_ns, self._header_ns[ours]
        drift = (_DRIFT * (now_ns - self._arrived_ns[ours])).astype(np.int64)
        is_same_clock = (before_ns >= _SIMULATED_NS) & (header_ns >= before_ns)
        least = np.minimum(self._least_ns[ours] + drift, offset)
        self._least_ns[ours] = np.where(is_same_clock, least, offset)
        return offset - self._least_ns[ours]

    def _estimate_speed(
        self, ours: list[int], q: Vec, header_ns: int, now_ns: int
    ) -> Vec:
        """Return differences over the sender's time, or that of arrival without one."""
        has_stamps = (self._header_ns[ours] > 0) & (header_ns > 0)
        by_header = header_ns - self._header_ns[ours]
        by_arrival = now_ns - self._arrived_ns[ours]
        dt = np.where(has_stamps, by_header, by_arrival) * 1e-9
        is_usable = (dt > 1e-4) & (dt < _LONGEST_STEP)
        before = np.nan_to_num(self.dq[ours])
        steps = (q - self.q[ours]) / np.where(is_usable, dt, 1.0)
        standing = np.where(dt >= _LONGEST_STEP, 0.0, before)
        return np.where(is_usable & np.isfinite(steps), steps, standing)

    def _look_for_jump(
        self, ours: list[int], q: Vec, header_ns: int, now_ns: int
    ) -> None:
        """Note a change that no motion explains: other joints under the same names.

        What waited while we stood still comes at once and with gaps: then the sender's
        stamps tell how much time was between.
        """
        before_ns = self._header_ns[ours]
        by_header = np.where(before_ns > 0, header_ns - before_ns, 0)
        by_header = np.where(by_header <= _LONGEST_WAIT_NS, by_header, 0)
        dt = np.maximum(now_ns - self._arrived_ns[ours], by_header) * 1e-9
        allowed = _JUMP + 2.0 * self._dq_max[ours] * dt
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
