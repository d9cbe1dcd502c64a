"""Levenberg–Marquardt on a manifold, with covariance."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from paprle.contracts.types import Vec

_ITERATIONS = 60  # chosen: from a first guess by OpenCV, ten are enough
_DAMPING, _SMALLEST, _LARGEST = 1e-3, 1e-12, 1e12  # chosen: Marquardt's usual ones
_CONVERGED = 1e-10  # chosen: a relative decrease far below any noise


class SearchState(Protocol):
    """State moved by increments."""


S = TypeVar("S", bound=SearchState)


class Model(NamedTuple):
    """A least-squares problem.

    Attributes:
        residuals: Returns weighted residuals, shape (m,).
        jacobian: Returns their slopes, shape (m, n).
        move: Returns the state after an increment, shape (n,).
    """

    residuals: Callable[..., Vec]
    jacobian: Callable[..., Vec]
    move: Callable[..., object]


def minimise(state: S, model: Model) -> S:
    """Return the least-squares state near ``state``."""
    damping, r = _DAMPING, model.residuals(state)
    cost = float(r @ r)
    for _ in range(_ITERATIONS):
        J = model.jacobian(state)
        H, g = J.T @ J, J.T @ r
        while damping < _LARGEST:
            step = -np.linalg.solve(H + damping * np.diag(np.diag(H) + _SMALLEST), g)
            tried = model.move(state, step)
            r_tried = model.residuals(tried)
            new = float(r_tried @ r_tried)
            if np.isfinite(new) and new < cost:
                break
            damping *= 10.0
        else:
            return state
        is_done = cost - new < _CONVERGED * cost
        state, r, cost = tried, r_tried, new  # type: ignore[assignment]
        damping = max(damping / 10.0, _SMALLEST)
        if is_done:
            return state
    return state


def find_covariance(state: SearchState, model: Model) -> Vec:
    """Return the covariance of increments, shape (n, n).

    It is scaled up if the residuals exceed their weights.
    """
    r, J = model.residuals(state), model.jacobian(state)
    n_free = max(len(r) - J.shape[1], 1)
    scale = max(1.0, float(r @ r) / n_free)
    covariance: Vec = scale * np.linalg.pinv(J.T @ J)
    return covariance
