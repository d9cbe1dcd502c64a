"""The curve passes its rows, stays between them, and keeps to its bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paprle.leaders.teach.curve import Bounds, Curve

ONE = (Bounds(slice(0, 1), 1.0, 2.0),)
THREE = (Bounds(slice(0, 2), 0.5, 1.5), Bounds(slice(2, 3), 2.0, 9.0, rests=True))
ROWS = st.lists(
    st.tuples(*[st.floats(-2, 2).map(lambda x: round(x, 3))] * 3),
    min_size=2,
    max_size=8,
)


def sample(curve, dt=1e-3):
    t = np.arange(0.0, curve.duration + dt, dt)
    return t, np.array([curve.compute(one) for one in t])


@settings(max_examples=6, deadline=None)
@given(ROWS, st.integers(0, 2**16))
def test_any_rows_are_passed_within_bounds_without_a_jump(rows, seed):
    rows = np.array(rows)
    waits = np.where(np.random.default_rng(seed).random(len(rows)) < 0.3, 0.4, 0.0)
    curve = Curve(rows, waits, THREE)

    t, y = sample(curve)

    reached = np.array([curve.compute(one) for one in curve.t])
    assert np.abs(reached - rows).max() < 1e-9
    assert (y >= rows.min(axis=0) - 1e-9).all()
    assert (y <= rows.max(axis=0) + 1e-9).all()
    v = np.diff(y, axis=0) / 1e-3
    a = np.diff(v, axis=0) / 1e-3
    for one in THREE:
        assert np.linalg.norm(v[:, one.columns], axis=1).max() <= one.speed + 1e-6
        rise = np.linalg.norm(a[:, one.columns], axis=1).max()
        assert rise <= one.acceleration * (1 + 1e-3) + 1e-6
    assert np.abs(v[[0, -1]]).max() < 0.02, "from rest to rest"
    assert np.abs(np.diff(y, axis=0)).max() <= 2.0 * 1e-3 + 1e-9
    assert (np.diff(t) > 0).all()


def test_rows_on_one_way_are_passed_without_stopping():
    rows = np.array([[0.0], [0.5], [1.0], [1.5]])
    curve = Curve(rows, np.zeros(4), ONE)

    _, y = sample(curve)

    v = np.diff(y[:, 0]) / 1e-3
    inside = slice(len(v) // 4, -len(v) // 4)
    assert v[inside].min() > 0.4
    alone = 3 * Curve(rows[:2], np.zeros(2), ONE).duration
    assert curve.duration < 0.8 * alone


def test_a_wait_stands_as_long_as_it_says():
    curve = Curve(np.array([[0.0], [1.0], [2.0]]), np.array([0.0, 1.5, 0.0]), ONE)

    _, y = sample(curve)

    assert (np.abs(y[:, 0] - 1.0) < 1e-9).sum() * 1e-3 == pytest.approx(1.5, abs=0.01)


def test_a_single_step_takes_what_its_limits_say():
    """From rest to rest a cubic peaks at 1.5 of its mean speed, 6 of its h⁻²."""
    slow = Curve(np.array([[0.0], [10.0]]), np.zeros(2), ONE)
    short = Curve(np.array([[0.0], [0.03]]), np.zeros(2), ONE)

    assert slow.duration == pytest.approx(1.5 * 10.0 / 1.0, rel=1e-6)
    assert short.duration == pytest.approx(np.sqrt(6 * 0.03 / 2.0), rel=1e-6)
