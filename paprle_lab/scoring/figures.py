"""Small figures of an episode, by which the episodes of a set are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from paprle.contracts.types import Vec
from paprle.robot.arrays import Bools
from paprle_lab.scoring.columns import Pairs, is_gripper, pair_sides, pair_tracks
from paprle_lab.scoring.lags import ActionFollowing, measure_following
from paprle_lab.scoring.series import EpisodeSeries, Track

POINTS = 50  # chosen: of a motion, for comparing
RUGGED = 1.2  # chosen: of 2 for white noise; a motion at 10 Hz has at most 0.5
_LOW, _HIGH = 1.0, 99.0  # [%] chosen: a single bad row is no range
_IN_MOTION = 0.05  # chosen: of the largest step; smaller ones are noise in a pause
_OFTEN = 0.25  # chosen: of the episodes; a column that moves in fewer is a rare one
_RARE = (
    0.1  # chosen: of the usual columns' range; a rare column that moves less is noise
)


class TrackFigures(NamedTuple):
    """Figures of each column of a track, (n,).

    Attributes:
        span: From the 1st to the 99th percentile.
        peak: 99th percentile of the magnitude.
        step: Median of the steps from row to row in motion.
        first: Step from the first row to the second.
        largest: Largest other step.
        ruggedness: Mean squared step over variance (von Neumann): 2 for white noise.
        speed: 99th percentile of the velocity, per second.
        profile: The motion at POINTS instants, (POINTS, n).
        gaps: Rows from one change to the next, (g,).
    """

    names: tuple[str, ...]
    span: Vec
    peak: Vec
    step: Vec
    first: Vec
    largest: Vec
    ruggedness: Vec
    speed: Vec
    profile: Vec
    gaps: Vec

    @property
    def moves(self) -> Bools:
        """Whether a column has motion, not noise alone, (n,)."""
        return np.asarray(
            (self.span > 0.0) & (self.ruggedness < RUGGED), dtype=np.bool_
        )


@dataclass(frozen=True)
class Figures:
    """Figures of an episode.

    Attributes:
        pairs: Columns (action, state).
        following: State against action of those pairs; None: unknown.
        crossed: The same with the arms of the action exchanged; None: one arm.
    """

    name: str
    task: str
    n: int
    tracks: Mapping[str, TrackFigures]
    sides: Mapping[str, Pairs]
    pairs: Pairs
    following: ActionFollowing | None
    crossed: ActionFollowing | None


def measure_figures(series: EpisodeSeries) -> Figures:
    """Return an episode's figures."""
    pairs = pair_tracks(series)
    following = crossed = None
    if pairs:
        mine, its = (np.array(side) for side in zip(*pairs, strict=True))
        action, state = series.action.values, series.state.values
        following = measure_following(action[:, mine], state[:, its], series.rate)
        crossing = _cross(pairs, pair_sides(series.action.names))
        if crossing:
            mine, its = (np.array(side) for side in zip(*crossing, strict=True))
            crossed = measure_following(action[:, mine], state[:, its], series.rate)
    return Figures(
        name=series.name,
        task=series.task,
        n=len(series.t),
        tracks={k: _measure(one, series.rate) for k, one in series.tracks.items()},
        sides={k: pair_sides(one.names) for k, one in series.tracks.items()},
        pairs=pairs,
        following=following,
        crossed=crossed,
    )


def _cross(pairs: Pairs, sides: Pairs) -> Pairs:
    other = dict(sides) | {right: left for left, right in sides}
    places = dict(pairs)
    return [(other[a], s) for a, s in pairs if a in other and other[a] in places]


def _measure(track: Track, rate: float) -> TrackFigures:
    x = track.values
    low, high = np.percentile(x, [_LOW, _HIGH], axis=0)
    steps = np.abs(np.diff(x, axis=0))
    variance = x.var(axis=0)
    squared = (steps**2).mean(axis=0)
    rows = np.linspace(0, len(x) - 1, POINTS).round().astype(int)
    changed = np.flatnonzero((steps > 0.0).any(axis=1))
    return TrackFigures(
        names=track.names,
        span=high - low,
        peak=np.percentile(np.abs(x), _HIGH, axis=0),
        step=_find_usual_step(steps[1:]),
        first=steps[0],
        largest=steps[1:].max(axis=0, initial=0.0),
        ruggedness=squared / np.where(variance > 0.0, variance, 1.0),
        speed=np.percentile(steps, _HIGH, axis=0) * rate,
        profile=x[rows].astype(np.float32),
        gaps=np.diff(changed),
    )


def _find_usual_step(steps: Vec) -> Vec:
    """Return the median of the steps that are not small, (n,)."""
    if not len(steps):
        return np.zeros(steps.shape[1])
    is_motion = (steps > _IN_MOTION * steps.max(axis=0)) | (steps.max(axis=0) <= 0.0)
    return np.asarray(np.nanmedian(np.where(is_motion, steps, np.nan), axis=0))


@dataclass(frozen=True)
class Usual:
    """Usual figures of a set, by track and column: medians over its episodes.

    Attributes:
        span: Of columns that move, (n,); 0: a column that does not.
    """

    span: Mapping[str, Vec]
    peak: Mapping[str, Vec]
    step: Mapping[str, Vec]
    largest: Mapping[str, Vec]


def find_usual(figures: Sequence[Figures]) -> Usual:
    """Return the usual figures of episodes with the same columns."""
    names = list(dict.fromkeys(k for one in figures for k in one.tracks))
    tracks = {
        name: [one.tracks[name] for one in figures if name in one.tracks]
        for name in names
    }
    return Usual(
        span={
            name: _take_median(
                [np.where(one.moves, one.span, 0.0) for one in some], is_moving=True
            )
            for name, some in tracks.items()
        },
        **{
            key: {
                name: _take_median([getattr(one, key) for one in some])
                for name, some in tracks.items()
            }
            for key in ("peak", "step", "largest")
        },
    )


def _take_median(rows: Sequence[Vec], *, is_moving: bool = False) -> Vec:
    table = np.array(rows)
    if not is_moving:
        return np.asarray(np.median(table, axis=0))
    # of the episodes in which a column moves; where these are few, it may be noise
    share = (table > 0.0).mean(axis=0)
    known = np.where(table > 0.0, table, np.nan)
    known[:, share == 0.0] = 0.0
    spans = np.nanmedian(known, axis=0)
    usual = spans[share >= _OFTEN]
    least = _RARE * float(np.median(usual)) if len(usual) else 0.0
    return np.asarray(np.where((share >= _OFTEN) | (spans >= least), spans, 0.0))


def list_joints(names: Sequence[str]) -> Bools:
    """Return whether columns are joints rather than grippers, (n,)."""
    return np.array([not is_gripper(name) for name in names])
