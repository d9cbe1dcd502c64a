"""Rows of any length fit in a bounded memory, and stay evenly spaced."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paprle_lab.viewing.thinned_rows import ThinnedRows

MOST = 16


def thin(sizes):
    rows, n = ThinnedRows(MOST, lambda part: part), 0
    for size in sizes:
        rows.add(np.arange(n, n + size))
        n += size
    return rows, n


@given(st.lists(st.integers(0, 200), min_size=1, max_size=30))
def test_what_is_kept_is_bounded_even_and_begins_with_the_first(sizes):
    rows, n = thin(sizes)
    if n == 0:
        assert len(rows) == 0
        return
    kept = rows.join()

    assert len(kept) == len(rows) <= MOST
    assert len(kept) >= min(n, MOST / 2)
    assert kept[0] == 0
    steps = set(np.diff(kept).tolist())
    assert len(steps) <= 1
    assert n - 1 - kept[-1] < (steps or {1}).pop()


def test_few_rows_are_all_kept():
    assert thin([5, 0, 11])[0].join().tolist() == list(range(16))


def test_no_rows_cannot_be_joined():
    with pytest.raises(LookupError):
        thin([0])[0].join()
