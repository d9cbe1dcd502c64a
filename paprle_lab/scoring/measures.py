"""Measures of an episode; None where one cannot be known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from paprle.contracts.types import Vec
from paprle.robot.arrays import Bools
from paprle_lab.scoring.faults import measure_stuck
from paprle_lab.scoring.figures import RUGGED, Usual
from paprle_lab.scoring.series import EpisodeSeries

_WINDOW = 0.2  # [s] chosen: a hand shakes below 5 Hz when it guides an arm
_CUBIC = 3  # a jerk needs as much
_AT_REST = 0.05  # [ranges] chosen: a column that moves less has noise alone
_LOOK_BACK = 0.25  # [s] chosen: counts of an encoder are no motion
_SLOW = 0.02  # [ranges/s] chosen: 0.03 rad/s of a joint that moves by 1.5 rad
_STRIDE = 0.2  # [s] chosen: a path is measured by its bends, not by noise
_FEWEST = 3  # chosen: episodes of a task that have a usual path


@dataclass(frozen=True)
class Measures:
    """Measures of an episode; None: unknown.

    Attributes:
        seconds: Length, [s].
        jerk: Frequency of a sine with as much jerk for its speed, [Hz].
        dead: Share of the driven time in which nothing moves.
        detour: Path of the action over the median path of its task.
        clutches: Per minute, [1/min].
        gate_held: Share of the engaged time in which the gate held back.
        losses: Of the device's tracking, per minute, [1/min].
        frozen: Share of the worst camera's images that stay the same in motion.
        missing: Share of the worst camera's images that are not there.
        success: As it was labelled.
    """

    seconds: float
    jerk: float | None = None
    dead: float | None = None
    detour: float | None = None
    clutches: float | None = None
    gate_held: float | None = None
    losses: float | None = None
    frozen: float | None = None
    missing: float | None = None
    success: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values."""
        return asdict(self)


@dataclass(frozen=True)
class MeasuredEpisode:
    """Measures of an episode beside figures that they are made of.

    Attributes:
        path: Length of the action's path, [ranges]; None: unknown.
        stuck: Longest stretch of one image in motion by camera, [s].
    """

    measures: Measures
    path: float | None
    stuck: Mapping[str, float]


def measure(series: EpisodeSeries, usual: Usual) -> MeasuredEpisode:
    """Return an episode's measures, but for its detour."""
    minutes = series.seconds / 60.0
    facts = series.facts
    name = "action" if "action" in series.tracks else "state"
    jerk = dead = path = None
    if name in series.tracks:
        x = _normalise(series, name, usual)
        jerk = measure_jerk(x, series.rate)
        path = measure_path(x, series.rate)
        first = next(iter(series.tracks))
        dead = measure_dead(
            _normalise(series, first, usual), series.rate, series.driven
        )
    looks = {k: measure_stuck(series, one, usual) for k, one in series.cameras.items()}
    missing = [c.missing for c in series.cameras.values() if c.missing is not None]
    has_looks = any(len(one.t) > 1 for one in series.cameras.values())
    measures = Measures(
        seconds=series.seconds,
        jerk=jerk,
        dead=dead,
        clutches=None if facts.clutches is None else facts.clutches / minutes,
        gate_held=facts.gate_held,
        losses=None if facts.losses is None else facts.losses / minutes,
        frozen=max(share for share, _ in looks.values()) if has_looks else None,
        missing=max(missing, default=None),
        success={"success": True, "failure": False}.get(series.outcome),
    )
    return MeasuredEpisode(
        measures, path, {k: longest for k, (_, longest) in looks.items()}
    )


def _normalise(series: EpisodeSeries, name: str, usual: Usual) -> Vec:
    """Return the columns that move in the set, over their usual range, (N, m)."""
    span = usual.span[name]
    moves = span > 0.0
    return np.asarray(series.tracks[name].values[:, moves] / span[moves])


def measure_jerk(x: Vec, rate: float) -> float | None:
    """Return the smoothness of a motion (N, n) [ranges], [Hz]; rate: [Hz].

    The rms jerk over the rms speed, as the frequency of a sine with that ratio:
    √(jerk / speed) / 2π. Neither the length of a motion nor its duration changes it, as
    N. Hogan and D. Sternad ask of a measure ("Sensitivity of smoothness measures to
    movement duration, amplitude, and arrests", J. Motor Behavior 41(6), 2009). The
    third quartile over columns: a gripper that snaps is no shaking hand, and a joint
    that turns evenly hides none. Derivatives are those of cubics over 0.2 s, at least 5
    rows.
    """
    window = max(5, int(_WINDOW * rate) // 2 * 2 + 1)
    if len(x) <= window or not x.shape[1]:
        return None
    speed, jerk = _derive(x, window, 1.0 / rate)
    variance = x.var(axis=0)
    ruggedness = (np.diff(x, axis=0) ** 2).mean(axis=0) / np.where(
        variance > 0, variance, 1
    )
    power = (speed**2).mean(axis=0)
    moves = np.ptp(x, axis=0) > _AT_REST
    is_known = (power > 0.0) & (ruggedness < RUGGED) & moves
    if not is_known.any():
        return None
    ratio = (jerk[:, is_known] ** 2).mean(axis=0) / power[is_known]
    return float(np.percentile(ratio, 75.0) ** 0.25 / (2.0 * np.pi))


def _derive(x: Vec, window: int, dt: float) -> tuple[Vec, Vec]:
    """Return first and third derivatives of cubics about rows, (N - w + 1, n)."""
    # A. Savitzky and M. Golay, Analytical Chemistry 36(8), 1964
    t = (np.arange(window) - window // 2) * dt
    weights = np.linalg.pinv(np.vander(t, _CUBIC + 1, increasing=True))
    rows = np.lib.stride_tricks.sliding_window_view(x, window, axis=0)
    return np.asarray(rows @ weights[1]), np.asarray(6.0 * (rows @ weights[3]))


def measure_path(x: Vec, rate: float) -> float | None:
    """Return the length of a path (N, n), in its unit."""
    if not x.shape[1]:
        return None
    bends = x[:: max(1, round(_STRIDE * rate))]
    return float(np.sqrt((np.diff(bends, axis=0) ** 2).sum(axis=1)).sum())


def measure_dead(x: Vec, rate: float, driven: Bools) -> float | None:
    """Return the share of driven rows in which nothing moves; x: (N, n), [ranges]."""
    n = max(1, round(_LOOK_BACK * rate))
    if len(x) <= n or not driven[n:].any():
        return None
    if not x.shape[1]:
        return 1.0
    speed = np.abs(x[n:] - x[:-n]).max(axis=1) * rate / n
    return float((speed[driven[n:]] < _SLOW).mean())


def find_detours(
    tasks: Sequence[str], paths: Sequence[float | None]
) -> list[float | None]:
    """Return each path over the median of its task; None: fewer than three."""
    known = dict[str, list[float]]()
    for task, path in zip(tasks, paths, strict=True):
        if path is not None and path > 0.0:
            known.setdefault(task, []).append(path)
    return [
        path / float(np.median(known[task]))
        if path is not None and len(known.get(task, ())) >= _FEWEST
        else None
        for task, path in zip(tasks, paths, strict=True)
    ]
