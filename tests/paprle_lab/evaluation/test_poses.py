from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from paprle_lab.evaluation.poses import (
    Trajectory,
    clean,
    interpolate,
    invert,
    measure_angles,
    multiply,
    rotate,
    slerp,
)

RNG = np.random.default_rng(7)
IDENTITY = [0.0, 0.0, 0.0, 1.0]


def random_rotations(n: int) -> Rotation:
    return Rotation.from_quat(RNG.normal(size=(n, 4)))


def rows_at(*x: float) -> np.ndarray:
    return np.array([[value, 0.0, 0.0, *IDENTITY] for value in x])


def test_products_and_inverses_are_those_of_scipy():
    a, b = random_rotations(50), random_rotations(50)

    ours = multiply(invert(a.as_quat()), b.as_quat())

    assert (Rotation.from_quat(ours) * (a.inv() * b).inv()).magnitude().max() < 1e-12


def test_rotated_vectors_are_those_of_scipy():
    a, p = random_rotations(50), RNG.normal(size=(50, 3))

    assert rotate(a.as_quat(), p) == pytest.approx(a.apply(p), abs=1e-12)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_slerp_takes_the_short_way_whatever_the_sign(sign):
    a, b = random_rotations(20), random_rotations(20)

    ours = slerp(a.as_quat(), sign * b.as_quat(), np.full(20, 0.3))

    for k in range(20):
        truth = Slerp([0, 1], Rotation.concatenate([a[k], b[k]]))(0.3)
        assert (Rotation.from_quat(ours[k]) * truth.inv()).magnitude() < 1e-9


def test_slerp_between_equal_rotations_is_that_rotation():
    a = random_rotations(5).as_quat()

    assert slerp(a, a, np.linspace(0, 1, 5)) == pytest.approx(a, abs=1e-15)


def test_angles_are_right_near_zero_and_near_pi():
    angles = np.array([0.0, 1e-9, 1e-4, 1.0, np.pi - 1e-6])
    turned = Rotation.from_rotvec(angles[:, None] * [0.0, 0.6, 0.8])
    start = random_rotations(5)

    found = measure_angles(start.as_quat(), -(start * turned).as_quat())

    assert found == pytest.approx(angles, abs=1e-12)


def test_positions_are_interpolated_to_other_times():
    path = Trajectory(
        np.array([0.0, 1.0, 3.0]), rows_at(0, 1, 5)[:, :3], rows_at(0, 0, 0)[:, 3:]
    )

    found = interpolate(path, np.array([0.0, 0.5, 2.0, 3.0, 9.0]))

    assert found.p[:, 0] == pytest.approx([0.0, 0.5, 3.0, 5.0, 5.0])


def test_one_pose_holds_for_ever():
    path = Trajectory(np.zeros(1), rows_at(2)[:, :3], rows_at(0)[:, 3:])

    assert interpolate(path, np.array([-1.0, 1.0])).p[:, 0] == pytest.approx([2, 2])


def test_cleaning_counts_what_it_leaves_out():
    rows = rows_at(0, 1, 2, 3, 4, 5)
    rows[1, 2] = np.nan
    rows[2, 3:] = 0.0
    stamps = [10, 20, 30, 40, 40, 35]

    path, dropped = clean(stamps, rows, origin_ns=10)

    assert path.p[:, 0] == pytest.approx([0, 3])
    assert path.t == pytest.approx([0.0, 30e-9])
    assert (dropped.nan, dropped.quaternion) == (1, 1)
    assert (dropped.duplicate, dropped.disorder) == (1, 1)
    assert dropped.total == 4


def test_almost_unit_quaternions_are_normalised():
    rows = rows_at(0)
    rows[0, 3:] *= 1.05

    path, dropped = clean([0], rows)

    assert np.linalg.norm(path.quat_xyzw) == pytest.approx(1.0, abs=1e-15)
    assert dropped.total == 0


def test_nothing_stays_nothing():
    path, dropped = clean([], np.zeros((0, 7)))

    assert len(path) == 0
    assert dropped.total == 0
