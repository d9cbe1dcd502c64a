"""Inter-trial variability: how much repeated motions differ from each other.

ARBot defines it as the "mean standard deviation of position at corresponding
time-aligned waypoints". Its published figures come out only when waypoints correspond
by *arc length*; both readings are computed here and always labelled. Closed curves may
begin anywhere, and arc length is sensitive to that: ``is_cyclic`` first turns every
path to the start that lies best on the first one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paprle.contracts.types import Vec

N_WAYPOINTS = 2000  # spec: requirements A28, reproduces the published figures


def compute_itv(paths: Sequence[Vec]) -> float:
    """Compute the mean spread of corresponding waypoints.

    Args:
        paths: At least two paths with corresponding rows, shape (n, 3) each, [m].

    Returns:
        Per-axis sample standard deviation (ddof = 1) across trials, Euclidean norm
        over axes, mean over waypoints, [m].
    """
    deviations = np.std(np.stack(paths), axis=0, ddof=1)
    return float(np.linalg.norm(deviations, axis=1).mean())


def resample_by_arc_length(p: Vec, n: int = N_WAYPOINTS) -> Vec:
    """Return n points (n, 3) evenly spaced along a path of positions (N, 3)."""
    steps = np.linalg.norm(np.diff(p, axis=0), axis=1)
    return _resample(np.concatenate([[0.0], np.cumsum(steps)]), p, n)


def resample_by_time(t: Vec, p: Vec, n: int = N_WAYPOINTS) -> Vec:
    """Return n points (n, 3) evenly spaced in time along positions (N, 3)."""
    return _resample(t - t[0], p, n)


def _resample(s: Vec, p: Vec, n: int) -> Vec:
    """Return n points at even steps of a parameter that never falls."""
    is_new = np.concatenate([[True], np.diff(s) > 0.0])
    even = np.linspace(0.0, s[-1], n)
    return np.stack([np.interp(even, s[is_new], axis) for axis in p[is_new].T], axis=1)


def turn_to(reference: Vec, closed: Vec) -> Vec:
    """Let a closed path begin where it lies best on another.

    Args:
        reference: Waypoints, shape (n, 3), [m].
        closed: Waypoints of a closed path, shape (n, 3), [m].

    Returns:
        The same path, begun at another waypoint so that the sum of squared distances
        to ``reference`` is smallest, shape (n, 3).
    """
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
    """Report ITV under both correspondences.

    Args:
        trials: For each trial its times (N,), [s], and positions (N, 3), [m].
        n: Number of waypoints.
        is_cyclic: Turn closed paths to a common start first.

    Returns:
        ``arc_length_mm``, ``normalised_time_mm``, ``n_trials``, ``is_cyclic``.
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
