"""Columns of two arms and of action and state, found by their names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from paprle_lab.scoring.series import EpisodeSeries

Pairs = list[tuple[int, int]]

_SIDES = tuple(
    (re.compile(left, re.IGNORECASE), re.compile(right, re.IGNORECASE))
    for left, right in (
        ("left", "right"),
        (r"(?<![a-z])l(?![a-z])", r"(?<![a-z])r(?![a-z])"),
    )
)
_HAND = re.compile(r"grip|finger|jaw|hand|thumb|knuckle", re.IGNORECASE)
_NUMBERS = re.compile(r"(\D*)(\d+)")
_HALVES = frozenset({12, 14, 16})  # chosen: two arms of 5 … 7 joints and a gripper each


def pair_tracks(series: EpisodeSeries) -> Pairs:
    """Return columns (action, state) of the same name, or of the same place."""
    action, state = series.action.names, series.state.names
    if are_named(action) and are_named(state):
        places = {name: k for k, name in enumerate(state)}
        named = [(k, places[name]) for k, name in enumerate(action) if name in places]
        if named:
            return named
    if len(action) == len(state):
        return [(k, k) for k in range(len(action))]
    return []


def pair_sides(names: Sequence[str]) -> Pairs:
    """Return columns (left, right) of two arms; empty where there is one."""
    for left, right in _SIDES:
        places = {
            right.sub("#", name): k
            for k, name in enumerate(names)
            if right.search(name)
        }
        pairs = [
            (k, places[left.sub("#", name)])
            for k, name in enumerate(names)
            if left.search(name) and left.sub("#", name) in places
        ]
        if pairs:
            return pairs
    if not are_named(names) and len(names) in _HALVES:
        half = len(names) // 2
        return [(k, k + half) for k in range(half)]
    return []


def are_named(names: Sequence[str]) -> bool:
    """Return whether names are more than numbers of one word."""
    heads = {match[1] for name in names if (match := _NUMBERS.fullmatch(name))}
    return not (len(heads) == 1 and all(map(_NUMBERS.fullmatch, names)))


def is_gripper(name: str) -> bool:
    """Return whether a name is one of a gripper or hand, whose unit is its own."""
    return bool(_HAND.search(name))
