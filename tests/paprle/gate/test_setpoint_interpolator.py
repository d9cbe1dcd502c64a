"""The way between set-points: where it leads, how smooth, and what it will not do."""

from __future__ import annotations

import math

import numpy as np
import pytest

from paprle.gate.setpoint_interpolator import Reference

T = 0.005  # [s] of the session
V, A = np.array([3.0, 2.0]), np.array([20.0, 10.0])


def sway(t):
    """Two joints that swing at 1 Hz and less; and their velocity."""
    w, size = np.array([6.0, 4.0]), np.array([0.2, 0.3])
    return size * np.sin(w * t), size * w * np.cos(w * t)


def run(motion, h, end=3.0, phase=0.0):
    """Follow set-points of a motion at a gate's own rate; return times, q and dq."""
    reference = Reference(V, A, T)
    q = motion(0.0)[0]
    reference.start(q, np.zeros(2), 0.0)
    times, found = np.arange(1, int(end / h)) * h, []
    for t in times:
        at = math.floor((t - phase) / T + 1e-9) * T + phase
        q, q_before = motion(at)[0], motion(at - T)[0]
        reference.follow(q, (q - q_before) / T, reference.q, at, t)
        found.append((reference.q.copy(), reference.dq.copy()))
    return times, *(np.array(rows) for rows in zip(*found, strict=True))


@pytest.mark.parametrize("h", [0.001, 0.002, 0.004, 0.005])
@pytest.mark.parametrize("phase", [0.0, 0.0013])
def test_the_reference_is_where_the_leader_is_and_not_later(h, phase):
    times, q, dq = run(sway, h, phase=phase)
    settled = times > 0.5

    truth = np.array([sway(t) for t in times])
    assert np.abs(q - truth[:, 0])[settled].max() < 2e-5
    assert np.abs(dq - truth[:, 1])[settled].max() < 0.02


@pytest.mark.parametrize("h", [0.001, 0.002])
def test_the_references_acceleration_is_that_of_the_motion_and_no_more(h):
    """Going on along each velocity gives twenty times of it at 1 kHz."""
    times, q, _ = run(sway, h)
    ddq = np.diff(q, 2, axis=0)[times[1:-1] > 0.5] / h**2
    t = times[1:-1][times[1:-1] > 0.5]
    truth = -np.array([36.0, 16.0]) * np.array([sway(x)[0] for x in t])

    rms = np.sqrt((ddq**2).mean(axis=0) / (truth**2).mean(axis=0))
    assert (rms < 1.05).all()
    assert np.abs(np.diff(ddq, axis=0)).max() < 0.5, "no leaps"


def test_a_place_that_is_far_off_is_no_motion():
    reference = Reference(V, A, T)
    reference.start(np.zeros(2), np.zeros(2), 0.0)

    leap = np.array([1.0, -1.0])
    reference.follow(leap, leap / T, np.zeros(2), T, T)

    assert reference.q.tolist() == [1.0, -1.0]
    assert reference.dq.tolist() == [0.0, 0.0]


def test_a_motion_at_times_faster_than_v_keeps_a_velocity_of_v():
    """Taken for none, it leapt from V to none and back at each crossing."""

    def fast(t):
        w = 6.0
        dq_peak = np.array([1.05 * V[0], 0.5 * V[1]])
        return dq_peak / w * np.sin(w * t), dq_peak * np.cos(w * t)

    times, q, dq = run(fast, 0.001)
    settled = times > 0.5

    truth = np.array([fast(t) for t in times])
    expected = np.clip(truth[:, 1], -V, V)
    assert np.abs(dq - expected)[settled].max() < 0.1
    assert np.abs(q - truth[:, 0])[settled].max() < 2e-3, "foreseen by V, 5 % less"


def test_a_leap_is_not_gone_on_with_in_silence():
    reference, q = Reference(V, A, T), np.array([0.05, 0.0])
    reference.start(np.zeros(2), np.zeros(2), 0.0)

    for k in range(1, 12):
        reference.follow(q, q / T, np.zeros(2), T, k * T)

        assert reference.q.tolist() == q.tolist()
        assert reference.dq.tolist() == [0.0, 0.0]


def test_a_sudden_start_is_followed_from_the_second_set_point_on():
    reference = Reference(V, A, T)
    reference.start(np.zeros(2), np.zeros(2), 0.0)

    for k in range(1, 8):
        q = np.array([0.01, 0.005]) * k
        reference.follow(q, np.array([2.0, 1.0]), reference.q, k * T, k * T)

    assert reference.q == pytest.approx(q)
    assert reference.dq == pytest.approx([2.0, 1.0])


def test_another_place_at_the_same_instant_is_gone_to():
    """An IK may still come nearer to a sample that nothing newer has replaced."""
    reference, q = Reference(V, A, T), np.zeros(2)
    reference.start(q, np.zeros(2), 0.0)

    for k in range(1, 30):
        q = np.array([2e-4, -1e-4]) * min(k, 10)
        reference.follow(q, np.zeros(2), reference.q, T, k * T)

    assert reference.q == pytest.approx([2e-3, -1e-3], abs=1e-7)


def test_a_stopped_leader_sets_off_from_rest():
    """A leader that stood still in silence for a moment: no leap of the velocity."""
    reference, h, found = Reference(V, A, T), 0.001, []
    reference.start(np.zeros(2), np.zeros(2), 0.0)
    for k in range(1, 120):
        t = k * h
        n = math.floor(t / T + 1e-9)
        n = n if n < 10 or n >= 18 else 9  # silent from 50 to 90 ms, and stood
        q = np.array([0.2, 0.1]) * T * (n if n < 10 else n - 8)
        reference.follow(q, np.array([0.2, 0.1]), reference.q, n * T, t)
        found.append(reference.q.copy())

    dq = np.diff(np.array(found), axis=0) / h
    stands = slice(72, 86)
    assert np.abs(dq[stands]).max() < 1e-9
    assert np.abs(dq[89]).max() < 0.1, "from rest"


def test_a_standing_leader_gives_an_exactly_constant_set_point():
    reference, q = Reference(V, A, T), np.array([0.1, -0.2])
    reference.start(np.array([0.1 - 1e-3, -0.2]), np.zeros(2), 0.0)

    for k in range(1, 60):
        reference.follow(q, np.zeros(2), q, k * T, k * T)

    assert reference.q.tolist() == q.tolist()
    assert reference.dq.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_an_invalid_number_passes_and_is_forgotten(bad):
    reference = Reference(V, A, T)
    reference.start(np.zeros(2), np.zeros(2), 0.0)

    reference.follow(np.array([bad, 0.0]), np.array([0.0, bad]), np.zeros(2), T, T)
    assert not math.isfinite(reference.q[0])
    assert (reference.q[1], *reference.dq) == (0.0, 0.0, 0.0)

    for k in range(2, 10):
        reference.follow(np.zeros(2), np.zeros(2), np.zeros(2), k * T, k * T)
    assert reference.q.tolist() == reference.dq.tolist() == [0.0, 0.0]


def test_nothing_is_foreseen_of_a_command_that_is_held_back():
    """Or it would rock with the session, whose set-points it draws along."""
    reference, q_cmd = Reference(V, A, T), np.zeros(2)
    for k in range(1, 20):
        q = np.array([0.12 + 0.005 * k, 0.005 * k])
        reference.follow(q, np.array([1.0, 1.0]), q_cmd, k * T, k * T)

    for _ in range(3):
        reference.follow(q, np.array([1.0, 1.0]), q_cmd, 19 * T, 22 * T)
    assert reference.q[0] == pytest.approx(q[0], abs=1e-9)
    assert reference.q[1] > q[1] + 0.01


@pytest.mark.parametrize("apart", [1, 3, 6])
def test_a_slower_leader_is_followed_without_steps(apart):
    """Samples of 200, 67 and 33 Hz; set-points in between say nothing new."""
    reference, h = Reference(V, A, T), 0.002
    reference.start(sway(0.0)[0], np.zeros(2), 0.0)
    found, step = [], apart * T
    for k in range(1, 1500):
        t = k * h
        at = math.floor(t / step + 1e-9) * step
        q, before = sway(at)[0], sway(at - step)[0]
        reference.follow(q, (q - before) / step, reference.q, at, t)
        found.append(reference.q.copy())

    dq = np.diff(np.array(found)[300:], axis=0) / h
    assert np.abs(dq).max() < 1.3 * 1.25, "no faster than the leader by much"
    assert np.abs(np.diff(dq, axis=0)).max() < 0.1


def test_a_start_in_motion_stops_alike_both_ways():
    """Its velocity is the curve's: a place that asks to stand is no leap from it."""
    q, dq = np.array([0.1, -0.1]), np.array([0.05, -0.05])
    reference = Reference(np.full(2, 3.0), np.full(2, 20.0), T)
    reference.start(q, dq, 0.0)
    found = []
    for k in range(1, 40):
        reference.follow(q, np.zeros(2), q, T, 1e-3 * k)
        found.append(reference.q.copy())

    way = np.array(found)
    assert way[0] == pytest.approx(q + 1e-3 * dq, abs=1e-5), "it goes on at first"
    np.testing.assert_array_equal(way[:, 0], -way[:, 1])
    assert way[-1].tolist() == q.tolist()


def test_a_set_point_after_silence_continues_as_a_fresh_one():
    reference, fresh = Reference(V, A, T), Reference(V, A, T)
    reference.start(np.zeros(2), np.zeros(2), 0.0)
    for k in range(1, 8):
        q = np.array([0.01, -0.005]) * min(k, 3)
        reference.follow(q, np.zeros(2), q, min(k, 3) * T, k * T)
    later = 30 * T
    reference.follow(q, np.zeros(2), q, 3 * T, later)
    fresh.start(reference.q, np.zeros(2), later)

    for k in range(1, 12):
        goal = q + np.array([2e-3, -1e-3]) * k
        for one in (reference, fresh):
            one.follow(goal, np.array([0.4, -0.2]), goal, later + k * T, later + k * T)
        np.testing.assert_allclose(reference.q, fresh.q, rtol=0, atol=1e-15)
        np.testing.assert_allclose(reference.dq, fresh.dq, rtol=0, atol=1e-12)


def test_a_place_that_is_meant_for_later_is_come_to_within_six_periods():
    reference, q = Reference(V, A, T), np.array([1e-3, -5e-4])
    reference.start(np.zeros(2), np.zeros(2), 0.0)
    at = 1.0
    for t in (T, 2 * T, 6 * T - 1e-3):
        reference.follow(q, np.zeros(2), q, at, t)
        assert (np.abs(reference.q) < np.abs(q)).all()

    reference.follow(q, np.zeros(2), q, at, 6 * T)

    assert reference.q == pytest.approx(q, abs=1e-12)
