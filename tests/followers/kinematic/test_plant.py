"""The plant against the closed form of a continuous system."""

import math

import numpy as np
import pytest

from paprle.followers.kinematic.plant import Plant

CASES = [
    (0.0, 0.0),
    (0.05, 0.0),
    (0.0, 0.013),
    (0.03, 0.02),
    (0.03, 0.0137),
    (0.004, 0.0501),
]


def _simulate(time_constant, dead_time, rate, n):
    """Drive along a ramp of 0.5 rad/s from rest at 0."""
    plant = Plant(np.zeros(1), 1 / rate, time_constant, dead_time)
    states = []
    for k in range(1, n + 1):
        plant.step(np.array([0.5 * k / rate]))
        states.append((k / rate, plant.q[0], plant.dq[0]))
    return states


@pytest.mark.parametrize(("time_constant", "dead_time"), CASES)
def test_ramp_is_the_closed_form_at_any_rate(time_constant, dead_time):
    for rate in (50, 200, 1000):
        for t, q, dq in _simulate(time_constant, dead_time, rate, rate):
            s = max(t - dead_time, 0.0)
            fade = math.exp(-s / time_constant) if time_constant else 0.0
            assert q == pytest.approx(0.5 * (s - time_constant * (1 - fade)), abs=1e-12)
            if abs(t - dead_time) > 1.01 / rate:
                expected = 0.5 * (1 - fade) if s > 0 else 0.0
                assert dq == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("time_constant", "dead_time"), CASES)
def test_ramp_is_behind_by_the_stated_lag(time_constant, dead_time):
    t, q, _ = _simulate(time_constant, dead_time, 200, 400)[-1]

    assert t - q / 0.5 == pytest.approx(time_constant + dead_time, abs=1e-9)


def test_without_lag_it_is_where_it_was_told_with_the_slope_as_velocity():
    plant = Plant(np.array([0.1, 0.2]), 0.005)

    plant.step(np.array([0.11, 0.19]))

    assert plant.q == pytest.approx([0.11, 0.19])
    assert plant.dq == pytest.approx([2.0, -2.0])


def test_stands_still_when_told_to_stay():
    plant = Plant(np.array([0.3]), 0.005, 0.05, 0.013)
    for _ in range(10):
        plant.step(np.array([0.3]))

    assert plant.q[0] == 0.3
    assert plant.dq[0] == 0.0
