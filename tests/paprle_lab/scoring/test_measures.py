"""Measures of an episode, by motions of known figures."""

import numpy as np
import pytest

from paprle_lab.scoring.faults import Fault
from paprle_lab.scoring.measures import (
    Measures,
    find_detours,
    measure_dead,
    measure_jerk,
    measure_path,
)
from paprle_lab.scoring.points import FAULT, RULES, compute_points, list_unknown

RATES = (10.0, 30.0, 50.0)


@pytest.mark.parametrize("rate", RATES)
def test_jerk_of_a_slow_sine_is_its_frequency(rate):
    t = np.arange(0, 20, 1 / rate)
    x = np.sin(2 * np.pi * 0.5 * t)[:, None]
    assert measure_jerk(x, rate) == pytest.approx(0.5, rel=0.15)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("length", [0.2, 5.0])
def test_jerk_depends_neither_on_length_nor_on_duration(rate, length):
    t = np.arange(0, 40, 1 / rate)
    x = np.sin(2 * np.pi * 0.4 * t)[:, None]
    whole = measure_jerk(length * x, rate)
    assert whole == pytest.approx(measure_jerk(x[: len(x) // 2], rate), rel=0.05)


def test_a_shaking_hand_has_more_jerk():
    t = np.arange(0, 10, 1 / 30)
    smooth = np.sin(2 * np.pi * 0.3 * t)[:, None]
    shaky = smooth + 0.03 * np.sin(2 * np.pi * 4.0 * t)[:, None]
    assert measure_jerk(shaky, 30.0) > 2.0 * measure_jerk(smooth, 30.0)


def test_a_gripper_that_snaps_is_no_jerk():
    t = np.arange(0, 10, 1 / 30)
    joints = np.sin(2 * np.pi * 0.3 * t[:, None] + np.arange(6))
    snaps = np.column_stack([joints, t > 5.0])
    assert measure_jerk(snaps, 30.0) == pytest.approx(
        measure_jerk(joints, 30.0), rel=0.1
    )


def test_jerk_of_no_motion_is_unknown():
    assert measure_jerk(np.zeros((100, 3)), 30.0) is None
    assert measure_jerk(np.zeros((3, 3)), 30.0) is None
    noise = np.random.default_rng(0).normal(size=(100, 3))
    assert measure_jerk(noise, 30.0) is None


@pytest.mark.parametrize("rate", RATES)
def test_dead_time_is_the_share_of_driven_rest(rate):
    t = np.arange(0, 20, 1 / rate)
    x = np.minimum(t, 10.0)[:, None] / 10.0
    noise = np.random.default_rng(0).normal(0, 2e-4, x.shape)
    every = np.ones(len(t), np.bool_)
    assert measure_dead(x + noise, rate, every) == pytest.approx(0.5, abs=0.03)
    assert measure_dead(x + noise, rate, t < 10.0) == pytest.approx(0.0, abs=0.03)
    assert measure_dead(x, rate, ~every) is None


def test_a_path_is_measured_without_its_noise():
    t = np.arange(0, 10, 1 / 50)
    x = np.column_stack([t, np.zeros_like(t)])
    noise = np.random.default_rng(0).normal(0, 0.01, x.shape)
    assert measure_path(x, 50.0) == pytest.approx(10.0, rel=0.03)
    assert measure_path(x + noise, 50.0) == pytest.approx(10.0, rel=0.03)


def test_detours_are_those_of_episodes_of_the_same_task():
    tasks = ["pick"] * 4 + ["place"] * 2
    paths = [1.0, 1.0, 3.0, None, 5.0, 5.0]
    assert find_detours(tasks, paths) == [1.0, 1.0, 3.0, None, None, None]


def test_an_unknown_measure_costs_nothing_and_stays_unknown():
    measures = Measures(seconds=10.0)
    assert compute_points(measures, ()) == (100.0, ())
    assert set(list_unknown(measures)) >= {rule.key for rule in RULES}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.key)
def test_a_bad_measure_takes_its_weight_and_is_named(rule):
    worst = Measures(10.0, **{rule.key: rule.bad * 2})
    fair = Measures(10.0, **{rule.key: rule.good})
    assert compute_points(fair, ()).score == 100.0
    score, reasons = compute_points(worst, ())
    assert score == pytest.approx(100.0 * (1.0 - rule.weight))
    assert len(reasons) == 1


@pytest.mark.parametrize("kind", FAULT)
def test_a_fault_comes_first_among_the_reasons(kind):
    measures = Measures(10.0, dead=0.3, jerk=2.5)
    points = compute_points(measures, [Fault(0, kind, "the fault")])
    assert points.reasons[0] == "the fault"
    assert points.score < compute_points(measures, ()).score <= 100.0


def test_a_failure_ranks_below_a_success_with_pauses():
    failed = compute_points(Measures(10.0, success=False), ())
    slow = compute_points(Measures(10.0, success=True, dead=0.9), ())
    assert failed.score < slow.score
    assert "it failed" in failed.reasons
