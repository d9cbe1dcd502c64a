from __future__ import annotations

import numpy as np
import pytest

from paprle.hardware.dynamixel.counts import BetweenCounts

COUNT = 2 * np.pi / 4096
SPEED = 0.229 * 2 * np.pi / 60  # of a count of the velocity's register
DT = 0.0025


def read(angle, velocity):
    """What an encoder and its velocity register say of a motion."""
    return COUNT * np.round(angle / COUNT), SPEED * np.round(velocity / SPEED)


def follow(angle, velocity):
    between = BetweenCounts(np.array([COUNT]))
    counted, measured = read(angle, velocity)
    return np.array(
        [
            between.step(np.array([a]), np.array([v]), round(k * DT * 1e9))[0]
            for k, (a, v) in enumerate(zip(counted, measured, strict=True))
        ]
    )


def roughness(q):
    """Largest acceleration that a follower at 200 Hz is asked for, [rad/s²]."""
    return np.abs(np.diff(q[::2], 2)).max() / (2 * DT) ** 2


@pytest.mark.parametrize("period", [1.0, 4.0])
def test_a_slow_motion_is_no_staircase_and_not_late(period):
    t = np.arange(0.0, 8.0, DT)
    omega = 2 * np.pi / period
    angle, velocity = 0.3 * np.sin(omega * t), 0.3 * omega * np.cos(omega * t)

    told = follow(angle, velocity)

    counted, _ = read(angle, velocity)
    assert roughness(told[20:]) < 0.2 * roughness(counted)
    assert np.abs(told - angle).max() < 1.2 * COUNT
    early = np.sum((told - angle) * velocity) / np.sum(velocity**2)
    assert abs(early) < 0.2 * DT


def test_at_rest_it_is_what_is_counted():
    told = follow(np.full(100, 0.1234), np.zeros(100))

    assert np.ptp(told) == 0.0
    assert told[0] == COUNT * np.round(0.1234 / COUNT)


def test_a_leap_is_told_at_once():
    told = follow(np.repeat([0.0, 0.5], 50), np.zeros(100))

    assert told[50] == pytest.approx(0.5, abs=COUNT)


def test_a_silent_servo_is_unknown_and_comes_back_as_counted():
    told = follow(np.repeat([0.1, np.nan, 0.2], 10), np.repeat([0.0, np.nan, 0.0], 10))

    assert np.isnan(told[10:20]).all()
    assert told[20:] == pytest.approx(0.2, abs=COUNT)


def test_after_a_pause_the_velocity_is_not_gone_on_with():
    between = BetweenCounts(np.array([COUNT]))
    between.step(np.zeros(1), np.ones(1), 0)

    assert between.step(np.zeros(1), np.ones(1), 10**9)[0] == 0.0
