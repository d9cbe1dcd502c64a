"""Orders of conditions balanced for place and carry-over.

References:
    Williams, "Experimental designs balanced for the estimation of residual effects of
    treatments", 1949.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def make_square(n: int) -> list[list[int]]:
    """Return Williams's rows of 0 … n − 1: n rows for even n, 2n for odd n."""
    first = [(k + 1) // 2 if k % 2 else (n - k // 2) % n for k in range(n)]
    rows = [[(value + shift) % n for value in first] for shift in range(n)]
    return rows if n % 2 == 0 or n == 1 else rows + [row[::-1] for row in rows]


def deal(conditions: Sequence[T], n: int, seed: int) -> list[tuple[T, ...]]:
    """Return an order of conditions for each participant."""
    chance = random.Random(seed)
    named = list(conditions)
    chance.shuffle(named)
    rows = make_square(len(named))
    dealt: list[tuple[T, ...]] = []
    while len(dealt) < n:
        chance.shuffle(rows)
        dealt += [tuple(named[k] for k in row) for row in rows]
    return dealt[:n]


def is_balanced(n_conditions: int, n_participants: int) -> bool:
    """Return whether the orders are balanced."""
    return n_participants % len(make_square(n_conditions)) == 0
