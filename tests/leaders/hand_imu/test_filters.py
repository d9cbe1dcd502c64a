"""Filters of a hand's position: their closed forms, their delays, their bounds."""

from __future__ import annotations

import numpy as np
import pytest

from paprle.leaders.hand_imu.config import HandImuConfig
from paprle.leaders.hand_imu.filters import Average, Exponential, Kalman, make_filter
from paprle.leaders.hand_imu.leader import HandImu
from paprle.testing import ManualClock

T = 1.0 / 30.0
X = np.array([1.0, 0.0, 0.0])
DELAYS = {"ema": 0.65 / 0.35 * T, "average": 4.5 * T, "kalman": 0.0}


def follow(one, positions, period=T):
    one.begin(positions[0] * X, 0.0)
    return np.array(
        [one.update(p * X, k * period)[0] for k, p in enumerate(positions[1:], 1)]
    )


def test_a_step_through_the_exponential_one_is_its_closed_form():
    found = follow(Exponential(), np.r_[0.0, np.ones(40)])

    assert found == pytest.approx(1.0 - 0.65 ** np.arange(1, 41))


def test_the_exponential_one_is_the_same_at_any_rate_of_images():
    slow = follow(Exponential(), np.r_[0.0, np.ones(30)])
    quick = follow(Exponential(), np.r_[0.0, np.ones(60)], T / 2.0)

    assert quick[1::2] == pytest.approx(slow)


def test_a_step_through_the_mean_of_ten_is_a_ramp():
    found = follow(Average(), np.r_[0.0, np.ones(12)])

    assert found == pytest.approx(np.minimum(np.arange(1, 13) / 10.0, 1.0))


@pytest.mark.parametrize("name", list(DELAYS))
def test_a_steady_hand_is_behind_by_the_delay_that_is_said(name):
    one, speed = make_filter(name, 0.0), 0.2
    positions = speed * T * np.arange(300)

    found = follow(one, positions)

    behind = (positions[-1] - found[-1]) / speed
    assert behind == pytest.approx(DELAYS[name], abs=1e-4)
    assert one.find_delay(T) == pytest.approx(DELAYS[name])


def test_a_prediction_is_ahead_by_its_time_and_bounded():
    positions = 0.2 * T * np.arange(300)
    quick = 10.0 * positions

    ahead = follow(Kalman(0.03), positions)[-1] - positions[-1]
    far = follow(Kalman(0.1), quick)[-1] - quick[-1]

    assert ahead == pytest.approx(0.2 * 0.03, abs=1e-4)
    assert far == pytest.approx(0.05, abs=1e-3)  # 2 m/s · 0.1 s would be 0.2


def test_noise_is_less_behind_each_of_them():
    rng = np.random.default_rng(3)
    noise = rng.normal(0.0, 0.01, 2000)

    left = {name: follow(make_filter(name, 0.0), noise).std() for name in DELAYS}

    assert left["average"] < left["ema"] < 0.6 * 0.01
    assert left["kalman"] < 0.8 * 0.01


def test_none_is_on_by_default_and_one_that_is_says_its_delay():
    clock = ManualClock()

    plain = HandImu(HandImuConfig(), clock).notes
    filtered = HandImu(HandImuConfig(filter="average"), clock).notes
    ahead = HandImu(HandImuConfig(filter="kalman", predict=0.03), clock).notes

    assert make_filter("none", 0.0) is None
    assert not any("filter" in text for text in plain)
    assert any("slow motion 150 ms later" in text for text in filtered)
    assert any("slow motion 30 ms earlier" in text for text in ahead)


def test_a_prediction_without_a_velocity_is_refused():
    leader = HandImu(HandImuConfig(filter="ema", predict=0.03), ManualClock())

    [problem] = [p for p in leader.preflight() if "predict" in p]
    assert "expected filter=kalman" in problem
