"""Inverses of small symmetric matrices, damped near singularities.

G = (A Aᵀ + λ²)⁻¹ with λ² = λ₀² (1 − σ/ε)² · ‖b‖ / 25 mm if σ, A's smallest singular
value, is below ε, else 0.
"""

from __future__ import annotations

import math

import numpy as np

from paprle.compiled import compiled
from paprle.contracts.types import Vec

_COARSE_ERROR = 0.025  # [m] measured: of 1 … 100 mm the best in converging, recovering
_TINY = 1e-24  # [1] chosen: below the rounding of any squared singular value
_ROUNDING = 1e-14  # [1] chosen: of the trace; a smaller pivot has no digit left
_BLURRED = 1e-10  # [1] chosen: of the largest; directions of smaller ones are mixed
_N_SWEEPS = 20  # chosen: 6 × 6 takes 5; the bound is against NaN
_NEGLIGIBLE = 1e-36  # [1] chosen: of the squared trace; leaves no digit wrong


@compiled
def invert_damped(
    M: Vec, rank: int, size: float, damping: float, sigma_min: float, G: Vec
) -> tuple[float, float]:
    """Return 1 − σ/ε, 0 … 1, and λ² of the damped inverse of M = A Aᵀ in G, (k, k).

    ``rank`` is the largest possible, ``size`` ‖b‖ (0: no damping), ``damping`` λ₀,
    ``sigma_min`` ε.
    """
    k = len(M)
    if rank == k and invert(M, 0.0, G):
        trace = 0.0
        for i in range(k):
            trace += G[i, i]
        if trace * sigma_min * sigma_min < 1.0:
            return 0.0, 0.0
    s2, V = np.empty(k), np.empty((k, k))
    find_eigen(M, s2, V)
    sigma = math.sqrt(s2[k - rank])
    weakness = max(0.0, 1.0 - sigma / sigma_min)
    lambda2 = size / _COARSE_ERROR * (damping * weakness) ** 2
    # Aᵀ takes out what is beyond the rank; of what can be told from it, so can we
    first = k - rank if s2[k - rank] > _BLURRED * s2[k - 1] else 0
    for i in range(k):
        for j in range(k):
            G[i, j] = 0.0
            for c in range(first, k):
                G[i, j] += V[i, c] * V[j, c] / (s2[c] + lambda2)
    return weakness, lambda2


@compiled
def invert(M: Vec, shift: float, G: Vec) -> bool:
    """Invert M + shift · I by Cholesky; False if not positive definite."""
    k = len(M)
    L = np.empty((k, k))
    if not _factor(M, shift, L):
        return False
    for j in range(k):  # L becomes its own inverse
        for i in range(j + 1, k):
            rest = 0.0
            for c in range(j, i):
                rest -= L[i, c] * L[c, j]
            L[i, j] = rest * L[i, i]
    for i in range(k):
        for j in range(i + 1):
            rest = 0.0
            for c in range(i, k):
                rest += L[c, i] * L[c, j]
            G[i, j] = G[j, i] = rest
    return True


@compiled
def _factor(M: Vec, shift: float, L: Vec) -> bool:
    least = 0.0
    for i in range(len(M)):
        least += _ROUNDING * M[i, i]
    for i in range(len(M)):
        for j in range(i + 1):
            rest = M[i, j]
            for c in range(j):
                rest -= L[i, c] * L[j, c]
            if i != j:
                L[i, j] = rest * L[j, j]
            elif rest + shift > least:
                L[i, i] = 1.0 / math.sqrt(rest + shift)
            else:
                return False
    return True


@compiled
def find_eigen(M: Vec, s2: Vec, V: Vec) -> None:
    """Write ascending eigenvalues and eigenvectors in columns (cyclic Jacobi)."""
    k = len(M)
    S = M.copy()
    for i in range(k):
        for j in range(k):
            V[i, j] = 1.0 if i == j else 0.0
    for _ in range(_N_SWEEPS):
        outside, trace = 0.0, 0.0
        for i in range(k):
            trace += S[i, i]
            for j in range(i):
                outside += S[i, j] * S[i, j]
        if not outside > _NEGLIGIBLE * trace * trace:
            break
        for i in range(k - 1):
            for j in range(i + 1, k):
                _rotate(S, V, i, j)
    for i in range(k):
        s2[i] = max(S[i, i], _TINY)
    _sort(s2, V)


@compiled
def _rotate(S: Vec, V: Vec, i: int, j: int) -> None:
    if abs(S[i, j]) < _TINY * _ROUNDING:  # nothing, even beside the least eigenvalue
        return
    ratio = (S[j, j] - S[i, i]) / (2.0 * S[i, j])
    sign = 1.0 if ratio >= 0.0 else -1.0
    t = sign / (abs(ratio) + math.hypot(ratio, 1.0))
    c = 1.0 / math.hypot(t, 1.0)
    s = t * c
    for a in range(len(S)):
        u, v = S[a, i], S[a, j]
        S[a, i], S[a, j] = c * u - s * v, s * u + c * v
    for a in range(len(S)):
        u, v = S[i, a], S[j, a]
        S[i, a], S[j, a] = c * u - s * v, s * u + c * v
        u, v = V[a, i], V[a, j]
        V[a, i], V[a, j] = c * u - s * v, s * u + c * v


@compiled
def _sort(s2: Vec, V: Vec) -> None:
    for i in range(len(s2)):
        least = i
        for j in range(i + 1, len(s2)):
            if s2[j] < s2[least]:
                least = j
        s2[i], s2[least] = s2[least], s2[i]
        for a in range(len(s2)):
            V[a, i], V[a, least] = V[a, least], V[a, i]
