"""Search for the header of a table below titles and above a line of units."""

from __future__ import annotations

import re
from collections.abc import Sequence

from paprle.leaders.offline.units import is_unit

_MOST_TITLES = 40  # chosen: an instrument's preamble is shorter
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?|nan|[+-]?inf", re.I)


def find_header(rows: Sequence[Sequence[str]]) -> tuple[int, int] | None:
    """Find the header above the first rows of numbers.

    Args:
        rows: Words of the first lines.

    Returns:
        Place of the header, and of the first line of data below it; None where the
        first line is data, or no line is.
    """
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
    """Return whether a line holds only units of the columns above or below."""
    return any(words) and all(not word or is_unit(word) for word in words)


def is_number(word: str) -> bool:
    """Whether a word is a number, with a decimal point or comma."""
    return _NUMBER.fullmatch(word) is not None


def _find_data(rows: Sequence[Sequence[str]]) -> int:
    """Return the first line of numbers that another as long follows; 0: none is."""
    for i, words in enumerate(rows[:_MOST_TITLES]):
        following = rows[i + 1] if i + 1 < len(rows) else words
        if len(words) == len(following) > 1 and all(map(is_number, words)):
            return i
    return 0
