"""Waiting, after a stall of the gate, until the measured robot stands.

Going on from the last command would move a robot at rest.
"""

from __future__ import annotations

import numpy as np

from paprle.contracts.types import FollowerState, Vec
from paprle.robot.arrays import Bools

_STILL = 2e-3  # [rad] or [m] chosen: above encoder noise, and 0.04 rad/s over the time
_STILL_NS = 50_000_000  # [ns] chosen: ten states of 200 Hz, two of the slowest


class StandstillDetector:
    """Detects that measured positions stay the same."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._q: Vec | None = None
        self._since_ns = 0

    @property
    def has_seen(self) -> bool:
        """Whether any position was seen."""
        return self._q is not None

    def look(self, q: Vec, stamp_ns: int) -> bool:
        """Return whether q, shape (n,), stayed within 2 mrad or 2 mm for 50 ms."""
        if self._q is None or not np.abs(q - self._q).max() <= _STILL:
            self._q, self._since_ns = q.copy(), stamp_ns
        return stamp_ns - self._since_ns >= _STILL_NS


class Standstill:
    """Detects standstill, and chooses the position to hold.

    Attributes:
        is_awaited: The robot may still move after a stall.
    """

    def __init__(self, is_arm: Bools, lag_bound: float, patience: float) -> None:
        """Make it for a mask of arm joints, shape (n,).

        ``lag_bound`` is the largest distance from the command, [rad]; ``patience`` the
        longest motion after a stall, [s].
        """
        self.is_awaited = False
        self._is_arm, self._lag_bound = is_arm, lag_bound
        self._patience_ns = int(patience * 1e9)
        self._begin_ns, self._still = 0, StandstillDetector()

    def wait(self, now_ns: int) -> None:
        """Begin to wait at a time, [ns]."""
        self.is_awaited, self._begin_ns = True, now_ns
        self._still.forget()

    def look(self, meas: FollowerState | None) -> bool:
        """Return whether the robot stands; ends the waiting."""
        if meas is None:
            return False
        self.is_awaited = not self._still.look(meas.q, meas.stamp_ns)
        return not self.is_awaited

    def is_overdue(self, now_ns: int) -> bool:
        """Return whether motion lasts longer than any brake takes."""
        is_late = now_ns - self._begin_ns > self._patience_ns
        return is_late and self._still.has_seen

    def choose(self, q_held: Vec, q_meas: Vec) -> Vec:
        """Return q_held, or q_meas if the arm is far off."""
        is_off = np.abs(q_held - q_meas)[self._is_arm] > self._lag_bound
        return np.where(self._is_arm & is_off.any(), q_meas, q_held)
