"""Actions of several sources are summed; none is counted twice or taken back."""

from __future__ import annotations

import numpy as np
import pytest

from paprle.contracts.types import Actions
from paprle.hosts.operator.action_counters import Presses

DTYPE = np.dtype([("actions", "u4", (6,))])


def make_record(**counts):
    record = np.zeros((), DTYPE)
    record["actions"] = Actions(**counts)[:6]
    return record


def test_presses_of_every_source_are_summed():
    presses = Presses(2)
    presses.add(Actions(), [make_record(), make_record()])

    told = presses.add(Actions(stop=1), [make_record(stop=2), make_record(clear=1)])

    assert told == Actions(stop=3, clear=1)


def test_presses_before_a_leaders_first_record_count_for_nothing():
    presses = Presses(1)

    assert presses.add(Actions(), [make_record(quit=5)]) == Actions()
    assert presses.add(Actions(), [make_record(quit=6)]) == Actions(quit=1)


def test_a_leader_that_has_not_spoken_presses_nothing():
    presses = Presses(2)

    assert presses.add(Actions(engage=1), [None, None]) == Actions(engage=1)


def test_a_counter_that_wraps_goes_on():
    presses = Presses(1)
    presses.add(Actions(), [make_record(stop=2**32 - 1)])

    assert presses.add(Actions(), [make_record(stop=1)]) == Actions(stop=2)


@pytest.mark.parametrize("n", range(4))
def test_the_same_record_again_presses_nothing_again(n):
    presses = Presses(1)
    presses.add(Actions(), [make_record()])
    for _ in range(n):
        presses.add(Actions(), [make_record(engage=1)])

    assert presses.add(Actions(), [make_record(engage=1)]) == Actions(engage=1)
