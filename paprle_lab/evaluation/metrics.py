"""Errors of the robot against its target.

They are taken at the stamps of the retargeted target, before IK, filters and gate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import Vec
from paprle_lab.evaluation.poses import (
    Poses,
    Trajectory,
    interpolate_columns,
    invert,
    list_blocks,
    measure_angles,
    multiply,
    rotate,
    take_around,
)
from paprle_lab.evaluation.store import NumberColumn

Figures = dict[str, float | None]
Spans = Vec  # (S, 2): begin and end of each stretch, [s]

TAU_MAX = 0.5  # [s] spec: requirements A26, one shift between 0 and 0.5 s
LEAST_SCALE = 1e-5  # [m] chosen: no drive of ours is as exact
GRID = 0.01  # [s] chosen: no hand bends its path within this; refined afterwards
DELTA = 1.0  # [s] spec: requirements A26, RPE over one second
PAIR_TOLERANCE = 0.1  # chosen: a gap in the stream makes no pair; evo's rel_tol
BLUE_MM, RED_MM = 7.5, 20.0  # spec: requirements A29, ends of ARBot's error colours
GOLDEN = (5**0.5 - 1) / 2  # golden-section ratio


def summarise(errors: Vec | NumberColumn, scale: float = 1.0) -> Figures:
    """Return scaled figures; None if empty."""
    if not len(errors):
        return dict.fromkeys(("mean", "median", "p95", "max", "rmse"))
    column = _as_column(errors)
    return {
        "mean": scale * column.mean,
        "median": scale * column.percentile(50),
        "p95": scale * column.percentile(95),
        "max": scale * column.largest,
        "rmse": scale * column.rms,
    }


def spread(values: Vec | NumberColumn, scale: float = 1.0) -> Figures:
    """Return scaled p50 and p99; None if empty."""
    if not len(values):
        return dict.fromkeys(("p50", "p99"))
    column = _as_column(values)
    return {
        "p50": scale * column.percentile(50),
        "p99": scale * column.percentile(99),
    }


def _as_column(values: Vec | NumberColumn) -> NumberColumn:
    if isinstance(values, NumberColumn):
        return values
    column = NumberColumn()
    column.append(np.asarray(values))
    return column


def find_spans(t: Vec, is_on: npt.NDArray[np.bool_]) -> Spans:
    """Return stretches with the flag on, by times (N,), [s]."""
    finder = SpanFinder()
    finder.add(t, is_on)
    return finder.finish()


class SpanFinder:
    """``find_spans`` for flags in pieces."""

    def __init__(self) -> None:
        self._begins: list[Vec] = []
        self._ends: list[Vec] = []
        self._is_on, self._last = False, 0.0

    def add(
        self, t: Vec, is_on: npt.NDArray[np.bool_], until: Vec | None = None
    ) -> None:
        """Add flags (n,) by times [s]; ``until``: end of a stretch by its last flag."""
        if not len(t):
            return
        ends = t if until is None else until
        edges = np.diff(np.concatenate([[self._is_on], is_on]).astype(np.int8))
        before = np.concatenate([[self._last], ends[:-1]])
        self._begins.append(t[edges == 1])
        self._ends.append(before[edges == -1])
        self._is_on, self._last = bool(is_on[-1]), float(ends[-1])

    def finish(self) -> Spans:
        """Return the stretches."""
        last = [np.array([self._last])] if self._is_on else []
        nothing = np.zeros(0)
        begins = np.concatenate([nothing, *self._begins])
        return np.stack([begins, np.concatenate([nothing, *self._ends, *last])], axis=1)


def is_inside(
    t: Vec, spans: Spans, before: float = 0.0, after: float = 0.0
) -> npt.NDArray[np.bool_]:
    """Return flags (N,) of times within ordered spans, with margins [s]."""
    if not len(spans):
        return np.zeros(len(t), dtype=bool)
    row = np.clip(np.searchsorted(spans[:, 0], t, side="right") - 1, 0, None)
    slack = 1e-9  # [s] chosen: stamps are whole nanoseconds
    begin, end = spans[row, 0] - slack, spans[row, 1] + slack
    return np.asarray((t - before >= begin) & (t + after <= end))


def is_outside(t: Vec, spans: Spans, after: float | Vec) -> npt.NDArray[np.bool_]:
    """Return flags (N,) of times outside ordered spans, with a margin [s]."""
    if not len(spans):
        return np.ones(len(t), dtype=bool)
    row = np.searchsorted(spans[:, 1], t)
    begin = np.append(spans[:, 0], np.inf)[row]
    return np.asarray(begin > t + after)


def subtract_spans(spans: Spans, others: Spans) -> Spans:
    """Return spans without others, both ordered."""
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
    """Return distances of poses, shape (N,), [m]."""
    distances: Vec = np.linalg.norm(target.p - actual.p, axis=1)
    return distances


def find_best_shift(
    target: Poses,
    measured: Poses,
    spans: Spans,
    without: Spans = np.zeros((0, 2)),  # noqa: B008 - nobody writes it
) -> float | None:
    """Return the shift of least distance of robot and target, [s].

    All shifts are compared on the samples with TAU_MAX of their stretch ahead.

    Returns:
        The shift τ in [0, TAU_MAX] that minimises the mean of log(1 + d²/c²), with d
        the distances of ``target(t)`` and ``measured(t + τ)`` and c their median at the
        least mean; None without samples.

    References:
        Cauchy's cost: Huber, "Robust Statistics", 1981.
    """

    def list_pieces() -> Iterator[tuple[Trajectory, Trajectory]]:
        for block in list_blocks(target):
            is_fixed = is_inside(block.t, spans, after=TAU_MAX)
            fixed = block[is_fixed & is_outside(block.t, without, 0.0)]
            if len(fixed):
                until = float(fixed.t[-1]) + TAU_MAX
                yield fixed, take_around(measured, float(fixed.t[0]), until)

    n = sum(len(fixed) for fixed, _ in list_pieces())
    if not n or len(measured) < 2:
        return None

    def find_costs(taus: Vec, cost: Callable[[Vec], Vec]) -> Vec:
        sums = np.zeros(len(taus))
        for fixed, near in list_pieces():
            for k, tau in enumerate(taus):
                sums[k] += cost(_find_distances(fixed, near, tau)).sum()
        return sums / n

    first = minimise(lambda taus: find_costs(taus, np.positive), 0.0, TAU_MAX)
    distances = NumberColumn()
    for fixed, near in list_pieces():
        distances.append(_find_distances(fixed, near, first))
    c = max(distances.percentile(50), LEAST_SCALE)
    return minimise(
        lambda taus: find_costs(taus, lambda d: np.log1p((d / c) ** 2)), 0.0, TAU_MAX
    )


def _find_distances(fixed: Trajectory, near: Trajectory, tau: float) -> Vec:
    p = interpolate_columns(fixed.t + tau, near.t, near.p)
    distances: Vec = np.linalg.norm(fixed.p - p, axis=1)
    return distances


def minimise(costs: Callable[[Vec], Vec], low: float, high: float) -> float:
    """Return a smooth function's minimiser, to 1 µs, [s]."""
    grid = np.linspace(low, high, round((high - low) / GRID) + 1)
    best = int(np.argmin(costs(grid)))
    a, b = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    while b - a > 1e-6:
        left, right = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
        at_left, at_right = costs(np.array([left, right]))
        if at_left <= at_right:
            b = right
        else:
            a = left
    candidates = np.array([(a + b) / 2, grid[best]])
    return float(candidates[int(np.argmin(costs(candidates)))])


def align(target_p: Vec, measured_p: Vec) -> Vec:
    """Return points (N, 3) rigidly aligned by least squares, [m]."""
    alignment = Alignment()
    alignment.add(target_p, measured_p)
    return alignment.move(measured_p)


class Alignment:
    """Best rigid transform of points in pieces.

    References:
        Umeyama, "Least-squares estimation of transformation parameters between two
        point patterns", 1991.
    """

    def __init__(self) -> None:
        self._n = 0
        self._origin = np.zeros(3)  # near all points, so that sums stay exact
        self._target, self._measured = np.zeros(3), np.zeros(3)
        self._products = np.zeros((3, 3))

    def add(self, target_p: Vec, measured_p: Vec) -> None:
        """Add points, shape (n, 3), [m]."""
        if not self._n and len(target_p):
            self._origin = target_p[0].copy()
        target, measured = target_p - self._origin, measured_p - self._origin
        self._n += len(target)
        self._target += target.sum(axis=0)
        self._measured += measured.sum(axis=0)
        self._products += target.T @ measured

    def move(self, measured_p: Vec) -> Vec:
        """Return aligned points, shape (n, 3), [m]."""
        mean_target, mean_measured = self._target / self._n, self._measured / self._n
        shared = np.outer(mean_target, mean_measured)
        U, _, Vt = np.linalg.svd(self._products - self._n * shared)
        handed = np.diag([1.0, 1.0, np.sign(np.linalg.det(U) * np.linalg.det(Vt))])
        R = U @ handed @ Vt
        moved: Vec = (measured_p - self._origin - mean_measured) @ R.T
        return moved + mean_target + self._origin


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
    """Return errors (P,) of motions, (T_i⁻¹ T_j)⁻¹ (A_i⁻¹ A_j), [m] and [rad].

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
    inverse = invert(path.quat_xyzw[i])
    moved = rotate(inverse, path.p[j] - path.p[i])
    return moved, multiply(inverse, path.quat_xyzw[j])


def colour_errors(errors: Vec) -> tuple[Vec, npt.NDArray[np.int8]]:
    """Return errors' (N,) shares 0 … 1 and bins on ARBot's colour scale.

    Bins: 0 blue (below 7.5 mm), 1 between, 2 red (from 20 mm).
    """
    millimetres = np.asarray(errors) * 1e3
    shares = np.clip((millimetres - BLUE_MM) / (RED_MM - BLUE_MM), 0.0, 1.0)
    bins = np.digitize(millimetres, [BLUE_MM, RED_MM]).astype(np.int8)
    return shares, bins
