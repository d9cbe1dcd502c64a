"""Angles between the counts of an encoder; pure.

A count says that the horn is somewhere within it, 1.5 mrad wide at 4096 counts a turn.
Used as an angle, it turns a slow motion into a staircase whose steps ask a robot for
tens of rad/s². Any angle within the count is as likely. So the estimate moves on at the
measured velocity and is corrected only as far as the count demands. It adds no delay.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]

_SOFTLY = 0.12  # chosen: share of an excess taken back in a reading; 20 ms at 400 Hz
_FAR = 4.0  # chosen: counts; farther off it is no motion that could be gone on with
_LONGEST = 0.05  # [s] chosen: over a longer pause the velocity says nothing


class BetweenCounts:
    """Remembers where the servos of a bus were."""

    def __init__(self, count: Vec) -> None:
        """Begin anew.

        Args:
            count: Width of a count of each servo, shape (n,), [rad].
        """
        self._half = 0.5 * count
        self._angle = np.full(len(count), np.nan)
        self._stamp_ns = 0

    def step(self, counted: Vec, velocity: Vec, stamp_ns: int) -> Vec:
        """Return angles for a reading.

        Args:
            counted: Angles of the counts, shape (n,), [rad]; NaN for a silent servo.
            velocity: Measured velocities, shape (n,), [rad/s].
            stamp_ns: When they were measured, [ns].

        Returns:
            Angles within half a count of those, but for what is left of an excess,
            shape (n,), [rad].
        """
        dt = (stamp_ns - self._stamp_ns) * 1e-9
        self._stamp_ns = stamp_ns
        away = self._angle + velocity * dt - counted
        excess = away - np.minimum(np.maximum(away, -self._half), self._half)
        away -= _SOFTLY * excess
        is_lost = ~(np.abs(away) <= _FAR * 2.0 * self._half) | (dt > _LONGEST)
        self._angle = counted + np.where(is_lost, 0.0, away)
        return self._angle.copy()
