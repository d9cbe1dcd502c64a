"""Which samples are waypoints: order, repeats, lateness, and bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paprle.reconstruction.waypoints import Waypoints

P = 33_000_000  # [ns]


def add(queue, k, x=0.0):
    return queue.add(k * P, np.array([x]), P)


def stamps(queue):
    return [round(waypoint.stamp_ns / P) for waypoint in queue.waiting]


@given(st.permutations(range(1, 12)), st.lists(st.integers(1, 11), max_size=8))
def test_ordered_samples_wait_in_the_order_of_their_capture(order, again):
    queue = Waypoints("ordered")
    add(queue, 0)

    for k in [*order, *again]:
        add(queue, k)

    assert stamps(queue) == sorted(order)
    assert queue.refused == ({"doubled": len(again)} if again else {})


@given(st.permutations(range(1, 12)))
def test_latest_samples_never_go_back_in_time(order):
    queue = Waypoints("latest")
    add(queue, 0)

    for k in order:
        add(queue, k)

    newest = [k for i, k in enumerate(order) if k > max(order[:i], default=0)]
    assert stamps(queue) == newest
    assert queue.refused["late"] == len(order) - len(newest)


def test_a_waypoint_behind_the_motion_is_too_late():
    queue = Waypoints("ordered")
    for k in (0, 1, 3):
        add(queue, k)
    queue.reach(3 * P)

    assert add(queue, 2) is None
    assert queue.refused == {"late": 1}
    assert stamps(queue) == []


def test_a_late_sample_joins_those_that_wait():
    queue = Waypoints("ordered")
    for k in (0, 1, 3, 2):
        add(queue, k)

    assert stamps(queue) == [1, 2, 3]


@pytest.mark.parametrize("policy", ["latest", "ordered"])
def test_a_flood_is_bounded_and_counted(policy):
    queue = Waypoints(policy)

    for k in range(10_000):
        add(queue, k)

    assert len(queue.waiting) == 64
    assert queue.refused["full"] == 10_000 - 65


def test_velocities_are_of_a_whole_period_even_where_two_captures_are_near():
    queue = Waypoints("latest")
    add(queue, 0, 0.0)
    queue.add(P - 1_000_000, np.array([0.5]), P)

    newest = queue.add(P, np.array([1.0]), P)

    assert newest.velocity == pytest.approx(1.0 / (P * 1e-9))
