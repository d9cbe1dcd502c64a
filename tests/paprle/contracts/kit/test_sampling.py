"""How old what a slow leader says may be."""

from __future__ import annotations

import pytest

from paprle.contracts.kit.sampling import Sampling, find_content_age


@pytest.mark.parametrize(
    "rate, age", [(100.0, 0.1), (60.0, 0.1), (30.0, 0.1533), (10.0, 0.2), (0.5, 0.2)]
)
def test_silence_of_a_slow_device_is_borne_for_a_fifth_of_a_second_at_most(rate, age):
    assert find_content_age(Sampling(), rate) == pytest.approx(age, abs=1e-4)


def test_a_device_may_ask_for_less():
    assert find_content_age(Sampling(content_age=0.1), 30.0) == 0.1
