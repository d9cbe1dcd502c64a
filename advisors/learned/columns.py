"""From a covariance of motions to the columns of D (AdaptiX 3.2, X13).

The columns are the covariance's eigenvectors, those of the largest variance first. An
eigenvector has no sign, and those of equal variances have no direction: left alone,
they flicker. Here they go on as they were as far as the covariance allows: variances
that are alike span a space, in which the columns are those nearest to the last ones
(orthogonal Procrustes). An order is changed only once variances differ by more than
the band, so that two that cross change places once. Where the provider says a mean
motion, a column points along it.
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
    """Remembers the columns, so that the next ones go on from them."""

    def __init__(self, alike: float) -> None:
        """Make it.

        Args:
            alike: Variances that differ by less than this share are alike.
        """
        self._alike = alike
        self._last: Vec | None = None

    def step(self, covariance: Vec, mean: Vec | None = None) -> tuple[Vec, Vec]:
        """Return the columns of a covariance, and their variances.

        Args:
            covariance: Of motions in shares of each freedom's speed, shape (7, 7).
            mean: Of these motions, shape (7,); None: the columns keep their signs.

        Returns:
            Orthonormal columns, shape (7, 7), and their variances, shape (7,), both
            in falling order, but for variances that are alike.

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
        """Return the columns of each space that are nearest to those before."""
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
    """Return variances in falling order, axes as columns; raise if no covariance."""
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
    """Return columns with signs: along the mean, else as they are."""
    signs = np.ones(N_FREEDOMS)
    if is_first:
        signs = np.sign(D[np.abs(D).argmax(axis=0), np.arange(N_FREEDOMS)])
    if mean is not None:
        said = mean @ D
        signs = np.where(np.abs(said) > _SAID, np.sign(said), signs)
    return D * signs


def _has_gap(values: Vec) -> bool:
    return not np.isfinite(values).all()
