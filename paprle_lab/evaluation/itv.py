"""Inter-trial variability of repeated motions.

ARBot's published figures match only for correspondence by *arc length*.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paprle.contracts.types import Vec

N_WAYPOINTS = 2000  # spec: requirements A28, reproduces the published figures


def compute_itv(paths: Sequence[Vec]) -> float:
    """Return the mean spread of paths' waypoints (n, 3), [m].

    It is the norm of per-axis sample standard deviations (ddof = 1).
    """
    deviations = np.std(np.stack(paths), axis=0, ddof=1)
    return float(np.linalg.norm(deviations, axis=1).mean())


def resample_by_arc_length(p: Vec, n: int = N_WAYPOINTS) -> Vec:
    """Return n points (n, 3) of a path (N, 3) at even arc lengths."""
    steps = np.linalg.norm(np.diff(p, axis=0), axis=1)
    return _resample(np.concatenate([[0.0], np.cumsum(steps)]), p, n)


def resample_by_time(t: Vec, p: Vec, n: int = N_WAYPOINTS) -> Vec:
    """Return n points (n, 3) of positions (N, 3) at even times."""
    return _resample(t - t[0], p, n)


def _resample(s: Vec, p: Vec, n: int) -> Vec:
    is_new = np.concatenate([[True], np.diff(s) > 0.0])
    even = np.linspace(0.0, s[-1], n)
    return np.stack([np.interp(even, s[is_new], axis) for axis in p[is_new].T], axis=1)


def turn_to(reference: Vec, closed: Vec) -> Vec:
    """Return a closed path (n, 3) rotated to fit a reference (n, 3), [m]."""
    # Σ‖r_i − c_{i+k}‖² is smallest where the circular correlation is largest.
    spectrum = np.conj(np.fft.rfft(reference, axis=0)) * np.fft.rfft(closed, axis=0)
    correlation = np.fft.irfft(spectrum.sum(axis=1), n=len(reference))
    return np.roll(closed, -int(np.argmax(correlation)), axis=0)


def report_itv(
    trials: Sequence[tuple[Vec, Vec]],
    n: int = N_WAYPOINTS,
    *,
    is_cyclic: bool = False,
) -> dict[str, float | int | bool]:
    """Return ITV [mm] by arc length and by time, of times [s] and positions [m].

    ``is_cyclic`` rotates closed paths to a common start first.
    """
    by_length = [resample_by_arc_length(p, n) for _, p in trials]
    by_time = [resample_by_time(t, p, n) for t, p in trials]
    if is_cyclic:
        by_length = [turn_to(by_length[0], path) for path in by_length]
        by_time = [turn_to(by_time[0], path) for path in by_time]
    return {
        "arc_length_mm": 1e3 * compute_itv(by_length),
        "normalised_time_mm": 1e3 * compute_itv(by_time),
        "n_trials": len(trials),
        "is_cyclic": is_cyclic,
    }
