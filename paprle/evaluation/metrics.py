"""How far the robot was from its target: ATE, RPE and the figures made of them.

Pure functions of arrays. Errors are taken at the target's stamps, against the measured
pose interpolated to them. The target is the retargeted one, before IK, filters and the
gate, so that nothing the system does by itself can improve the figure.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import Vec
from paprle.evaluation.poses import (
    Trajectory,
    interpolate_columns,
    invert,
    measure_angles,
    multiply,
    rotate,
)

Figures = dict[str, float | None]
Spans = Vec  # (S, 2): begin and end of each stretch, [s]

TAU_MAX = 0.5  # [s] spec: requirements A26, one shift between 0 and 0.5 s
LEAST_SCALE = 1e-5  # [m] chosen: no drive of ours is as exact
GRID = 0.01  # [s] chosen: no hand bends its path within this; refined afterwards
DELTA = 1.0  # [s] spec: requirements A26, RPE over one second
PAIR_TOLERANCE = 0.1  # chosen: a gap in the stream makes no pair; evo's rel_tol
BLUE_MM, RED_MM = 7.5, 20.0  # spec: requirements A29, ends of ARBot's error colours
GOLDEN = (5**0.5 - 1) / 2  # golden-section ratio


def summarise(errors: Vec, scale: float = 1.0) -> Figures:
    """Return mean, median, p95, max and rmse times ``scale``; None when empty."""
    if not len(errors):
        return dict.fromkeys(("mean", "median", "p95", "max", "rmse"))
    scaled = np.asarray(errors) * scale
    return {
        "mean": float(np.mean(scaled)),
        "median": float(np.median(scaled)),
        "p95": float(np.percentile(scaled, 95)),
        "max": float(scaled.max()),
        "rmse": float(np.sqrt(np.mean(scaled**2))),
    }


def spread(values: Vec, scale: float = 1.0) -> Figures:
    """Return p50 and p99 of values, times ``scale``; None when empty."""
    if not len(values):
        return dict.fromkeys(("p50", "p99"))
    p50, p99 = np.percentile(np.asarray(values) * scale, [50, 99])
    return {"p50": float(p50), "p99": float(p99)}


def find_spans(t: Vec, is_on: npt.NDArray[np.bool_]) -> Spans:
    """Return the stretches in which a flag was on.

    Args:
        t: Times of the flags, shape (N,), [s].
        is_on: The flags, shape (N,).

    Returns:
        First and last time of each stretch, shape (S, 2), [s].
    """
    edges = np.diff(np.concatenate([[False], is_on, [False]]).astype(np.int8))
    first, last = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    return np.stack([t[first], t[last]], axis=1)


def is_inside(
    t: Vec, spans: Spans, before: float = 0.0, after: float = 0.0
) -> npt.NDArray[np.bool_]:
    """Tell which times lie in a stretch with some of it to spare on both sides.

    Args:
        t: Times, shape (N,), [s].
        spans: Stretches, shape (S, 2), [s], in order.
        before: How much of the stretch must lie before the time, [s].
        after: How much must lie after it, [s].

    Returns:
        Flags, shape (N,).
    """
    if not len(spans):
        return np.zeros(len(t), dtype=bool)
    row = np.clip(np.searchsorted(spans[:, 0], t, side="right") - 1, 0, None)
    slack = 1e-9  # [s] chosen: stamps are whole nanoseconds
    begin, end = spans[row, 0] - slack, spans[row, 1] + slack
    return np.asarray((t - before >= begin) & (t + after <= end))


def is_outside(t: Vec, spans: Spans, after: float | Vec) -> npt.NDArray[np.bool_]:
    """Tell which times, and the stretch after each, touch none of some stretches.

    Args:
        t: Times, shape (N,), [s].
        spans: Stretches, shape (S, 2), [s], in order.
        after: How long a stretch after the time counts as well, [s]; one for all, or
            one each.

    Returns:
        Flags, shape (N,).
    """
    if not len(spans):
        return np.ones(len(t), dtype=bool)
    row = np.searchsorted(spans[:, 1], t)
    begin = np.append(spans[:, 0], np.inf)[row]
    return np.asarray(begin > t + after)


def subtract_spans(spans: Spans, others: Spans) -> Spans:
    """Return what of some stretches lies in none of others.

    Args:
        spans: Stretches, shape (S, 2), [s], in order.
        others: Stretches, shape (L, 2), [s], in order.

    Returns:
        The rest, shape (R, 2), [s], in order.
    """
    rest = []
    for begin, end in spans:
        at = begin
        for first, last in others[(others[:, 0] < end) & (others[:, 1] > begin)]:
            if first > at:
                rest.append((at, first))
            at = max(at, last)
        if at < end:
            rest.append((at, end))
    return np.array(rest, dtype=np.float64).reshape(-1, 2)


def measure_position_errors(target: Trajectory, actual: Trajectory) -> Vec:
    """Return distances of poses at equal times, shape (N,), [m]."""
    distances: Vec = np.linalg.norm(target.p - actual.p, axis=1)
    return distances


def find_best_shift(
    target: Trajectory, measured: Trajectory, spans: Spans
) -> float | None:
    """Find the one time shift after which the robot follows its target best.

    The set of target samples is the same for every shift: those with TAU_MAX of their
    stretch still ahead of them, so that a shift cannot win by choosing its samples. Far
    ones count little, so that a robot held off its target for a while does not decide.

    Args:
        target: Raw target.
        measured: What the robot did.
        spans: Stretches that both cover, shape (S, 2), [s].

    Returns:
        The shift τ in [0, TAU_MAX] that minimises the mean of log(1 + d²/c²), with d
        the distances of ``target(t)`` and ``measured(t + τ)`` and c their median where
        their mean is least, [s]; None when no sample has enough of its stretch ahead.

    References:
        The cost is Cauchy's: Huber, "Robust Statistics", 1981.
    """
    fixed = target[is_inside(target.t, spans, after=TAU_MAX)]
    if not len(fixed) or len(measured) < 2:
        return None

    def find_distances(tau: float) -> Vec:
        p = interpolate_columns(fixed.t + tau, measured.t, measured.p)
        distances: Vec = np.linalg.norm(fixed.p - p, axis=1)
        return distances

    first = minimise(lambda tau: float(find_distances(tau).mean()), 0.0, TAU_MAX)
    c = max(float(np.median(find_distances(first))), LEAST_SCALE)
    return minimise(
        lambda tau: float(np.log1p((find_distances(tau) / c) ** 2).mean()), 0.0, TAU_MAX
    )


def minimise(cost: Callable[[float], float], low: float, high: float) -> float:
    """Return where a smooth function of one shift is smallest, to a microsecond."""
    grid = np.linspace(low, high, round((high - low) / GRID) + 1)
    best = int(np.argmin([cost(x) for x in grid]))
    a, b = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    while b - a > 1e-6:
        left, right = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
        if cost(left) <= cost(right):
            b = right
        else:
            a = left
    candidates = (float((a + b) / 2), float(grid[best]))
    return min(candidates, key=cost)


def align(target_p: Vec, measured_p: Vec) -> Vec:
    """Lay the measured points over the target by one rotation and translation.

    Args:
        target_p: Points, shape (N, 3), [m].
        measured_p: The corresponding points, shape (N, 3), [m].

    Returns:
        The moved measured points, shape (N, 3): least squares, without scale.

    References:
        Umeyama, "Least-squares estimation of transformation parameters between two
        point patterns", 1991.
    """
    mean_target, mean_measured = target_p.mean(axis=0), measured_p.mean(axis=0)
    covariance = (target_p - mean_target).T @ (measured_p - mean_measured)
    U, _, Vt = np.linalg.svd(covariance)
    handed = np.diag([1.0, 1.0, np.sign(np.linalg.det(U) * np.linalg.det(Vt))])
    R = U @ handed @ Vt
    moved: Vec = (measured_p - mean_measured) @ R.T + mean_target
    return moved


def pair_by_time(t: Vec, spans: Spans, delta: float = DELTA) -> npt.NDArray[np.intp]:
    """Return index pairs (i, j), shape (P, 2), with t_j nearest to t_i + delta."""
    start = np.flatnonzero(is_inside(t, spans, after=delta))
    if not len(start):
        return np.zeros((0, 2), dtype=np.intp)
    high = np.clip(np.searchsorted(t, t[start] + delta), 1, len(t) - 1)
    is_low = t[start] + delta - t[high - 1] <= t[high] - t[start] - delta
    end = high - is_low
    is_apart = np.abs(t[end] - t[start] - delta) <= PAIR_TOLERANCE * delta
    return np.stack([start, end], axis=1)[is_apart]


def measure_relative_errors(
    target: Trajectory, actual: Trajectory, pairs: npt.NDArray[np.intp]
) -> tuple[Vec, Vec]:
    """Compare motions between pairs of instants, free of any constant offset.

    Args:
        target: Target, N poses.
        actual: Poses of the robot at the same times.
        pairs: Index pairs (i, j), shape (P, 2).

    Returns:
        Translation errors [m] and rotation errors [rad] of
        (T_i⁻¹ T_j)⁻¹ (A_i⁻¹ A_j), shape (P,) each.

    References:
        Sturm et al., "A benchmark for the evaluation of RGB-D SLAM systems", 2012.
    """
    i, j = pairs[:, 0], pairs[:, 1]
    moved_target, turned_target = _relative(target, i, j)
    moved_actual, turned_actual = _relative(actual, i, j)
    # ‖Q⁻¹ p‖ = ‖p‖: turning the difference into the target's frame changes no length
    translation = np.linalg.norm(moved_actual - moved_target, axis=1)
    return translation, measure_angles(turned_target, turned_actual)


def _relative(
    path: Trajectory, i: npt.NDArray[np.intp], j: npt.NDArray[np.intp]
) -> tuple[Vec, Vec]:
    """Return translation and rotation of T_i⁻¹ T_j."""
    inverse = invert(path.quat_xyzw[i])
    moved = rotate(inverse, path.p[j] - path.p[i])
    return moved, multiply(inverse, path.quat_xyzw[j])


def colour_errors(errors: Vec) -> tuple[Vec, npt.NDArray[np.int8]]:
    """Place errors on ARBot's scale of colours.

    Args:
        errors: Position errors, shape (N,), [m].

    Returns:
        Shares of the way from blue to red, 0 … 1, and bins: 0 blue (below 7.5 mm),
        1 between, 2 red (20 mm and above), shape (N,) each.
    """
    millimetres = np.asarray(errors) * 1e3
    shares = np.clip((millimetres - BLUE_MM) / (RED_MM - BLUE_MM), 0.0, 1.0)
    bins = np.digitize(millimetres, [BLUE_MM, RED_MM]).astype(np.int8)
    return shares, bins
