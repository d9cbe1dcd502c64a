"""Curves of the kit are those of SciPy, which the core does without."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, PchipInterpolator, make_smoothing_spline

from paprle.contracts.kit.splines import (
    interpolate,
    interpolate_monotonically,
    make_smoother,
)


def _make_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    t = np.cumsum(rng.uniform(0.005, 0.05, n))
    return t, np.cumsum(rng.normal(size=(n, 3)), axis=0)


def _sample(t):
    return np.linspace(t[0], t[-1], 20 * len(t))


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 100, 2000])
def test_the_spline_is_that_of_scipy(n):
    t, rows = _make_rows(n)
    own, theirs = interpolate(t, rows), CubicSpline(t, rows)

    np.testing.assert_allclose(own(_sample(t)), theirs(_sample(t)), rtol=0, atol=1e-10)


@pytest.mark.parametrize("n", [2, 3, 4, 100])
@pytest.mark.parametrize("decimals", [0, 12])  # whole numbers stand, and turn
def test_the_monotone_curve_is_that_of_scipy(n, decimals):
    t, rows = _make_rows(n)
    rows = np.round(rows, decimals)
    own, theirs = interpolate_monotonically(t, rows), PchipInterpolator(t, rows)

    np.testing.assert_allclose(own(_sample(t)), theirs(_sample(t)), rtol=0, atol=1e-10)


def test_the_monotone_curve_stays_between_its_rows():
    t = np.arange(6.0)
    curve = interpolate_monotonically(t, np.array([0.0, 0.0, 1.0, 1.0, 0.3, 0.3]))

    assert curve(_sample(t)).min() >= 0.0
    assert curve(_sample(t)).max() <= 1.0


@pytest.mark.parametrize("n", [5, 6, 100, 2000])
@pytest.mark.parametrize("lam", [1e-9, 1e-5, 1e-2])
def test_the_smooth_curve_is_that_of_scipy(n, lam):
    t, rows = _make_rows(n)
    own = make_smoother(t, lam)(rows)

    for k, column in enumerate(rows.T):
        theirs = make_smoothing_spline(t, column, lam=lam)
        np.testing.assert_allclose(
            own(_sample(t))[:, k], theirs(_sample(t)), rtol=0, atol=1e-7
        )


def test_one_time_gives_one_row():
    t, rows = _make_rows(9)

    assert interpolate(t, rows)(float(t[3])).shape == (3,)
    np.testing.assert_allclose(interpolate(t, rows)(float(t[3])), rows[3], atol=1e-12)
    assert interpolate(t, rows[:, 0])(float(t[3])).shape == ()
