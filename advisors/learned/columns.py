"""Columns of D from a covariance of motions (AdaptiX 3.2, X13).

Eigenvectors of similar variances are the nearest to the last ones (orthogonal
Procrustes); the order has hysteresis. A mean motion sets signs.
"""

from __future__ import annotations

import numpy as np

from paprle.contracts.axes import N_FREEDOMS
from paprle.contracts.types import Vec

_NOISE = 0.02  # chosen: of the largest variance; what varies less is rounding
_SYMMETRIC = 1e-3  # chosen: of the largest entry; float32 of a network is far below
_NEGATIVE = 1e-3  # chosen: of the largest variance, likewise
_SAID = 0.1  # chosen: a column that the mean has less of may point either way


class Columns:
    """Columns that are continuous over time."""

    def __init__(self, alike: float) -> None:
        """Set ``alike``, the share of similar variances."""
        self._alike = alike
        self._last: Vec | None = None

    def step(self, covariance: Vec, mean: Vec | None = None) -> tuple[Vec, Vec]:
        """Return orthonormal columns (7, 7) and falling variances (7,).

        Args:
            covariance: Of motions in shares of each speed, (7, 7).
            mean: (7,); None keeps the signs.

        Raises:
            ValueError: If it is no covariance.
        """
        variances, vectors = _find_axes(covariance)
        if mean is not None and (mean.shape != (N_FREEDOMS,) or _has_gap(mean)):
            raise ValueError(f"expected a mean of 7 finite numbers, got {mean}")
        before = self._last
        D = vectors if before is None else self._go_on(variances, vectors, before)
        self._last = _point(D, mean, is_first=before is None)
        along = np.einsum("ij,ik,kj->j", self._last, covariance, self._last)
        return self._last.copy(), along

    def _go_on(self, variances: Vec, vectors: Vec, before: Vec) -> Vec:
        D, first = np.empty_like(vectors), 0
        band = self._alike * variances + _NOISE * variances[0]
        for k in range(N_FREEDOMS):
            is_last = k == N_FREEDOMS - 1
            if is_last or variances[k] - variances[k + 1] > band[k]:
                own = slice(first, k + 1)
                U, _, Wt = np.linalg.svd(vectors[:, own].T @ before[:, own])
                D[:, own] = vectors[:, own] @ U @ Wt
                first = k + 1
        return D


def _find_axes(covariance: Vec) -> tuple[Vec, Vec]:
    if covariance.shape != (N_FREEDOMS, N_FREEDOMS) or _has_gap(covariance):
        raise ValueError(
            f"expected a covariance of 7 × 7 finite numbers, got shape "
            f"{covariance.shape}, {np.isnan(covariance).sum()} of them no number"
        )
    largest = float(np.abs(covariance).max())
    if np.abs(covariance - covariance.T).max() > _SYMMETRIC * largest:
        raise ValueError("expected a symmetric covariance, got another matrix")
    variances, vectors = np.linalg.eigh((covariance + covariance.T) / 2.0)
    if variances[-1] <= 0.0 or variances[0] < -_NEGATIVE * variances[-1]:
        raise ValueError(
            f"expected variances from 0 up, got {variances[0]:g} … {variances[-1]:g}"
        )
    return variances[::-1], vectors[:, ::-1]


def _point(D: Vec, mean: Vec | None, *, is_first: bool) -> Vec:
    signs = np.ones(N_FREEDOMS)
    if is_first:
        signs = np.sign(D[np.abs(D).argmax(axis=0), np.arange(N_FREEDOMS)])
    if mean is not None:
        said = mean @ D
        signs = np.where(np.abs(said) > _SAID, np.sign(said), signs)
    return D * signs


def _has_gap(values: Vec) -> bool:
    return not np.isfinite(values).all()
