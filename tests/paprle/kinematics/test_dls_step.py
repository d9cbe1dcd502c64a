import math

import numpy as np
import pinocchio as pin
import pytest
from arms import (
    ALL,
    FULL,
    draw_q,
    load_limb,
    load_robot,
    seeds,
    some,
)
from hypothesis import example, given
from hypothesis import strategies as st

from paprle.contracts.settings.core import IkSettings
from paprle.kinematics.linear import find_eigen, invert, invert_damped

IK = IkSettings()


@pytest.mark.parametrize("name", ALL)
def test_body_jacobian_equals_finite_differences(name):
    rng = np.random.default_rng(1)
    for limb in load_robot(name).limbs.values():
        q, h = draw_q(limb, rng), 1e-6

        J = limb.jacobian(q)

        for j, unit in enumerate(np.eye(len(q))):
            T_minus, T_plus = limb.fk(q - h * unit), limb.fk(q + h * unit)
            column = pin.log6(T_minus.actInv(T_plus)).vector / (2 * h)
            np.testing.assert_allclose(J[:, j], column, atol=1e-8)


def solve(A, b, n_free=99, ik=IK):
    """Return the damped step, how damped it is, and λ²."""
    G = np.empty((len(b), len(b)))
    rank, size = min(len(b), n_free), float(np.linalg.norm(b))
    weakness, lambda2 = invert_damped(A @ A.T, rank, size, ik.damping, ik.sigma_min, G)
    return A.T @ G @ b, weakness, lambda2


def weigh(limb, q, W=1.0):
    r = IK.rotation_weight
    return np.array([1, 1, 1, r, r, r])[:, None] * limb.jacobian(q) * np.sqrt(W)


@given(seed=seeds, k=st.integers(3, 9), weak=st.floats(0.0, 1.0))
@example(seed=2, k=4, weak=5.960464477539063e-08)
@some
def test_step_equals_the_damped_least_squares_solution(seed, k, weak):
    rng = np.random.default_rng(seed)
    U, s, Vt = np.linalg.svd(rng.normal(size=(6, k)), full_matrices=False)
    s = s / s[0]
    s[-1] = min(s[-1], 0.1) * weak  # from far above ε to a singularity
    A, b = (U * s) @ Vt, rng.normal(size=6)

    y, weakness, lambda2 = solve(A, b, k)

    lam = math.sqrt(lambda2)
    assert weakness == pytest.approx(max(0.0, 1 - s[-1] / IK.sigma_min), abs=1e-6)
    assert lam == pytest.approx(
        IK.damping * weakness * math.sqrt(np.linalg.norm(b) / 0.025)
    )
    stacked = np.vstack([A, lam * np.eye(k)])
    expected = np.linalg.lstsq(stacked, np.append(b, np.zeros(k)), rcond=None)[0]
    np.testing.assert_allclose(y, expected, atol=1e-10)
    if lam > 0:
        assert np.linalg.norm(y) <= np.linalg.norm(b) / (2 * lam) * (1 + 1e-9)


@given(seed=seeds, name=st.sampled_from(FULL))
@some
def test_step_equals_its_formula_with_weights(seed, name):
    rng = np.random.default_rng(seed)
    limb = load_limb(name, seed)
    q, e = draw_q(limb, rng), rng.normal(size=6)
    mobility = rng.uniform(0.2, 1, len(q))
    J, W, r = limb.jacobian(q), np.diag(mobility), IK.rotation_weight
    Q = np.diag([1, 1, 1, r**2, r**2, r**2])

    y, weakness, _ = solve(weigh(limb, q, mobility), np.sqrt(Q) @ e)

    lambda2 = (IK.damping * weakness) ** 2 * math.sqrt(e @ Q @ e) / 0.025
    M = J @ W @ J.T + lambda2 * np.linalg.inv(Q)
    expected = W @ J.T @ np.linalg.solve(M, e)
    np.testing.assert_allclose(np.sqrt(mobility) * y, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("way", [np.ones(6), np.eye(6)[5]], ids=["all", "weak"])
def test_damping_is_continuous_where_it_sets_in(way):
    sizes = IK.sigma_min * np.array([1 - 1e-9, 1 + 1e-9])

    inside, outside = (solve(np.diag([1.0, 1, 1, 1, 1, s]), way)[0] for s in sizes)

    np.testing.assert_allclose(inside, outside, rtol=1e-6)


@given(seed=seeds, k=st.integers(1, 6), n_zero=st.integers(0, 6))
@some
def test_eigenvalues_are_numpys(seed, k, n_zero):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(k, max(k - n_zero, 1)))
    s2, V = np.empty(k), np.empty((k, k))

    find_eigen(A @ A.T, s2, V)

    np.testing.assert_allclose(s2, np.linalg.eigvalsh(A @ A.T), atol=1e-13)
    np.testing.assert_allclose(V @ np.diag(s2) @ V.T, A @ A.T, atol=1e-13)
    np.testing.assert_allclose(V @ V.T, np.eye(k), atol=1e-14)


@given(seed=seeds, k=st.integers(1, 6), shift=st.floats(0.0, 10.0))
@some
def test_inverse_is_numpys_and_refused_where_there_is_none(seed, k, shift):
    A = np.random.default_rng(seed).normal(size=(k, k + 2))
    M, G = A @ A.T, np.empty((k, k))
    flat = A.copy()
    flat[-1] = 0.0

    assert invert(M, shift, G)
    assert not invert(flat @ flat.T, 0.0, np.empty((k, k)))

    np.testing.assert_allclose(G @ (M + shift * np.eye(k)), np.eye(k), atol=1e-7)


@pytest.mark.parametrize("nan", [np.nan, np.inf])
def test_a_solve_ends_where_an_input_is_nan(nan):
    invert_damped(np.full((6, 6), nan), 6, nan, 0.05, 0.04, np.empty((6, 6)))


@given(seed=seeds)
@some
def test_a_less_mobile_joint_moves_less(seed):
    rng = np.random.default_rng(seed)
    limb = load_limb("papras_7dof")
    q, e = draw_q(limb, rng), rng.normal(size=6) * 1e-3
    moves = []

    for weight in (1.0, 0.5, 0.25, 0.1, 0.01):
        W = np.array([weight, 1, 1, 1, 1, 1, 1])
        b = np.array([1, 1, 1, 0.2, 0.2, 0.2]) * e
        y, _, _ = solve(weigh(limb, q, W), b, ik=IkSettings(sigma_min=1e-9))
        moves.append(abs(math.sqrt(weight) * y[0]))

    assert np.all(np.diff(moves) <= 1e-12)
