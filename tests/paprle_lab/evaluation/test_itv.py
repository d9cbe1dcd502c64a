from __future__ import annotations

import numpy as np
import pytest

from paprle_lab.evaluation.itv import (
    compute_itv,
    report_itv,
    resample_by_arc_length,
    resample_by_time,
    turn_to,
)


def square(n: int = 400, start: float = 0.0) -> np.ndarray:
    s = (np.linspace(0, 4, n) + start) % 4
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 0]])
    return np.stack([np.interp(s, range(5), c) for c in corners.T.astype(float)], 1)


def test_itv_is_the_sample_deviation_normed_over_axes():
    path = square()
    offsets = np.array([[0.0, 0.0, 0.0], [0.003, 0.0, 0.004], [0.006, 0.0, 0.008]])

    itv = compute_itv([path + offset for offset in offsets])

    # std of (0, 3, 6) and (0, 4, 8) with ddof = 1 are 3 and 4; their norm is 5
    assert itv == pytest.approx(0.005)


def test_equal_trials_do_not_vary():
    t = np.linspace(0, 10, 400)

    report = report_itv([(t, square())] * 5, n=200)

    assert report["arc_length_mm"] == pytest.approx(0, abs=1e-12)
    assert report["normalised_time_mm"] == pytest.approx(0, abs=1e-12)
    assert report["n_trials"] == 5


def test_a_change_of_speed_counts_in_time_but_not_along_the_path():
    s = np.linspace(0, 1, 400)
    path = square()
    eased = np.stack([np.interp(s**1.5, s, c) for c in path.T], axis=1)

    report = report_itv([(s, path), (s, eased)], n=500)

    assert report["arc_length_mm"] < 5.0
    assert report["normalised_time_mm"] > 100.0


def test_points_are_even_along_the_path():
    p = np.array([[0.0, 0, 0], [0.1, 0, 0], [0.1, 0, 0], [1.0, 0, 0]])

    assert resample_by_arc_length(p, 11)[:, 0] == pytest.approx(np.linspace(0, 1, 11))


def test_points_are_even_in_time():
    p = np.array([[0.0, 0, 0], [1.0, 0, 0], [5.0, 0, 0]])

    found = resample_by_time(np.array([10.0, 11.0, 12.0]), p, 5)

    assert found[:, 0] == pytest.approx([0, 0.5, 1, 3, 5])


def test_a_path_that_stands_still_is_one_point():
    p = np.ones((5, 3))

    assert resample_by_arc_length(p, 4) == pytest.approx(np.ones((4, 3)))


def test_closed_paths_are_turned_to_a_common_start():
    t = np.linspace(0, 1, 2001)
    trials = [(t, square(2001)), (t, square(2001, start=0.7))]

    plain = report_itv(trials)
    cyclic = report_itv(trials, is_cyclic=True)

    assert plain["arc_length_mm"] > 300.0
    assert cyclic["arc_length_mm"] < 2.0
    assert cyclic["is_cyclic"] is True


def test_turning_finds_the_exact_start():
    reference = square(401)[:-1]

    assert turn_to(reference, np.roll(reference, 123, axis=0)) == pytest.approx(
        reference
    )
