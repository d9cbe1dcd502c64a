"""What of a cloud is sent (requirements T17, as corrected in 2.2)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paprle.hardware.media.cloud import (
    choose_points,
    compute_share,
    find_edges,
    put_points,
    spread,
)
from paprle.hardware.media.fragments import compute_room, count_bytes

UNIT = 0.001


def draw_scene():
    """A box on a table before a wall, [mm], with a hole as of a sensor."""
    depth = np.full((60, 80), 1500, np.uint16)
    depth[30:] = np.linspace(1500, 700, 30)[:, None]
    depth[20:45, 30:55] = 600
    depth[5:10, 5:10] = 0
    return depth


@given(
    n_max=st.integers(0, 6000),
    share=st.floats(0, 1),
    holes=st.floats(0, 1),
    seed=st.integers(0, 99),
)
@settings(max_examples=40, deadline=None)
def test_the_budget_holds_for_any_image(n_max, share, holes, seed):
    rng = np.random.default_rng(seed)
    depth = rng.integers(1, 65535, (40, 50)).astype(np.uint16)
    depth[rng.random(depth.shape) < holes] = 0
    edges = rng.random(depth.shape) < share

    points = choose_points(depth, edges, n_max)

    n_edge, n_in = np.sum(edges & (depth > 0)), np.sum(~edges & (depth > 0))
    assert len(points) <= n_max
    assert len(points) == min(n_max, n_edge + n_in)
    if n_edge <= n_max:
        assert set(np.flatnonzero(edges & (depth > 0))) <= set(points["pixel"])
    assert (points["depth"] == depth.ravel()[points["pixel"]]).all()
    assert len(set(points["pixel"])) == len(points)


@pytest.mark.parametrize(
    ("n_max", "n_edge", "n_in", "r"),
    [(100, 150, 500, 0.0), (600, 100, 500, 1.0), (350, 100, 500, 0.5), (9, 9, 0, 1.0)],
)
def test_the_share_stays_between_none_and_all(n_max, n_edge, n_in, r):
    assert compute_share(n_max, n_edge, n_in) == r


@given(rate=st.floats(0, 1e8), period=st.floats(0.01, 1.0), pose_rate=st.floats(0, 1e6))
def test_points_with_all_their_heads_fit_beside_the_poses(rate, period, pose_rate):
    n = compute_room(rate, period, pose_rate)

    assert n >= 0
    assert count_bytes(n) <= max(0.0, rate - pose_rate) * period
    assert count_bytes(n + 1) > max(0.0, rate - pose_rate) * period - 1


def test_the_outline_of_a_box_is_an_edge_and_the_rim_of_a_hole_is_not():
    edges = find_edges(draw_scene(), UNIT)

    outline = np.zeros_like(edges)
    outline[20:30, 28:57] = True
    outline[20:30, 33:52] = False
    sides = edges[22:28] & outline[22:28]
    assert (sides.sum(axis=1) >= 2).all()
    assert not edges[50:, 60:].any()
    assert not edges[5:10, 5:10].any()


def test_the_same_image_is_thinned_in_the_same_way():
    depth = draw_scene()
    edges = find_edges(depth, UNIT)

    first, second = (choose_points(depth, edges, 900) for _ in range(2))

    assert (first == second).all()


def test_points_come_back_where_they_were_and_nowhere_else():
    depth, back = draw_scene(), np.zeros((60, 80), np.uint16)
    points = choose_points(depth, find_edges(depth, UNIT), 1000)
    foreign = points[:1].copy()
    foreign["pixel"] = depth.size

    assert put_points(back, points) == 0
    assert put_points(back, foreign) == 1
    assert (back[back > 0] == depth[back > 0]).all()
    assert (back > 0).sum() == len(points)


def test_omitted_points_are_spread_evenly():
    kept = spread(np.arange(1000), 100)

    assert np.diff(kept).max() == np.diff(kept).min() == 10
