"""Faults that spoil an episode or a set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from paprle_lab.scoring.figures import Figures, TrackFigures, Usual
from paprle_lab.scoring.series import EpisodeSeries, Glimpses

WHOLE = -1
"""Episode of a fault of the whole set."""

_IDLE = 0.05  # chosen: of the set's usual range; less is a robot at rest
_JUMP = 10.0  # chosen: times the usual step
_JUMP_SPAN = 0.03  # chosen: of the range; smaller jumps spoil nothing
_AS_LARGE = 1.5  # chosen: times the largest other step; a gripper that snaps has none
_LARGER = 3.0  # chosen: or so much larger than any other; at 10 Hz all steps are large
_ALIKE = 1e-3  # chosen: of the range; no person repeats a motion as exactly
STILL = 1.5  # [of 255] chosen: below it the cells of two images differ by coding alone
_STUCK = 1.0  # [s] chosen: a camera of 1 Hz is none
_SEES = 0.2  # chosen: of a joint's range; a motion that a camera sees
_LEAD_ROWS = 0.75  # chosen: less is within the error of a lag
_LEAD = 0.03  # [s] chosen: less is a matter of stamps
_FAR_ROWS = 1.5  # chosen: from the set's usual lag
_FAR = 0.08  # [s] chosen: followers vary by less
_FEWEST = 3  # chosen: episodes of which one has a usual figure


class Fault(NamedTuple):
    """A fault.

    Attributes:
        episode: Number within the set's episodes that were read, or WHOLE.
        kind: shift, camera, fps, arms, unit, duplicate, idle or jump.
    """

    episode: int
    kind: str
    text: str


def find_idle(k: int, one: Figures, usual: Usual) -> Iterator[Fault]:
    """Yield an episode in which nothing moves."""
    if one.tracks and all(
        _is_idle(track, usual, name) for name, track in one.tracks.items()
    ):
        yield Fault(k, "idle", "idle: nothing moves")


def _is_idle(track: TrackFigures, usual: Usual, name: str) -> bool:
    span = usual.span[name]
    is_small = track.span < _IDLE * span
    return bool(np.all(is_small | ~track.moves | (span <= 0.0)))


def find_jump(k: int, one: Figures, usual: Usual) -> Iterator[Fault]:
    """Yield a jump from the first row to the second."""
    for name, track in one.tracks.items():
        span, step = usual.span[name], usual.step[name]
        others = np.maximum(track.largest, usual.largest[name])
        ratio = np.where(step > 0.0, track.first / np.where(step > 0.0, step, 1.0), 0.0)
        is_jump = (
            ((ratio > _JUMP) & (track.first > _AS_LARGE * others))
            | (track.first > _LARGER * others)
        ) & (track.first > _JUMP_SPAN * span)
        if is_jump.any():
            j = int(np.where(is_jump, ratio, 0.0).argmax())
            text = (
                f"the first {name} is {ratio[j]:.0f} usual steps from the second "
                f"({_name(track, j)}): a jump"
            )
            yield Fault(k, "jump", text)
            return


def find_duplicates(figures: Sequence[Figures], usual: Usual) -> Iterator[Fault]:
    """Yield episodes whose motion is that of an earlier one."""
    by_length: dict[int, list[int]] = {}
    for k, one in enumerate(figures):
        if all(_is_idle(track, usual, name) for name, track in one.tracks.items()):
            continue
        earlier = [j for n in (-1, 0, 1) for j in by_length.get(one.n + n, ())]
        for j in earlier:
            apart = _measure_apart(one, figures[j], usual)
            if apart < _ALIKE:
                text = f"the motion is that of {figures[j].name}: a duplicate"
                yield Fault(k, "duplicate", text)
                break
        by_length.setdefault(one.n, []).append(k)


def _measure_apart(a: Figures, b: Figures, usual: Usual) -> float:
    if a.tracks.keys() != b.tracks.keys() or not a.tracks:
        return np.inf
    worst = 0.0
    for name, track in a.tracks.items():
        span = usual.span[name]
        apart = np.abs(track.profile - b.tracks[name].profile).max(axis=0)
        share = apart[span > 0.0] / span[span > 0.0]
        worst = max(worst, float(share.max(initial=0.0)))
    return worst


def find_shifts(figures: Sequence[Figures], rates: Sequence[float]) -> Iterator[Fault]:
    """Yield episodes whose action is shifted against the state; rates: [Hz]."""
    lags = [None if f.following is None else f.following.lag for f in figures]
    known = [lag for lag in lags if lag is not None]
    usual = float(np.median(known)) if len(known) >= _FEWEST else None
    spread = 0.0 if usual is None else float(np.median(np.abs(np.array(known) - usual)))
    for k, (lag, rate) in enumerate(zip(lags, rates, strict=True)):
        if lag is None:
            continue
        far = max(_FAR_ROWS / rate, _FAR, 5.0 * spread)
        if lag < -max(_LEAD_ROWS / rate, _LEAD):
            text = f"the action comes {-lag:.2f} s after the state: shifted"
            yield Fault(k, "shift", text)
        elif usual is not None and abs(lag - usual) > far:
            text = (
                f"the state follows the action after {lag:.2f} s, in the set usually "
                f"after {usual:.2f} s: shifted"
            )
            yield Fault(k, "shift", text)


def measure_stuck(
    series: EpisodeSeries, glimpses: Glimpses, usual: Usual
) -> tuple[float, float]:
    """Return the share of a camera's images stuck in motion, and the longest stretch.

    The stretch is in s. A camera is stuck where its image stays the same while a joint
    moves by a fifth of its usual range.
    """
    name, track = next(iter(series.tracks.items()), ("", None))
    t, changes = glimpses.t, glimpses.changes
    if track is None or len(t) < 2:
        return 0.0, 0.0
    span = usual.span[name]
    scale = np.where(span > 0.0, span, np.inf)
    rows = np.searchsorted(series.t, t).clip(0, len(series.t) - 1)
    stuck, longest, begin = 0, 0.0, 0
    for k in range(1, len(t)):
        if changes[k] >= STILL:
            begin = k
            continue
        moved = track.values[rows[begin] : rows[k] + 1]
        if float((np.ptp(moved, axis=0) / scale).max()) > _SEES:
            stuck += 1
            longest = max(longest, float(t[k] - t[begin]))
    return stuck / (len(t) - 1), longest


def find_stuck(k: int, camera: str, longest: float) -> Iterator[Fault]:
    """Yield a camera that was stuck for the longest stretch, [s]."""
    if longest > _STUCK:
        text = f"camera {camera} shows one image for {longest:.1f} s of motion: stuck"
        yield Fault(k, "camera", text)


def _name(track: TrackFigures, j: int) -> str:
    return f"column {track.names[j]}"
