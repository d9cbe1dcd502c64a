"""Pieces hold all of a mesh, however it is cut."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paprle.contracts.types import Vec
from paprle_lab.onboarding.bounding_shapes import guess_box
from paprle_lab.onboarding.pieces import Piece, Plane, split


def measure_area(triangles: Vec) -> float:
    a, b, c = triangles.transpose(1, 0, 2)
    return float(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())


@given(st.integers(0, 10_000), st.integers(1, 40))
def test_a_cut_leaves_each_triangle_on_its_side_and_nothing_out(
    seed: int, n: int
) -> None:
    rng = np.random.default_rng(seed)
    triangles, normal = rng.normal(size=(n, 3, 3)), rng.normal(size=3)
    normal /= np.linalg.norm(normal)

    below, above = split(triangles, normal, 0.1)

    assert (below @ normal <= 0.1 + 1e-12).all()
    assert (above @ normal >= 0.1 - 1e-12).all()
    both = measure_area(below) + measure_area(above)
    np.testing.assert_allclose(both, measure_area(triangles), rtol=1e-9)


def test_two_bars_at_an_angle_are_thinner_in_two_pieces() -> None:
    rng = np.random.default_rng(0)
    bars = rng.uniform(0.0, 1.0, (400, 3, 3)) * [1.0, 0.05, 0.05]
    bars[200:] = bars[200:, :, [1, 0, 2]]
    whole = Piece(bars)

    halves = whole.halves

    assert sum(half.body.volume for half in halves) < 0.5 * whole.body.volume
    assert {whole} < set(halves[0].list_origins())


def test_halves_of_a_cut_lie_in_bodies_of_the_shapes_asked_for() -> None:
    rng = np.random.default_rng(1)
    whole = Piece(rng.uniform(-1.0, 1.0, (300, 3, 3)))
    normal = np.array([0.6, 0.8, 0.0])
    flush = guess_box(whole.triangles.reshape(-1, 3), normal)

    halves = whole.cut(Plane(normal, 0.1), [flush, whole.body])

    assert [half.body.shape for half in halves] == ["box", whole.body.shape]
    away = halves[0].body.T_mesh_body.inverse()
    seen = halves[0].triangles.reshape(-1, 3) @ away.rotation.T + away.translation
    assert (2.0 * np.abs(seen) <= np.array(halves[0].body.size) + 1e-9).all()
    assert all(whole in set(half.list_origins()) for half in halves)
