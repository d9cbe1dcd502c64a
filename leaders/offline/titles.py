"""Search for a header."""

from __future__ import annotations

import re
from collections.abc import Sequence

from paprle.leaders.offline.units import is_unit

_MOST_TITLES = 40  # chosen: an instrument's preamble is shorter
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?|nan|[+-]?inf", re.I)


def find_header(rows: Sequence[Sequence[str]]) -> tuple[int, int] | None:
    """Return the header's and data's places, or None."""
    data = _find_data(rows)
    if not data:
        return None
    n = len(rows[data])
    for i in range(data - 1, max(data - 4, -1), -1):
        words = rows[i]
        if len(words) == n and sum(map(bool, words)) > n / 2 and not is_units(words):
            return None if any(map(is_number, words)) else (i, data)
    return None


def is_units(words: Sequence[str]) -> bool:
    """Return whether a line has only units."""
    return any(words) and all(not word or is_unit(word) for word in words)


def is_number(word: str) -> bool:
    """Return whether a word is a number, by point or comma."""
    return _NUMBER.fullmatch(word) is not None


def _find_data(rows: Sequence[Sequence[str]]) -> int:
    for i, words in enumerate(rows[:_MOST_TITLES]):
        following = rows[i + 1] if i + 1 < len(rows) else words
        if len(words) == len(following) > 1 and all(map(is_number, words)):
            return i
    return 0
