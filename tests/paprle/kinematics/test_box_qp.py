import numpy as np
import pytest
from scipy.optimize import lsq_linear

from paprle.kinematics.box_qp import solve_box


def draw(rng, n, damping):
    A, b = rng.normal(size=(6, n)), rng.normal(size=6)
    low = -rng.uniform(0.0, 0.5, n)
    return A, b, low, low + rng.uniform(0.0, 1.0, n), damping


def solve(A, b, low, high, damping):
    n, x = len(low), np.empty(len(low))
    solve_box(A.T @ A + damping * np.eye(n), A.T @ b, low, high, x)
    return x


@pytest.mark.parametrize("n", [1, 4, 6, 7, 9])
@pytest.mark.parametrize("damping", [1e-6, 1.0])
def test_the_least_in_a_box_is_found_as_by_another_solver(n, damping):
    rng = np.random.default_rng(n)
    for _ in range(20):
        A, b, low, high, _ = problem = draw(rng, n, damping)
        x = solve(*problem)

        stacked = np.vstack([A, np.sqrt(damping) * np.eye(n)])
        wanted = np.append(b, np.zeros(n))
        found = lsq_linear(stacked, wanted, (low, high + 1e-12), tol=1e-14)
        cost = 0.5 * np.sum((stacked @ x - wanted) ** 2)
        assert ((low <= x) & (x <= high)).all()
        assert cost <= found.cost + 1e-9


def test_a_box_without_room_is_its_only_point():
    A, b, low, *_ = draw(np.random.default_rng(0), 7, 1e-6)

    np.testing.assert_array_equal(solve(A, b, low, low, 1e-6), low)


def test_without_bounds_it_is_the_plain_solution():
    A, b, low, *_ = draw(np.random.default_rng(0), 6, 1e-6)
    far = np.full_like(low, np.inf)

    x = solve(A, b, -far, far, 1e-6)

    np.testing.assert_allclose(x, np.linalg.solve(A.T @ A + 1e-6 * np.eye(6), A.T @ b))
