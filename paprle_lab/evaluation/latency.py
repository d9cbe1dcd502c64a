"""Three latencies, and the lag between two motions.

* capture to command: from capture to the first command based on it, plus look-ahead.
* command age at actuation: age of the followed set-point.
* command to motion: joint lag by correlation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from paprle.contracts.types import Vec
from paprle_lab.evaluation.metrics import Spans, is_inside, is_outside, minimise
from paprle_lab.evaluation.poses import (
    Poses,
    Stamps,
    interpolate_columns,
    list_blocks,
    take_around,
)
from paprle_lab.evaluation.store import BLOCK, Table, cut

LAG_MIN, LAG_MAX = -0.1, 0.5  # [s] chosen: leads betray predictions or wrong stamps
STILL = 1e-4  # [rad] or [m] chosen: standard deviation below which nothing moves
DISTINCT = 1e-6  # chosen: how far the correlation must fall 0.1 s beside its peak
CLEAR = 1.2  # chosen: and how much of its rest, so that noise on a ramp is no bend
BESIDE = 0.1  # [s] chosen: with it, a straight ramp is told from a bend
WINDOW, HOP = 4.0, 2.0  # [s] chosen: several bends of a hand's motion; half overlap
MOST_WINDOWS = 300  # chosen: all of 10 min; of a longer motion as many, evenly spread


def measure_capture_to_command(
    tick: tuple[Stamps, Stamps], gate: tuple[Stamps, Stamps]
) -> Vec:
    """Return latencies of samples that reached the robot, shape (≤ N,), [s].

    Args:
        tick: Start and sample stamp of ENGAGED ticks with a new sample, (N,).
        gate: Write and set-point stamps, (M,).
    """
    began_ns, capture_ns = tick
    wrote_ns, setpoint_ns = gate
    # A set-point posted at or after the tick began rests on its sample or a newer one.
    newest = np.maximum.accumulate(setpoint_ns) if len(setpoint_ns) else setpoint_ns
    first = np.searchsorted(newest, began_ns, side="left")
    reached = first < len(wrote_ns)
    waited_ns = wrote_ns[first[reached]] - capture_ns[reached]
    return np.asarray(waited_ns * 1e-9, dtype=np.float64)


def list_captures(samples: Table, gate: Table) -> Iterator[Vec]:
    """Yield capture-to-command latencies by block, [s]."""
    at, newest_ns = 0, np.iinfo(np.int64).min
    for where in cut(len(gate)):
        wrote_ns, own_ns = gate[where]["stamp_ns"], gate[where]["setpoint_ns"]
        setpoint_ns = np.maximum(own_ns, newest_ns)
        newest_ns = setpoint_ns.max()
        while at < len(samples):
            rows = samples[at : at + BLOCK]
            n = int(np.searchsorted(rows["stamp_ns"], newest_ns, side="right"))
            tick = rows["stamp_ns"][:n], rows["sample"]["stamp_ns"][:n]
            yield measure_capture_to_command(tick, (wrote_ns, setpoint_ns))
            at += n
            if n < len(rows):
                break


def measure_command_age(wrote_ns: Stamps, setpoint_ns: Stamps) -> Vec:
    """Return the ages of followed set-points, [s]; stamp 0: none."""
    has_setpoint = setpoint_ns > 0
    ages_ns = wrote_ns[has_setpoint] - setpoint_ns[has_setpoint]
    return np.asarray(ages_ns * 1e-9, dtype=np.float64)


class Pieces(NamedTuple):
    """A section of two motions.

    Attributes:
        t: Shape (n,), [s].
        x: Leading, shape (n, k).
        t_y: Shape (m,), [s].
        y: Following, shape (m, k).
    """

    t: Vec
    x: Vec
    t_y: Vec
    y: Vec


def find_lag(
    leading: tuple[Vec, Vec], following: tuple[Vec, Vec], spans: Spans
) -> float | None:
    """Return the lag of best correlation, positive if ``following`` is late, [s].

    None without a distinctive motion. Motions are times [s] and values (N, k); samples
    near the ends of spans are left out.
    """
    t, x = leading
    is_fixed = is_inside(t, spans, before=-LAG_MIN, after=LAG_MAX)
    t, x = t[is_fixed], x[is_fixed]
    if len(t) < 3 or len(following[0]) < 3:
        return None
    reach = [t[0] + LAG_MIN - BESIDE, t[-1] + LAG_MAX + BESIDE]
    low, high = np.searchsorted(following[0], reach)
    near = slice(max(low - 1, 0), high + 1)
    y = np.asfortranarray(following[1][near])
    whole = Pieces(t, x, following[0][near], y)
    return _correlate(lambda: [whole])


def find_path_lag(
    leading: Poses, following: Poses, spans: Spans, without: Spans
) -> float | None:
    """Return the lag of best correlation of two paths, [s]."""
    if len(following) < 3:
        return None

    def list_pieces() -> Iterator[Pieces]:
        for block in list_blocks(leading):
            is_fixed = is_inside(block.t, spans, before=-LAG_MIN, after=LAG_MAX)
            fixed = block[is_fixed & is_outside(block.t, without, 0.0)]
            if len(fixed):
                begin = float(fixed.t[0]) + LAG_MIN - BESIDE
                end = float(fixed.t[-1]) + LAG_MAX + BESIDE
                near = take_around(following, begin, end)
                yield Pieces(fixed.t, fixed.p, near.t, np.asfortranarray(near.p))

    return _correlate(list_pieces)


def _correlate(list_pieces: Callable[[], Iterable[Pieces]]) -> float | None:
    n = sum(len(piece.t) for piece in list_pieces())
    if n < 3:
        return None
    mean = sum(piece.x.sum(axis=0) for piece in list_pieces()) / n
    power = sum(float(((piece.x - mean) ** 2).sum()) for piece in list_pieces())
    if np.sqrt(power / n) < STILL:
        return None

    def mismatch(lags: Vec) -> Vec:
        shared, own = np.zeros(len(lags)), np.zeros(len(lags))
        means = np.zeros((len(lags), len(mean)))
        for piece in list_pieces():
            x = piece.x - mean
            for k, lag in enumerate(lags):
                y = interpolate_columns(piece.t + lag, piece.t_y, piece.y) - mean
                shared[k] += (x * y).sum()
                own[k] += (y**2).sum()
                means[k] += y.sum(axis=0)
        norm = np.sqrt(power * np.maximum(own - (means**2).sum(axis=1) / n, 0.0))
        is_moving = norm > 0
        return np.where(is_moving, 1.0 - shared / np.where(is_moving, norm, 1.0), 1.0)

    lag = minimise(mismatch, LAG_MIN, LAG_MAX)
    best, *beside = mismatch(np.array([lag, lag - BESIDE, lag + BESIDE]))
    return lag if min(beside) > max(best + DISTINCT, CLEAR * best) else None


def find_joint_lags(
    command: tuple[Vec, Vec], motion: tuple[Vec, Vec], spans: Spans
) -> list[Vec]:
    """Return each joint's lags behind its command by window, [s].

    Both are times [s] and positions (N, n).
    """
    lags: list[Vec] = []
    for joint in range(command[1].shape[1]):
        column = slice(joint, joint + 1)
        found = [
            find_lag(
                (command[0], command[1][:, column]),
                (motion[0], motion[1][:, column]),
                window[None],
            )
            for window in list_windows(spans)
        ]
        lags.append(np.array([lag for lag in found if lag is not None]))
    return lags


def list_windows(spans: Spans) -> Vec:
    """Return at most MOST_WINDOWS windows, shape (W, 2), [s]."""
    windows = [window for begin, end in spans for window in _windows(begin, end)]
    step = -(-len(windows) // MOST_WINDOWS) or 1
    return np.array(windows[::step], dtype=np.float64).reshape(-1, 2)


def _windows(begin: float, end: float) -> list[tuple[float, float]]:
    if end - begin <= WINDOW:
        return [(begin, end)]
    starts = np.arange(begin, end - WINDOW + 1e-9, HOP)
    return [(start, start + WINDOW) for start in starts]
