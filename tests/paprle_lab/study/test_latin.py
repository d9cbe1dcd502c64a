"""Orders are balanced, and dealt by a seed."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from paprle_lab.study.latin import deal, is_balanced, make_square


@pytest.mark.parametrize("n", range(1, 10))
def test_each_stands_as_often_at_each_place_and_after_each_other(n):
    rows = make_square(n)

    places = Counter((k, value) for row in rows for k, value in enumerate(row))
    after = Counter(pair for row in rows for pair in pairwise(row))

    assert len(places) == n * n
    assert len(set(places.values())) == 1
    assert len(after) == n * (n - 1)
    assert len(set(after.values())) <= 1
    assert len(rows) == (n if n % 2 == 0 or n == 1 else 2 * n)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_dealt_orders_are_balanced_by_whole_rounds(n):
    orders = deal("abcd"[:n], 12, seed=3)

    assert is_balanced(n, 12)
    places = Counter((k, one) for order in orders for k, one in enumerate(order))
    assert set(places.values()) == {12 // n}


def test_a_seed_deals_the_same_and_another_seed_otherwise():
    assert deal("abcd", 12, 1) == deal("abcd", 12, 1)
    assert deal("abcd", 12, 1) != deal("abcd", 12, 2)
    assert not is_balanced(4, 11)
    assert len(deal("abc", 4, 0)) == 4
