"""Columns and episodes in another unit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from paprle.contracts.types import Vec
from paprle_lab.scoring.faults import WHOLE, Fault
from paprle_lab.scoring.figures import Figures, TrackFigures, Usual, list_joints

_FACTORS = {float(np.degrees(1.0)): "degrees and radians", 100.0: "1 and 100"}
_NEAR = 1.6  # chosen: times a factor; ranges of an episode vary as much
_EXACT = 1.3  # chosen: a state follows its action more exactly
_MOST_NEAR = 0.7  # chosen: share of the columns that agree on an episode's factor
_FEWEST = 3  # chosen: episodes of which one has a usual range
_SMALL = 0.1  # chosen: of the median column's range; a column that hardly moves
_RADIANS = 3.5  # [rad] chosen: beyond π by an offset
_TURNS = 4.0 * np.pi  # [rad] chosen: two turns; joints of many turns are wheels


def find_units(figures: Sequence[Figures], usual: Usual) -> Iterator[Fault]:
    """Yield units that differ: between episodes, action and state, or columns."""
    told = set[int]()
    for fault in _find_against_set(figures, usual):
        told.add(fault.episode)
        yield fault
    yield from _find_against_action(figures, told)
    yield from _find_against_columns(figures, usual)


def _find_against_set(figures: Sequence[Figures], usual: Usual) -> Iterator[Fault]:
    if len(figures) < _FEWEST:
        return
    for k, one in enumerate(figures):
        for name, track in one.tracks.items():
            found = _compare(track, usual.span[name], usual.peak[name])
            if found:
                yield Fault(k, "unit", f"the {name} {found}")
                break


def _compare(track: TrackFigures, span: Vec, peak: Vec) -> str:
    typical = float(np.median(span[span > 0.0])) if (span > 0.0).any() else 0.0
    is_known = (span > _SMALL * typical) & (peak > 0.0) & track.moves
    if not is_known.any():
        return ""
    safe = np.where(is_known, span, 1.0), np.where(is_known, peak, 1.0)
    spans, peaks = track.span / safe[0], track.peak / safe[1]
    factor = _find_factor(float(np.median(spans[is_known])), _NEAR)
    if factor and is_known.sum() > 1:
        near = [_find_factor(x, 2 * _NEAR, factor) for x in spans[is_known]]
        if np.mean(np.array(near) != 0.0) >= _MOST_NEAR:
            ratio = float(np.median(spans[is_known]))
            return f"is {_word(ratio)} that of the set: {_FACTORS[factor]}?"
    for j in np.flatnonzero(is_known):
        factor = _find_factor(float(spans[j]), _NEAR)
        if factor and _find_factor(float(peaks[j]), _NEAR, factor):
            return (
                f"of column {track.names[j]} is {_word(float(spans[j]))} that of the "
                f"set: {_FACTORS[factor]}?"
            )
    return ""


def _find_factor(ratio: float, near: float, only: float = 0.0) -> float:
    """Return the factor near a ratio or its inverse, or 0."""
    if ratio <= 0.0 or not np.isfinite(ratio):
        return 0.0
    off = {f: abs(abs(np.log(ratio)) - np.log(f)) for f in _FACTORS}
    best = only or min(off, key=lambda f: off[f])
    return best if off[best] < np.log(near) else 0.0


def _word(ratio: float) -> str:
    return f"{ratio:.0f} times" if ratio > 1.0 else f"1/{1.0 / ratio:.0f} of"


def _find_against_action(figures: Sequence[Figures], told: set[int]) -> Iterator[Fault]:
    for k, one in enumerate(figures):
        if one.following is None or k in told:
            continue
        names = [one.tracks["action"].names[a] for a, _ in one.pairs]
        is_joint = list_joints(names)
        for j in np.flatnonzero(np.isfinite(one.following.ratios) & is_joint):
            ratio = float(one.following.ratios[j])
            factor = _find_factor(ratio, _EXACT)
            if factor:
                text = (
                    f"the state of column {names[j]} is {_word(ratio)} its action: "
                    f"{_FACTORS[factor]}?"
                )
                yield Fault(k, "unit", text)
                break


def _find_against_columns(figures: Sequence[Figures], usual: Usual) -> Iterator[Fault]:
    if not figures or not all(a == s for a, s in figures[0].pairs):
        return  # a state with more than joints has columns of other units
    for name, peak in usual.peak.items():
        names = figures[0].tracks[name].names
        is_joint = list_joints(names)
        if is_joint.sum() < 3 or float(np.median(peak[is_joint])) > _RADIANS:
            continue
        is_large = is_joint & (peak > _TURNS) & (usual.span[name] > 0.0)
        for j in np.flatnonzero(is_large):
            text = (
                f"column {names[j]} of the {name} reaches {peak[j]:.0f}, the others "
                f"{np.median(peak[is_joint]):.1f}: degrees among radians?"
            )
            yield Fault(WHOLE, "unit", text)
            return
