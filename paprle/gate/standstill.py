"""Waits, after a stall of the gate, until the robot is measured to stand.

A robot that is told nothing more comes to rest by itself: at its last target, or along
the brake that its last trajectory carried. Commands that go on from the last one would
set it moving again from there, or pull it back. So nothing is sent until it stands, and
the gate begins anew at rest where the robot holds.
"""

from __future__ import annotations

import numpy as np

from paprle.contracts.types import FollowerState, Vec
from paprle.robot.arrays import Bools

_STILL = 2e-3  # [rad] or [m] chosen: above encoder noise, and 0.04 rad/s over the time
_STILL_NS = 50_000_000  # [ns] chosen: ten states of 200 Hz, two of the slowest


class Still:
    """Tells whether measured positions stay where they are."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._q: Vec | None = None
        self._since_ns = 0

    @property
    def has_seen(self) -> bool:
        """Whether there was a position since the begin."""
        return self._q is not None

    def look(self, q: Vec, stamp_ns: int) -> bool:
        """Take the newest position.

        Args:
            q: Shape (n,), [rad] or [m].
            stamp_ns: When it was measured, [ns].

        Returns:
            Whether all have been within 2 mrad or 2 mm for 50 ms.
        """
        if self._q is None or not np.abs(q - self._q).max() <= _STILL:
            self._q, self._since_ns = q.copy(), stamp_ns
        return stamp_ns - self._since_ns >= _STILL_NS


class Standstill:
    """Tells whether the robot stands, and where it is to be held.

    Attributes:
        is_awaited: The gate has stalled in motion, and the robot may still move.
    """

    def __init__(self, is_arm: Bools, lag_bound: float, patience: float) -> None:
        """Make it.

        Args:
            is_arm: Which joints are no grippers, shape (n,).
            lag_bound: How far from its command a robot may hold, [rad].
            patience: A robot that still moves after this time moves untold, [s].
        """
        self.is_awaited = False
        self._is_arm, self._lag_bound = is_arm, lag_bound
        self._patience_ns = int(patience * 1e9)
        self._begin_ns, self._still = 0, Still()

    def wait(self, now_ns: int) -> None:
        """Begin to wait at a time, [ns]."""
        self.is_awaited, self._begin_ns = True, now_ns
        self._still.forget()

    def look(self, meas: FollowerState | None) -> bool:
        """Return whether the robot stands, which ends the waiting.

        Args:
            meas: The measured state of this period; None: no good one.

        Returns:
            Whether it does.
        """
        if meas is None:
            return False
        self.is_awaited = not self._still.look(meas.q, meas.stamp_ns)
        return not self.is_awaited

    def is_overdue(self, now_ns: int) -> bool:
        """Return whether the robot moves for longer than any brake takes.

        Args:
            now_ns: Monotonic time, [ns].

        Returns:
            Whether it does.
        """
        is_late = now_ns - self._begin_ns > self._patience_ns
        return is_late and self._still.has_seen

    def choose(self, q_held: Vec, q_meas: Vec) -> Vec:
        """Return where to begin, shape (n,).

        Args:
            q_held: Where a robot that is told nothing holds, shape (n,).
            q_meas: Where it stands, shape (n,).

        Returns:
            The first, which moves nothing, unless the arm is elsewhere.
        """
        is_off = np.abs(q_held - q_meas)[self._is_arm] > self._lag_bound
        return np.where(self._is_arm & is_off.any(), q_meas, q_held)
