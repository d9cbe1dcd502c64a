from __future__ import annotations

import numpy as np
import pytest

from paprle_lab.evaluation.latency import (
    find_joint_lags,
    find_lag,
    measure_capture_to_command,
    measure_command_age,
)

T = np.arange(0.0, 12.0, 0.005)
SPANS = np.array([[0.0, 11.9]])


def wave(t: np.ndarray) -> np.ndarray:
    return np.stack([np.sin(2 * t), 0.3 * np.cos(3.1 * t)], axis=1)


@pytest.mark.parametrize("delay", [-0.05, 0.0, 0.0137, 0.2])
def test_lag_is_found_finer_than_a_sample(delay):
    lag = find_lag((T, wave(T)), (T, wave(T - delay)), SPANS)

    assert lag == pytest.approx(delay, abs=1e-4)


def test_lag_does_not_care_about_a_constant_offset():
    lag = find_lag((T, wave(T)), (T, wave(T - 0.03) + [0.04, -0.2]), SPANS)

    assert lag == pytest.approx(0.03, abs=1e-4)


def test_streams_may_have_stamps_of_their_own():
    t_other = T[::3] + 0.0021

    lag = find_lag((T, wave(T)), (t_other, wave(t_other - 0.03)), SPANS)

    assert lag == pytest.approx(0.03, abs=3e-4)


def test_a_first_order_lag_shows_as_its_time_constant_for_slow_motion():
    tau, h, x = 0.03, 0.005, np.sin(T)
    y = np.zeros_like(x)
    for k in range(1, len(T)):
        y[k] = y[k - 1] + h / tau * (x[k - 1] - y[k - 1])

    lag = find_lag((T, x[:, None]), (T, y[:, None]), SPANS)

    assert lag == pytest.approx(tau, abs=0.002)


@pytest.mark.parametrize(
    "motion",
    [
        pytest.param(np.zeros((len(T), 2)), id="standstill"),
        pytest.param(np.stack([T, -T], axis=1), id="straight ramp"),
    ],
)
def test_motion_without_a_bend_has_no_lag(motion):
    assert find_lag((T, motion), (T, motion), SPANS) is None


def test_too_few_samples_have_no_lag():
    assert find_lag((T[:2], wave(T[:2])), (T, wave(T)), SPANS) is None


def test_joint_lags_are_found_joint_by_joint():
    late = np.stack([wave(T - 0.02)[:, 0], wave(T - 0.06)[:, 1]], axis=1)

    lags = find_joint_lags((T, wave(T)), (T, late), SPANS)

    assert [len(lag) for lag in lags] == [4, 4]
    assert np.median(lags[0]) == pytest.approx(0.02, abs=1e-3)
    assert np.median(lags[1]) == pytest.approx(0.06, abs=1e-3)


def test_capture_to_command_ends_with_the_first_write_that_rests_on_the_sample():
    began_ns = np.array([100, 200, 300])
    capture_ns = np.array([90, 150, 290])
    wrote_ns = np.array([110, 160, 210, 260, 320])
    setpoint_ns = np.array([0, 100, 100, 200, 300])

    latency = measure_capture_to_command(
        (began_ns, capture_ns), (wrote_ns, setpoint_ns)
    )

    assert latency * 1e9 == pytest.approx([160 - 90, 260 - 150, 320 - 290])


def test_samples_that_never_reached_the_robot_are_not_counted():
    latency = measure_capture_to_command(
        (np.array([100, 900]), np.array([90, 890])),
        (np.array([150]), np.array([100])),
    )

    assert len(latency) == 1


def test_nothing_written_gives_no_latency():
    nothing = np.zeros(0, dtype=np.int64)

    assert (
        len(measure_capture_to_command((nothing + 1, nothing), (nothing, nothing))) == 0
    )


def test_command_age_leaves_out_ticks_without_a_setpoint():
    ages = measure_command_age(np.array([10, 20, 30]), np.array([0, 15, 15]))

    assert ages * 1e9 == pytest.approx([5, 15])
