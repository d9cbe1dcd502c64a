"""Quadratic program in a box, by active sets."""

from __future__ import annotations

import math

import numpy as np

from paprle.compiled import compiled
from paprle.contracts.types import Vec
from paprle.robot.arrays import Ints

_MOST = 3  # chosen: rounds by entry; one each is usual
_OUTSIDE = 1e-13  # [rad] chosen: what is beyond a bound by less is on it
_PUSH = 1e-13  # chosen: a bound that pushes back by less is let go of by rounding alone
_LEAST_PIVOT = 1e-18  # chosen: below any damping that is added to H


@compiled
def solve_box(H: Vec, g: Vec, low: Vec, high: Vec, x: Vec) -> None:
    """Write the x, (n,), in a box that minimises ½ xᵀ H x − gᵀ x, with H > 0."""
    n = len(g)
    held, L = np.zeros(n, dtype=np.int64), np.empty((n, n))
    for _ in range(_MOST * n):
        _solve_free(H, g, held, L, x)
        if not _hold_worst(low, high, held, x) and not _free_worst(H, g, held, x):
            break
    for i in range(n):
        x[i] = min(max(x[i], low[i]), high[i])


@compiled
def _solve_free(H: Vec, g: Vec, held: Ints, L: Vec, x: Vec) -> None:
    _factor_free(H, held, L)
    n = len(g)
    for i in range(n):
        if held[i] == 0:
            x[i] = g[i]
            for j in range(n):
                if held[j] != 0:
                    x[i] -= H[i, j] * x[j]
                elif j < i:
                    x[i] -= L[i, j] * x[j]
            x[i] /= L[i, i]
    for i in range(n - 1, -1, -1):
        if held[i] == 0:
            for j in range(i + 1, n):
                if held[j] == 0:
                    x[i] -= L[j, i] * x[j]
            x[i] /= L[i, i]


@compiled
def _factor_free(H: Vec, held: Ints, L: Vec) -> None:
    for i in range(len(H)):
        for j in range(i + 1):
            if held[i] == 0 and held[j] == 0:
                rest = H[i, j]
                for c in range(j):
                    if held[c] == 0:
                        rest -= L[i, c] * L[j, c]
                if i == j:
                    L[i, i] = math.sqrt(max(rest, _LEAST_PIVOT))
                else:
                    L[i, j] = rest / L[j, j]


@compiled
def _hold_worst(low: Vec, high: Vec, held: Ints, x: Vec) -> bool:
    worst, excess, side = -1, _OUTSIDE, 0
    for i in range(len(x)):
        if held[i] == 0 and low[i] - x[i] > excess:
            worst, excess, side = i, low[i] - x[i], -1
        if held[i] == 0 and x[i] - high[i] > excess:
            worst, excess, side = i, x[i] - high[i], 1
    if worst >= 0:
        held[worst] = side
        x[worst] = low[worst] if side < 0 else high[worst]
    return worst >= 0


@compiled
def _free_worst(H: Vec, g: Vec, held: Ints, x: Vec) -> bool:
    worst, most = -1, _PUSH
    for i in range(len(x)):
        if held[i] != 0:
            slope = -g[i]
            for j in range(len(x)):
                slope += H[i, j] * x[j]
            if slope * held[i] > most:
                worst, most = i, slope * held[i]
    if worst >= 0:
        held[worst] = 0
    return worst >= 0
