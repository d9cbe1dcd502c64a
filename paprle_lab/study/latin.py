"""Orders in which each condition comes as often at each place, and after each other.

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
    """Return Williams's rows of 0 … n − 1: n of an even number, 2n of an odd one.

    In all rows together each number stands equally often at each place, and each pair
    of different numbers stands equally often next to each other in that order.

    Args:
        n: How many conditions, 1 or more.

    Returns:
        The rows.
    """
    first = [(k + 1) // 2 if k % 2 else (n - k // 2) % n for k in range(n)]
    rows = [[(value + shift) % n for value in first] for shift in range(n)]
    return rows if n % 2 == 0 or n == 1 else rows + [row[::-1] for row in rows]


def deal(conditions: Sequence[T], n: int, seed: int) -> list[tuple[T, ...]]:
    """Deal the rows of a square to participants.

    Names are given to the square's numbers by the seed, and the rows of each round are
    dealt in an order of it. Where n is no multiple of the rows, the last round is cut.

    Args:
        conditions: The conditions.
        n: How many participants.
        seed: The same seed deals the same.

    Returns:
        An order for each participant.
    """
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
    """Return whether all participants together are balanced."""
    return n_participants % len(make_square(n_conditions)) == 0
