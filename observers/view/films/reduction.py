"""A signal reduced to what a plot can show, without losing its peaks."""

from __future__ import annotations

import numpy as np

from paprle.contracts.types import Vec


def reduce(t: Vec, values: Vec, begin: float, end: float, n: int) -> tuple[Vec, Vec]:
    """Return at most about n points of a signal between two times.

    Each of n / 2 bins keeps its smallest and largest value, in order; one point on
    either side is kept, so that lines go on to the edge.

    Args:
        t: Increasing times, shape (m,), [s].
        values: Shape (m,); NaN: not measured.
        begin: First time, [s].
        end: Last time, [s].
        n: Number of points.
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
