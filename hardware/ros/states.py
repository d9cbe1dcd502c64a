"""States of a robot's joints, by name and with their age.

The age of a message counts from its arrival, plus the largest of three: its wait here
since the middleware received it, and its lateness behind the quickest one by the
middleware's own stamp, and by its header's: arrival − stamp, beyond the least of it. So
the sender's clock need not be ours; how late the quickest one was is unknown. That
least may rise slowly, as clocks drift. A stamp that goes back is another clock, and
begins anew; one of simulated time, or none, is not used, and neither is the header of a
driver that stamps what it repeats: hence the middleware's.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from paprle.hardware.ros.bus import Bus
from paprle.hardware.ros.joints import Vec, decode_joints
from paprle.hardware.ros.messages import Codec, MessageError
from paprle.hardware.ros.turns import TURN, Turns

_LONGEST_STEP = 0.5  # [s] chosen: states farther apart than this give no velocity
_JUMP = 0.2  # [rad] chosen: between two states, beyond what twice V explains
_LONGEST_WAIT_NS = 1_000_000_000  # [ns] chosen: more is another clock, not a wait
_STEADY_NS = 1_000_000_000  # [ns] chosen: without a jump for so long, it is over
_DRIFT = 500e-6  # spec: RFC 5905, MAXFREQ: no clock that NTP keeps drifts faster
_SIMULATED_NS = 10**18  # [ns] chosen: before 2001 it is no time of day

Ints = npt.NDArray[np.int64]


class _Stamps:
    """One kind of stamp of each joint's messages, and the quickest of them.

    Attributes:
        last_ns: Stamp of each joint's last message, shape (n,), [ns].
    """

    def __init__(self, n: int) -> None:
        self.last_ns, self._least_ns = np.zeros((2, n), dtype=np.int64)

    def find_delay(
        self, ours: list[int], stamp_ns: int, now_ns: int, since_ns: Ints
    ) -> Ints:
        """Return by how much a message is later than the quickest one.

        Args:
            ours: Its joints, m of them.
            stamp_ns: Its stamp, [ns].
            now_ns: When it arrived, [ns].
            since_ns: How long before that the last one did, shape (m,), [ns].

        Returns:
            Shape (m,), [ns]; zero for stamps that say nothing.
        """
        before_ns, self.last_ns[ours] = self.last_ns[ours], stamp_ns
        if stamp_ns < _SIMULATED_NS:
            return np.zeros(len(ours), dtype=np.int64)
        offset = now_ns - stamp_ns
        drift = (_DRIFT * since_ns).astype(np.int64)
        is_same_clock = (before_ns >= _SIMULATED_NS) & (stamp_ns >= before_ns)
        least = np.minimum(self._least_ns[ours] + drift, offset)
        self._least_ns[ours] = np.where(is_same_clock, least, offset)
        return np.asarray(offset - self._least_ns[ours])


class JointStates:
    """The joints of a robot, from any number of topics.

    Attributes:
        q: Positions, shape (n,), [rad] or [m]; NaN before they are known. Of a driver
            that publishes angles within one turn the whole turns are added.
        dq: Velocities, shape (n,); differences where none but 0 were ever told.
        tau: Efforts, shape (n,); NaN where there are none.
        stamps_ns: When each joint was measured, as far as is known, shape (n,), [ns].
        n_heard: Messages that told of each joint, shape (n,).
        n_refused: Messages that could not be used.
        jump: A change that no motion explains, until a second without one; or empty.
        turns: The whole turns of each joint.
    """

    def __init__(
        self,
        codec: Codec,
        names: tuple[str, ...],
        scale: Vec,
        dq_max: Vec,
        turns: Turns,
    ) -> None:
        """Know nothing yet.

        Args:
            codec: Messages of the robot's distribution.
            names: What ROS calls the joints, in vector order.
            scale: Position in ROS over position in the URDF, shape (n,).
            dq_max: Velocity limits V, shape (n,), [rad/s] or [m/s].
            turns: Counts the whole turns of these joints.
        """
        self._codec, self._names = codec, names
        self._scale, self._dq_max = scale, dq_max
        self.turns = turns
        n = len(names)
        self.q, self.dq, self.tau = np.full((3, n), np.nan)
        self.stamps_ns, self.n_heard = np.zeros((2, n), dtype=np.int64)
        self._arrived_ns = np.zeros(n, dtype=np.int64)
        self._headers, self._sources = _Stamps(n), _Stamps(n)
        self._is_told = np.zeros(n, dtype=np.bool_)
        self.n_refused = 0
        self.jump, self._jumped_ns = "", 0
        self._orders: dict[tuple[str, ...], tuple[list[int], list[int]]] = {}

    def make_callback(
        self, bus: Bus, clock: Callable[[], int]
    ) -> Callable[[bytes], None]:
        """Return what takes the bytes of a JointState, by a clock in [ns]."""
        return lambda data: self.take(
            data, clock(), source_ns=bus.source_ns, waited_ns=bus.waited_ns
        )

    def take(
        self, data: bytes, now_ns: int, *, source_ns: int = 0, waited_ns: int = 0
    ) -> None:
        """Take a JointState.

        Args:
            data: The message.
            now_ns: Time, [ns].
            source_ns: When its middleware says that it was sent, [ns]; 0: unknown.
            waited_ns: How long it has been here, [ns].
        """
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
        """Count whole turns as a controller does, by what it asks for.

        Args:
            names: Its joints, as ROS calls them.
            asked: Positions that it asks for, in ROS's units, in their order.
        """
        ours, theirs = self._find_order(names)
        before = self.turns.n[ours]
        self.turns.agree(ours, asked[theirs] / self._scale[ours])
        self.q[ours] += TURN * (self.turns.n[ours] - before)

    def _find_order(self, names: tuple[str, ...]) -> tuple[list[int], list[int]]:
        """Return where the joints of a message stand with us, and in the message."""
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
        """Return differences over the sender's time, or that of arrival without one."""
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
        """Return each joint's largest move since its last state, shape (m,)."""
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
        """Note a change that no motion explains: other joints under the same names."""
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
