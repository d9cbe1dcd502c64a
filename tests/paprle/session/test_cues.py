"""A better suggestion is told once: recorded, and felt by whoever leads."""

import numpy as np
import pytest

from paprle.contracts.kit.motion_cues import CrossingCounter
from paprle.contracts.session_view import Advice, make_advice_dtype

DTYPE = make_advice_dtype(("n_crossings", "i8"))


def say(n, valid=True, dtype=DTYPE):
    record = np.zeros((), dtype=dtype)
    record["valid"] = valid
    if "n_crossings" in dtype.names:
        record["n_crossings"] = n
    return Advice(record, 0.0)


@pytest.mark.parametrize(
    ("said", "crossed"),
    [
        ([0, 0, 1, 1, 1, 2, 2], [2, 5]),
        ([3, 3], [0]),
        ([1, None, None, 1, 2], [0, 4]),
        ([5, 0, 1], [0, 2]),
    ],
)
def test_each_crossing_counts_once_also_by_one_that_begins_anew(said, crossed):
    counter, told = CrossingCounter(), []
    for n in said:
        told.append(counter.take({"a": say(0, valid=False) if n is None else say(n)}))

    assert np.flatnonzero(told).tolist() == crossed
    assert counter.n == len(crossed)


def test_advisors_that_suggest_nothing_are_no_cues():
    counter = CrossingCounter()

    assert not counter.take({"a": say(0, dtype=make_advice_dtype(("x", "f8")))})
    assert not counter.take({})
