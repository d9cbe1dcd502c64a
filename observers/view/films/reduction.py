"""Reduction of signals that keeps peaks."""

from __future__ import annotations

import numpy as np

from paprle.contracts.types import Vec


def reduce(t: Vec, values: Vec, begin: float, end: float, n: int) -> tuple[Vec, Vec]:
    """Return at most about n points of a signal between two times [s].

    Each of n / 2 bins keeps its least and greatest value, in order, with one point on
    either side so that lines reach the edge. ``values`` (m,) may be NaN.
    """
    first = max(int(np.searchsorted(t, begin)) - 1, 0)
    last = min(int(np.searchsorted(t, end, side="right")) + 1, len(t))
    t, values = t[first:last], values[first:last]
    if len(t) <= n:
        return t, values
    size = -(-2 * len(t) // n)
    rows = np.pad(values, (0, -len(t) % size), constant_values=np.nan)
    rows = rows.reshape(-1, size)
    is_known = np.isfinite(rows)
    low = np.where(is_known, rows, np.inf).argmin(axis=1)
    high = np.where(is_known, rows, -np.inf).argmax(axis=1)
    at = np.column_stack([low, high]) + size * np.arange(len(rows))[:, None]
    chosen = np.unique(np.clip([0, *at.ravel(), len(t) - 1], 0, len(t) - 1))
    return t[chosen], values[chosen]
