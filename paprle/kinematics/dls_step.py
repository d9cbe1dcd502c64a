"""One step towards a target: weighted damped least squares, limits inside.

    Δq = W Jᵀ (J W Jᵀ + λ² Q⁻¹)⁻¹ e,   Q = diag(I, r² I)

``design.md`` 6.2; PAPRLE's Eq. 6 as printed has no effect, ``requirements.md`` 5.4.
"""

from __future__ import annotations

import math

import numpy as np

from paprle.compiled import compiled
from paprle.contracts.types import Vec
from paprle.kinematics.linear import invert_damped
from paprle.kinematics.posture import find_posture_bias
from paprle.kinematics.task import (
    FREE,
    MOBILITY,
    Q_MAX,
    Q_MIN,
    STEP,
    WAY,
    Q,
    Terms,
    Y,
)

_POSTURE_GAIN = 0.05  # [1] chosen: share of the way in one solve
_POSTURE_SHARE = 0.2  # [1] chosen: of the main motion, so that it rests when that does
_TINY = 1e-24  # [rad] chosen: no way at all, as a positive number


@compiled
def find_step(  # noqa: PLR0913, PLR0917 - kernels take numbers one by one
    terms: Terms,
    A: Vec,
    b: Vec,
    joints: Vec,
    radius: float,
    most_aside: float,
    is_first: bool,
) -> float:
    """Return the second task's part, [rad], of a step within limits and radius.

    ``A``, (k, n), and ``b``, (k,), weighted, are used up. ``radius`` bounds each
    change, ``most_aside`` that part, [rad]; ``is_first`` adds the posture bias.
    """
    n_free = joints.shape[1]
    for j in range(joints.shape[1]):
        mobility = joints[MOBILITY, j]
        joints[FREE, j] = 1.0 if mobility > 0.0 else 0.0
        joints[STEP, j] = 0.0
        n_free -= 0 if mobility > 0.0 else 1
    for j in range(joints.shape[1]):
        bias = find_posture_bias(joints, j, joints[Q, j], n_free > len(b))
        joints[WAY, j] = joints[MOBILITY, j] * bias
    aside = _solve_free(terms, A, b, joints, n_free, most_aside, is_first)
    largest = 0.0
    for j in range(joints.shape[1]):
        largest = max(largest, abs(joints[STEP, j]))
    if largest > radius:
        for j in range(joints.shape[1]):
            joints[STEP, j] *= radius / largest
        for i in range(len(b)):
            b[i] *= radius / largest
    for rest in range(n_free - 1, -1, -1):
        if not _fix_worst(A, b, joints):
            break
        aside = _solve_free(terms, A, b, joints, rest, most_aside, is_first)
    return aside


@compiled
def _fix_worst(A: Vec, b: Vec, joints: Vec) -> bool:
    worst, excess, way = -1, 0.0, 0.0
    for j in range(joints.shape[1]):
        lower = min(joints[Q_MIN, j] - joints[Q, j], 0.0)
        upper = max(joints[Q_MAX, j] - joints[Q, j], 0.0)
        allowed = min(max(joints[STEP, j], lower), upper)
        if abs(joints[STEP, j] - allowed) > excess:
            worst, excess, way = j, abs(joints[STEP, j] - allowed), allowed
    if worst < 0:
        return False
    for i in range(len(b)):
        b[i] -= A[i, worst] * way / joints[MOBILITY, worst]
        A[i, worst] = 0.0
    joints[STEP, worst] = way
    joints[FREE, worst] = joints[WAY, worst] = 0.0
    return True


@compiled
def _solve_free(  # noqa: PLR0913, PLR0917 - kernels take numbers one by one
    terms: Terms,
    A: Vec,
    b: Vec,
    joints: Vec,
    n_free: int,
    most_aside: float,
    is_first: bool,
) -> float:
    k, aside, y = terms.n_first, 0.0, joints[Y]
    for j in range(len(y)):
        y[j] = 0.0
    if n_free > 0:
        G = np.empty((k, k))
        weakness = _solve(terms, A[:k], b[:k], min(k, n_free), G, y)
        if n_free > k and len(b) > k:
            aside = _add_second_task(terms, A, b, G, joints, weakness, most_aside)
        elif is_first and (n_free > k or weakness > 0.0):
            _add_posture(A[:k], G, joints[WAY], y)
    for j in range(len(y)):
        if joints[FREE, j] > 0.0:
            joints[STEP, j] = joints[MOBILITY, j] * y[j]
    return aside


@compiled
def _solve(terms: Terms, A: Vec, b: Vec, rank: int, G: Vec, y: Vec) -> float:
    """Write y = Aᵀ G b and G; return the nearness of a singularity, 0 to 1."""
    size = 0.0
    for i in range(len(b)):
        size += b[i] * b[i]
    M = np.empty((len(b), len(b)))
    square(A, M)
    size = math.sqrt(size)
    weakness, _ = invert_damped(M, rank, size, terms.damping, terms.sigma_min, G)
    pull_back(A, G, b, y)
    return weakness


@compiled
def square(A: Vec, M: Vec) -> None:
    """Write A Aᵀ."""
    for i in range(A.shape[0]):
        for j in range(i + 1):
            product = 0.0
            for c in range(A.shape[1]):
                product += A[i, c] * A[j, c]
            M[i, j] = M[j, i] = product


@compiled
def pull_back(A: Vec, G: Vec, b: Vec, y: Vec) -> None:
    """Add Aᵀ G b to y."""
    for i in range(len(b)):
        part = 0.0
        for c in range(len(b)):
            part += G[i, c] * b[c]
        for j in range(len(y)):
            y[j] += A[i, j] * part


@compiled
def _take_from(A: Vec, G: Vec, x: Vec) -> None:
    """Project x onto the null space: x −= Aᵀ G A x."""
    seen = np.zeros(len(G))
    for i in range(len(G)):
        for j in range(len(x)):
            seen[i] -= A[i, j] * x[j]
    pull_back(A, G, seen, x)


@compiled
def _add_second_task(  # noqa: PLR0913, PLR0917 - kernels take numbers one by one
    terms: Terms,
    A: Vec,
    b: Vec,
    G: Vec,
    joints: Vec,
    weakness: float,
    most_aside: float,
) -> float:
    # It fades out at singularities of the first task, where it would not stay in place.
    k, y, rank = terms.n_first, joints[Y], -terms.n_first
    b_rest, A_rest = b[k:].copy(), A[k:].copy()
    if weakness > 0.0:
        M = np.empty((k, k))
        square(A[:k], M)
        invert_damped(M, k, 0.0, terms.damping, terms.sigma_min, G)
    for i in range(len(b_rest)):
        for j in range(len(y)):
            b_rest[i] -= A_rest[i, j] * y[j]
        _take_from(A[:k], G, A_rest[i])
    for j in range(len(y)):
        rank += 1 if joints[FREE, j] > 0.0 else 0
    z, H = np.zeros(len(y)), np.empty((len(b_rest), len(b_rest)))
    _solve(terms, A_rest, b_rest, min(len(b_rest), rank), H, z)
    size = 0.0
    for j in range(len(y)):
        size += z[j] * z[j]
    size = math.sqrt(size)
    share = min(1.0 - weakness, most_aside / max(size, _TINY))
    for j in range(len(y)):
        y[j] += share * z[j]
    return share * size


@compiled
def _add_posture(A: Vec, G: Vec, way: Vec, y: Vec) -> None:
    z = way.copy()
    _take_from(A, G, z)
    size, main = 0.0, 0.0
    for j in range(len(z)):
        size += z[j] * z[j]
        main += y[j] * y[j]
    allowed = _POSTURE_SHARE * math.sqrt(main)
    gain = min(_POSTURE_GAIN, allowed / max(math.sqrt(size), _TINY))
    for j in range(len(z)):
        y[j] += gain * z[j]
