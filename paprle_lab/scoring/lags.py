"""Delay of the state behind the action, from their velocities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paprle.contracts.types import Vec
from paprle.robot.arrays import Bools

MOST = 0.6  # [s] chosen: shifts farther than this correlate by chance
_CLEAR = 0.5  # chosen: below it two motions are not of each other
_AS_GOOD = 0.97  # chosen: of the best; of a periodic motion the nearest shift counts
_ROUNDING = 1e-6  # chosen: of a value; float32 keeps 1e-7 of it
_USUAL = 0.1  # [s] chosen: of a follower; nearest to it
_FOLLOWS = 0.8  # chosen: correlation of a column whose ratio is known
_IN_PLACE = 0.7  # chosen: below it the action is a velocity, a force, or another pose
_LONGEST = 20_000  # chosen: rows; more add time alone


class ActionFollowing(NamedTuple):
    """State against action.

    Attributes:
        lag: Of the state, [s]; None: unknown.
        likeness: Correlation at that lag.
        ratios: Velocity of the state over that of the action, (n,); NaN: unknown.
    """

    lag: float | None
    likeness: float
    ratios: Vec


def measure_following(action: Vec, state: Vec, rate: float) -> ActionFollowing:
    """Return how the state follows the action, both (N, n); rate: [Hz].

    All columns count alike. The lag is between rows, by a parabola. The first row is
    left out, which may be a jump.
    """
    action, state = action[1:_LONGEST], state[1:_LONGEST]
    a, s = (np.diff(_smooth(x), axis=0) for x in (action, state))
    ratios = np.full(action.shape[1], np.nan)
    moves = _find_moving(a, action) & _find_moving(s, state)
    found = _find_lag(a[:, moves], s[:, moves], int(np.ceil(MOST * rate)))
    if found is None:
        return ActionFollowing(None, 0.0, ratios)
    lag, part, likeness = found
    if _compare_places(action[:, moves], state[:, moves], lag) < _IN_PLACE:
        return ActionFollowing(None, likeness, ratios)
    ratios[moves] = _find_ratios(a[:, moves], s[:, moves], lag)
    if likeness < _CLEAR:
        return ActionFollowing(None, likeness, ratios)
    return ActionFollowing((lag + part) / rate, likeness, ratios)


def _find_lag(a: Vec, s: Vec, most: int) -> tuple[int, float, float] | None:
    """Return the lag of velocities in rows, its part of a row, and the correlation."""
    if len(a) < 4 * most or not a.shape[1]:
        return None
    x, y = (v - v.mean(axis=0) for v in (a, s))
    x, y = x / x.std(axis=0), y / y.std(axis=0)
    lags = np.arange(-most, most + 1)
    likeness = np.array([_correlate(x, y, int(lag)) for lag in lags])
    k = _find_peak(likeness, lags * MOST / most)
    if k is None:
        return None
    return int(lags[k]), _find_vertex(likeness[k - 1 : k + 2]), float(likeness[k])


def _find_moving(velocity: Vec, position: Vec) -> Bools:
    """Return the columns whose velocity changes by more than rounding."""
    least = _ROUNDING * np.abs(position).max(axis=0, initial=0.0)
    return np.asarray(velocity.std(axis=0) > least, dtype=np.bool_)


def _smooth(x: Vec) -> Vec:
    """Return means of three rows: counts of an encoder hide slow velocities."""
    return (x[:-2] + x[1:-1] + x[2:]) / 3.0


def _cut(x: Vec, y: Vec, lag: int) -> tuple[Vec, Vec]:
    n = len(x) - abs(lag)
    return (x[:n], y[lag:]) if lag >= 0 else (x[-lag:], y[:n])


def _correlate(x: Vec, y: Vec, lag: int) -> float:
    x, y = _cut(x, y, lag)
    norm = np.sqrt((x**2).sum() * (y**2).sum())
    return float((x * y).sum() / norm) if norm > 0.0 else 0.0


def _compare_places(action: Vec, state: Vec, lag: int) -> float:
    """Return the median correlation of columns: an action may be no position."""
    a, s = _cut(action, state, lag)
    a, s = a - a.mean(axis=0), s - s.mean(axis=0)
    norm = np.sqrt((a**2).sum(axis=0) * (s**2).sum(axis=0))
    return float(np.median((a * s).sum(axis=0) / np.where(norm > 0.0, norm, 1.0)))


def _find_peak(likeness: Vec, lags: Vec) -> int | None:
    inner = likeness[1:-1]
    is_peak = (inner >= likeness[:-2]) & (inner >= likeness[2:])
    peaks = np.flatnonzero(is_peak) + 1
    if not len(peaks) or likeness[peaks].max() <= 0.0:
        return None
    good = peaks[likeness[peaks] >= _AS_GOOD * likeness[peaks].max()]
    return int(good[np.abs(lags[good] - _USUAL).argmin()])


def _find_vertex(three: Vec) -> float:
    bend = three[0] - 2.0 * three[1] + three[2]
    return float(0.5 * (three[0] - three[2]) / bend) if bend < 0.0 else 0.0


def _find_ratios(a: Vec, s: Vec, lag: int) -> Vec:
    a, s = _cut(a, s, lag)
    shared, own, its = (a * s).sum(axis=0), (a**2).sum(axis=0), (s**2).sum(axis=0)
    norm = np.sqrt(own * its)
    safe = np.where(norm > 0.0, norm, 1.0)
    ratios = np.sqrt(its / np.where(own > 0.0, own, 1.0))
    return np.where(np.abs(shared) / safe >= _FOLLOWS, ratios, np.nan)
