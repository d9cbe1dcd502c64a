"""What advice costs a session's tick, as the benchmark measures it."""

import pytest

from benchmarks.advice import MOST, measure


@pytest.mark.nightly
@pytest.mark.timed
@pytest.mark.parametrize("is_pushed", [False, True], ids=["at rest", "pushed"])
def test_advice_costs_a_tick_little(is_pushed):
    without, advised = measure(1000, is_pushed=is_pushed)

    assert advised - without <= MOST
