"""Bodies around points: nothing sticks out, and little more than nothing is added."""

from __future__ import annotations

import math

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paprle_lab.onboarding.bounding_shapes import Enclosure, enclose

TURNED = pin.rpy.rpyToMatrix(0.4, -0.7, 1.1)


def find_excess(points: np.ndarray, body: Enclosure) -> float:
    """Return how far the farthest point sticks out of a body, [m]."""
    T = body.T_mesh_body
    seen = (points - T.translation) @ T.rotation
    if body.shape == "box":
        return float((np.abs(seen) - 0.5 * np.array(body.size)).max())
    radius, length = body.size
    if body.shape == "cylinder":
        across = np.linalg.norm(seen[:, :2], axis=1) - radius
        return float(np.maximum(across, np.abs(seen[:, 2]) - 0.5 * length).max())
    along = np.clip(seen[:, 2], -0.5 * length, 0.5 * length)
    on_line = np.stack([np.zeros_like(along), np.zeros_like(along), along], axis=1)
    return float((np.linalg.norm(seen - on_line, axis=1) - radius).max())


def make_capsule(radius: float, length: float, n: int = 3000) -> np.ndarray:
    rng = np.random.default_rng(3)
    on_ball = rng.normal(size=(n, 3))
    on_ball *= radius / np.linalg.norm(on_ball, axis=1, keepdims=True)
    on_ball[:, 2] += np.copysign(0.5 * length, on_ball[:, 2])
    return on_ball


@pytest.mark.long
@given(st.integers(0, 10_000), st.integers(1, 60))
def test_no_point_sticks_out(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    stretch = 10.0 ** rng.uniform(-3.0, 0.0, 3)
    points = rng.normal(size=(n, 3)) * stretch @ TURNED.T + rng.normal(size=3)

    assert find_excess(points, enclose(points)) < 1e-9


@pytest.mark.parametrize(("radius", "length"), [(0.05, 0.3), (0.05, 0.01)])
def test_a_capsule_is_found_again(radius: float, length: float) -> None:
    body = enclose(make_capsule(radius, length) @ TURNED.T + [0.1, 0.2, 0.3])

    assert body.shape == "capsule"
    exact = math.pi * radius**2 * (length + 4 / 3 * radius)
    assert body.volume == pytest.approx(exact, rel=0.1)
    np.testing.assert_allclose(body.T_mesh_body.translation, [0.1, 0.2, 0.3], atol=3e-3)


def test_a_flat_plate_becomes_a_box() -> None:
    corners = np.array(np.meshgrid([-0.1, 0.1], [-0.15, 0.15], [-0.01, 0.01]))
    points = corners.reshape(3, -1).T @ TURNED.T

    body = enclose(points)

    assert body.shape == "box"
    np.testing.assert_allclose(sorted(body.size), [0.02, 0.2, 0.3], rtol=1e-6)


def test_points_in_a_plane_get_a_body_with_a_volume() -> None:
    body = enclose(np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0]]))

    assert min(body.size) >= 1e-3
