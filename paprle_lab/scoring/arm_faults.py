"""Left and right arms that are exchanged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from paprle.contracts.types import Vec
from paprle_lab.scoring.columns import Pairs
from paprle_lab.scoring.faults import Fault
from paprle_lab.scoring.figures import Figures, Usual

_FEWEST = 4  # chosen: episodes of one task that show its usual motion
_NEARER = 0.5  # chosen: times as near when exchanged
_FAR = 1.5  # chosen: times the usual distance; other episodes are nearer
_MOST = 0.25  # chosen: of the episodes; more of them are another way to do the task
_LIKE, _LIKER = 0.6, 0.3  # chosen: correlation with the other arm, and how much more


def find_swapped(figures: Sequence[Figures], usual: Usual) -> Iterator[Fault]:
    """Yield episodes whose arms are exchanged."""
    told = set[int]()
    for k, one in enumerate(figures):
        if one.crossed is None or one.following is None:
            continue
        own, other = one.following.likeness, one.crossed.likeness
        if other > _LIKE and other > own + _LIKER:
            told.add(k)
            text = (
                "the left action moves the right arm, and the other way round: swapped"
            )
            yield Fault(k, "arms", text)
    by_task = dict[str, list[int]]()
    for k, one in enumerate(figures):
        by_task.setdefault(one.task, []).append(k)
    for numbers in by_task.values():
        for k in _find_exchanged(figures, numbers, usual):
            if k not in told:
                text = (
                    "the left arm moves as in other episodes the right one, and the "
                    "other way round: swapped"
                )
                yield Fault(k, "arms", text)


def _find_exchanged(
    figures: Sequence[Figures], numbers: Sequence[int], usual: Usual
) -> list[int]:
    if len(numbers) < _FEWEST:
        return []
    found = set[int]()
    for name, span in usual.span.items():
        pairs = figures[numbers[0]].sides.get(name, [])
        pairs = [(a, b) for a, b in pairs if span[a] > 0.0 or span[b] > 0.0]
        if not pairs or not all(name in figures[k].tracks for k in numbers):
            continue
        profiles = np.array([figures[k].tracks[name].profile for k in numbers])
        scale = np.ones(len(span))
        for a, b in pairs:
            scale[a] = scale[b] = max(span[a], span[b])
        # in order of time, and in order of size: episodes differ in their pauses
        for some in (profiles / scale, np.sort(profiles / scale, axis=1)):
            found |= {numbers[k] for k in _compare(some, pairs)}
    return sorted(found) if len(found) <= _MOST * len(numbers) else []


def _compare(profiles: Vec, pairs: Pairs) -> list[int]:
    """Return the exchanged ones of profiles (E, POINTS, n)."""
    left, right = (list(side) for side in zip(*pairs, strict=True))
    middle = np.median(profiles, axis=0)[:, left + right]
    own = _measure(profiles[:, :, left + right] - middle)
    other = _measure(profiles[:, :, right + left] - middle)
    is_swapped = (other < _NEARER * own) & (own > _FAR * np.median(own))
    return [int(k) for k in np.flatnonzero(is_swapped)]


def _measure(apart: Vec) -> Vec:
    return np.asarray(np.sqrt((apart**2).mean(axis=(1, 2))))
