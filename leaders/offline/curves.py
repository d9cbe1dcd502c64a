"""Rows as curves, separate at gaps."""

from __future__ import annotations

import math
from bisect import bisect_right
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from paprle.contracts.kit.splines import (
    interpolate,
    interpolate_monotonically,
    make_smoother,
)
from paprle.contracts.types import Vec

_FEWEST = 5  # chosen: rows that are smoothed
_HALF_OF_EACH = math.sqrt(2.0) - 1.0  # 1 / (1 + this)² is a half


class Curve:
    """A curve through rows; holds at both ends and over gaps."""

    def __init__(self, t: Vec, values: Vec, breaks: npt.NDArray[np.bool_]) -> None:
        """Fit the curve through t, (n,), rising, [s], and values, (n, k).

        ``breaks`` are behind rows, (n−1,).
        """
        cuts = [0, *(np.flatnonzero(breaks) + 1).tolist(), len(t)]
        spans = list(pairwise(cuts))
        self._begins: list[float] = [float(t[a]) for a, _ in spans]
        self._ends: list[float] = [float(t[b - 1]) for _, b in spans]
        self._parts = [
            self._fit(t[a:b], values[a:b]) if b - a > 1 else values[a] for a, b in spans
        ]

    def at(self, t: float) -> Vec:
        """Return the row at source time ``t``, (k,)."""
        i = max(0, bisect_right(self._begins, t) - 1)
        part, begin, end = self._parts[i], self._begins[i], self._ends[i]
        if begin == end:
            return np.array(part)
        return np.array(part(min(max(t, begin), end)))

    def _fit(self, t: Vec, values: Vec) -> Any:
        return interpolate(t, values)


class BoundedCurve(Curve):
    """A C¹ curve within the range of its rows."""

    def _fit(self, t: Vec, values: Vec) -> Any:
        return interpolate_monotonically(t, values)


class SmoothCurve(Curve):
    """A low-pass curve without lag."""

    def __init__(
        self, t: Vec, values: Vec, breaks: npt.NDArray[np.bool_], cutoff: float
    ) -> None:
        """Fit the curve with half gain at ``cutoff``, [Hz]."""
        self._omega = math.tau * cutoff
        super().__init__(t, values, breaks)

    def _fit(self, t: Vec, values: Vec) -> Any:
        if len(t) < _FEWEST:
            return super()._fit(t, values)
        # With this penalty of bends 1 / (1 + (f / cutoff)⁴) of a frequency is left: an
        # acceleration falls by its square alone. Half of each of two is the sharper.
        density = (len(t) - 1) / (t[-1] - t[0])
        lam = density * _HALF_OF_EACH / self._omega**4
        smooth = make_smoother(t, lam)
        return smooth(smooth(values)(t))
