"""Online tracking error: A21 of the evaluator.

References:
    ARBot's evaluator: approximate-time pairs of target and actual pose, slop 0.15 s;
    errors since the episode began, and of the last 5 s.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from paprle.contracts.types import Vec

SLOP = 0.15  # [s] spec: requirements A21
WINDOW = 5.0  # [s] spec: requirements A21
_FIRST_ROOM = 4096  # chosen: rows; doubled when full


class Tracking:
    """Errors of a limb in one episode."""

    def __init__(self) -> None:
        # stamp [s], errors along x, y, z [m], angle [rad]
        self._rows = np.zeros((_FIRST_ROOM, 5))
        self.n = 0

    def clear(self) -> None:
        """Begin an episode."""
        self.n = 0

    def add(self, target: tuple[float, Vec], actual: tuple[float, Vec]) -> bool:
        """Add a stamp [s] and pose (7,) pair; return whether it counts."""
        (t, asked), (t_actual, done) = target, actual
        is_old = self.n > 0 and t <= self._rows[self.n - 1, 0]
        if is_old or abs(t - t_actual) > SLOP or not np.isfinite(asked).all():
            return False
        if self.n == len(self._rows):
            self._rows = np.vstack([self._rows, np.zeros_like(self._rows)])
        cosine = min(1.0, abs(float(asked[3:] @ done[3:])))
        self._rows[self.n] = t, *(done[:3] - asked[:3]), 2.0 * np.arccos(cosine)
        self.n += 1
        return True

    def compute(self) -> Mapping[str, float]:
        """Return the fields of TrackingMetrics; needs a pair."""
        rows = self._rows[: self.n]
        newest = rows[rows[:, 0] > rows[-1, 0] - WINDOW]
        distances = 1e3 * np.linalg.norm(rows[:, 1:4], axis=1)
        angles = np.rad2deg(rows[:, 4])
        span = newest[-1, 0] - newest[0, 0]
        return {
            "position_rmse_mm": _rms(distances),
            "position_max_mm": float(distances.max()),
            "position_p95_mm": float(np.percentile(distances, 95)),
            "orientation_rmse_deg": _rms(angles),
            "orientation_max_deg": float(angles.max()),
            "window_position_rmse_mm": _rms(distances[-len(newest) :]),
            "window_orientation_rmse_deg": _rms(angles[-len(newest) :]),
            "error_x_mm": 1e3 * float(rows[-1, 1]),
            "error_y_mm": 1e3 * float(rows[-1, 2]),
            "error_z_mm": 1e3 * float(rows[-1, 3]),
            "n_samples": self.n,
            "rate_hz": float((len(newest) - 1) / span) if span > 0 else 0.0,
        }


def _rms(values: Vec) -> float:
    return float(np.sqrt(np.mean(values**2)))
