"""Every trajectory carries its own stop.

What follows the next point is the brake that the gate has verified: each joint slows
down at its A from the last difference of commands. A controller that hears nothing more
therefore brakes by itself, on that path and on time, whoever was killed.

The gate's brake in command time is c + Σ (v − i A h) h, i = 1 … n. These positions lie
on one parabola, c + w t − A t²/2 with w = v − A h/2, at t = i h, which ends where w is
used up. A cubic through positions and velocities is exact on it, so a point is needed
only where some joint comes to rest.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Vec = npt.NDArray[np.float64]

_APART = (
    1e-3  # [s] chosen: points nearer than this are one; below any controller's period
)


class StopPlanner:
    """Adds to each command the brake that follows it."""

    def __init__(self, q_min: Vec, q_max: Vec, ddq_max: Vec, period: float) -> None:
        """Take the joints' limits.

        Args:
            q_min: Lower position limits, shape (n,), [rad] or [m].
            q_max: Upper position limits, shape (n,).
            ddq_max: Acceleration limits A, shape (n,), [rad/s²] or [m/s²].
            period: Of a command, h [s].
        """
        self._q_min, self._q_max = q_min, q_max
        self._ddq_max, self._h = ddq_max, period

    def plan(self, q: Vec, q_prev: Vec, lead: float) -> tuple[Vec, Vec, Vec]:
        """Return a trajectory that goes to a command and then stops.

        Args:
            q: The command, shape (n,), [rad] or [m].
            q_prev: The command before it, shape (n,).
            lead: When the command is to be reached, from the start, [s].

        Returns:
            Times [s], shape (k,), positions and velocities, shape (k, n), of k ≤ n + 1
            points; the last velocities are zero.
        """
        A, h = self._ddq_max, self._h
        v = (q - q_prev) / h
        w = np.maximum(np.abs(v) - 0.5 * A * h, 0.0)
        ends = w / A
        t = _merge(ends)
        run = np.minimum(t[:, None], ends)
        direction = np.sign(v)
        positions = q + direction * (w - 0.5 * A * run) * run
        # a joint that stands outside its limits may stay there, not go farther
        low, high = np.minimum(self._q_min, q), np.maximum(self._q_max, q)
        velocities = direction * (w - A * run)
        velocities[-1] = 0.0
        return lead + t, np.clip(positions, low, high), velocities


def _merge(ends: Vec) -> Vec:
    """Return 0 and the ends, increasing, those that nearly coincide as the latest."""
    times = [0.0]
    for end in np.sort(ends):
        if end < times[-1] + _APART:
            if len(times) > 1:
                times[-1] = float(end)
        else:
            times.append(float(end))
    return np.array(times)
