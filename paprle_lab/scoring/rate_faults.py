"""Rates that fit neither the times nor the motion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from paprle_lab.scoring.faults import WHOLE, Fault
from paprle_lab.scoring.figures import Figures, list_joints
from paprle_lab.scoring.series import EpisodeSeries

_OFF = 0.02  # chosen: of the rate; LeRobot's tolerance of 0.1 ms is stricter
_ROWS_OFF = 0.5  # [rows] chosen: from there on an image is one of another row
_FILM_ROWS = 2.0  # [rows] chosen: a video may end a frame early or late
_REGULAR = 0.8  # chosen: share of changes at one distance of rows
_FEWEST = 10  # chosen: changes
_LIMITS = {"rad/s": (3.5, 12.0), "°/s": (360.0, 700.0)}
"""Largest values of joints in a unit, and speeds that no arm's joint has (chosen:
twice the 6 rad/s of hobby servos)."""


def find_clock(k: int, series: EpisodeSeries) -> Iterator[Fault]:
    """Yield times of rows or videos that do not fit the declared rate."""
    steps = np.diff(series.clock)
    if len(steps) and (steps <= 0.0).any():
        yield Fault(k, "fps", "timestamps do not increase")
        return
    if len(steps):
        rate = 1.0 / float(np.median(steps))
        if abs(rate / series.fps - 1.0) > _OFF:
            text = f"timestamps run at {rate:.1f} Hz, info.json has {series.fps:g} fps"
            yield Fault(k, "fps", text)
            return
        if len(series.frames) == len(series.clock):
            off = series.clock - series.clock[0]
            off = off - (series.frames - series.frames[0]) / series.fps
            worst = float(np.abs(off).max())
            if worst > _ROWS_OFF / series.fps:
                text = f"timestamps are off frame_index / fps by up to {worst:.2f} s"
                yield Fault(k, "fps", text)
                return
    length = len(series.t) / series.fps
    for camera, film_s in series.film_s.items():
        off = abs(film_s - length)
        if off > _FILM_ROWS / series.fps and off > _OFF * length:
            text = (
                f"the video of {camera} lasts {film_s:.1f} s, its {len(series.t)} rows "
                f"at {series.fps:g} fps {length:.1f} s"
            )
            yield Fault(k, "fps", text)
            return


def find_repeats(k: int, one: Figures, fps: float) -> Iterator[Fault]:
    """Yield rows that come several times over: a motion of a lower rate."""
    if not one.tracks:
        return
    found = set[int]()
    for track in one.tracks.values():
        gaps = track.gaps
        if len(gaps) < _FEWEST:
            return
        usual = int(np.bincount(gaps).argmax())
        if usual < 2 or float((gaps == usual).mean()) < _REGULAR:
            return
        found.add(usual)
    usual = min(found)
    text = (
        f"each row comes {usual} times: the motion has {fps / usual:.1f} Hz, info.json "
        f"has {fps:g} fps"
    )
    yield Fault(k, "fps", text)


def find_speeds(figures: Sequence[Figures]) -> Iterator[Fault]:
    """Yield speeds of a set that no arm has."""
    for name in dict.fromkeys(k for one in figures for k in one.tracks):
        some = [one.tracks[name] for one in figures if name in one.tracks]
        is_joint = list_joints(some[0].names)
        if is_joint.sum() < 3:
            continue
        peak = float(np.median([np.median(one.peak[is_joint]) for one in some]))
        unit = next((u for u, (most, _) in _LIMITS.items() if peak <= most), None)
        if unit is None or any(a != s for one in figures for a, s in one.pairs):
            continue
        speeds = np.median([np.median(one.speed[is_joint]) for one in some])
        if speeds > _LIMITS[unit][1]:
            text = (
                f"joints of the {name} move at {speeds:.0f} {unit}, which no arm does: "
                "the rate of info.json is too high?"
            )
            yield Fault(WHOLE, "fps", text)
            return
