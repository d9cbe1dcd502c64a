"""Columns of D from covariances: by variance, and steady in time (X13)."""

import numpy as np
import pytest

from paprle.advisors.learned.columns import Columns

RNG = np.random.default_rng(13)


def turn():
    return np.linalg.qr(RNG.normal(size=(7, 7)))[0]


def make(variances, axes=None):
    axes = turn() if axes is None else axes
    return axes @ np.diag(variances) @ axes.T


def shake(covariance, size):
    noise = size * RNG.normal(size=(7, 7))
    return covariance + noise @ noise.T


def test_columns_are_orthonormal_and_fall_with_their_variance():
    for _ in range(200):
        variances = np.sort(RNG.uniform(0.1, 1.0, 7))[::-1] ** 4
        axes = turn()

        D, along = Columns(0.0).step(make(variances, axes))

        np.testing.assert_allclose(D.T @ D, np.eye(7), atol=1e-9)
        np.testing.assert_allclose(along, variances, atol=1e-9)
        assert abs(D[:, 0] @ axes[:, 0]) == pytest.approx(1.0, abs=1e-6)


def test_a_steady_motion_keeps_its_columns_whatever_sign_the_solver_gives():
    covariance, columns = make([1, 0.5, 0.25, 0.12, 0.06, 0.03, 0.01]), Columns(0.2)
    first, _ = columns.step(covariance)

    for _ in range(300):
        D, _ = columns.step(shake(covariance, 1e-4))
        assert np.linalg.norm(D - first) < 0.02


def test_equal_variances_do_not_flicker():
    covariance, columns = make([1, 1, 1, 0.3, 0.3, 0.0, 0.0]), Columns(0.2)
    last, _ = columns.step(covariance)

    for _ in range(300):
        D, _ = columns.step(shake(covariance, 1e-2))
        assert np.linalg.norm(D - last, axis=0).max() < 0.05
        np.testing.assert_allclose(D.T @ D, np.eye(7), atol=1e-9)
        last = D


def test_two_variances_that_cross_in_noise_change_places_once():
    axes, columns, n = turn(), Columns(0.2), 0
    last, _ = columns.step(make([1.5, 1, 0.1, 0.1, 0.1, 0.1, 0.1], axes))
    for share in np.linspace(0.0, 1.0, 400):
        two = 1.5 - share, 1.0 + share
        D, _ = columns.step(shake(make([*two, *[0.1] * 5], axes), 5e-3))
        n += abs(D[:, 0] @ last[:, 0]) < 0.7
        last = D

    assert n == 1
    assert abs(last[:, 0] @ axes[:, 1]) > 0.95


def test_a_mean_says_which_way_a_column_points_and_little_of_it_does_not():
    axes, columns = np.eye(7), Columns(0.2)
    covariance = make([1, 0.5, 0.25, 0.1, 0.1, 0.1, 0.1], axes)
    for sign in (1.0, -1.0):
        D, _ = columns.step(covariance, sign * axes[:, 0])
        assert D[0, 0] == pytest.approx(sign)
        kept, _ = columns.step(covariance, -sign * 0.05 * axes[:, 0])
        assert kept[0, 0] == pytest.approx(sign)


@pytest.mark.parametrize(
    ("covariance", "words"),
    [
        (np.full((7, 7), np.nan), "49 of them no number"),
        (np.eye(6), "shape"),
        (np.zeros((7, 7)), "variances from 0 up"),
        (-np.eye(7), "variances from 0 up"),
        (np.triu(np.ones((7, 7))), "symmetric"),
    ],
)
def test_an_invalid_covariance_is_refused_and_forgotten(covariance, words):
    columns = Columns(0.2)
    before, _ = columns.step(np.diag(np.arange(7.0, 0.0, -1.0)))

    with pytest.raises(ValueError, match=words):
        columns.step(covariance)

    after, _ = columns.step(np.diag(np.arange(7.0, 0.0, -1.0)))
    np.testing.assert_array_equal(after, before)
