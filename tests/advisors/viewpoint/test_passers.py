"""Objects that pass before a camera: how far ahead they count."""

import numpy as np
import pytest
from retargeting import load_robot

from advisors.viewpoint.passers import Passers
from paprle.testing import make_session_view

ROBOT = load_robot("ur5e_camera").info
RADII = {"ball": 0.06}


def look(passers, places, period=0.01, begin_ns=1_000_000_000):
    """The last rows found of an object that is at places, one a period."""
    rows = None
    for k, p in enumerate(places):
        pose = np.array([*p, 0.0, 0.0, 0.0, 1.0])
        now_ns = begin_ns + round(k * period * 1e9)
        view = make_session_view(ROBOT, now_ns, objects={"ball": pose})
        rows = passers.find(view)
    return rows


@pytest.mark.parametrize("period", [0.01, 0.02])
def test_an_object_that_moves_counts_as_far_as_it_gets(period):
    t = period * np.arange(round(1.0 / period))
    places = np.column_stack([0.3 * t, 0.1 + 0 * t, 0.4 + 0 * t])

    (row,) = look(Passers(RADII, 0.5), places, period)

    np.testing.assert_allclose(row[:3], places[-1])
    np.testing.assert_allclose(row[3:6] - row[:3], [0.15, 0, 0], atol=1e-3)
    assert row[6] == 0.06


def test_an_object_that_a_slow_camera_sees_moves_as_evenly():
    t = 0.03 * np.floor(np.arange(300) * 0.01 / 0.03)  # seen 33 times a second
    places = np.column_stack([0.3 * t, 0 * t, 0 * t])
    passers = Passers(RADII, 0.5)

    ways = [
        look(passers, places[: k + 1])[0, 3] - places[k, 0] for k in (250, 251, 252)
    ]

    np.testing.assert_allclose(ways, 0.15, atol=0.03)


def test_an_object_that_stands_or_was_carried_off_is_where_it_is():
    passers = Passers(RADII, 0.5)
    (stands,) = look(passers, [(0.1, 0.2, 0.3)] * 5)

    (elsewhere,) = look(passers, [(0.9, 0.2, 0.3)], begin_ns=3_000_000_000)

    np.testing.assert_array_equal(stands[3:6], stands[:3])
    np.testing.assert_array_equal(elsewhere[3:6], elsewhere[:3])


def test_one_that_is_thrown_is_not_in_the_way_of_everything():
    (row,) = look(Passers(RADII, 0.5), [(0.05 * k, 0, 0) for k in range(50)])

    assert np.linalg.norm(row[3:6] - row[:3]) == pytest.approx(0.3)


def test_who_is_not_seen_is_not_in_the_way():
    assert Passers(RADII, 0.5).find(make_session_view(ROBOT, 1)).shape == (0, 7)
