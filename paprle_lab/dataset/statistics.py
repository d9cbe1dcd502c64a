"""Statistics of a LeRobot column, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import Vec
from paprle.recording.video.codec import Image

QUANTILES = {"q01": 0.01, "q10": 0.10, "q50": 0.50, "q90": 0.90, "q99": 0.99}
_MOST_ROWS = 20_000  # chosen: for quantiles of ten minutes at 30 Hz exactly
_MOST_IMAGES = 64  # chosen: LeRobot samples 100 of an episode
_ACROSS = 160  # [px] chosen: LeRobot looks at about as many
_LEVELS = 256

Stats = dict[str, Any]
"""min, max, mean, std, count and quantiles as nested lists."""


class NumberStats:
    """Statistics of a numeric column."""

    def __init__(self) -> None:
        self._n = 0
        self._step = 1
        self._kept: list[Vec] = []
        self._n_seen = 0
        self._mean: Vec = np.zeros(0)
        self._squares: Vec = np.zeros(0)
        self._min: Vec = np.zeros(0)
        self._max: Vec = np.zeros(0)

    def add(self, rows: npt.NDArray[Any]) -> None:
        """Add rows, shape (N, n)."""
        values = np.asarray(rows, dtype=np.float64)
        n, mean = len(values), values.mean(axis=0)
        squares = ((values - mean) ** 2).sum(axis=0)
        low, high = values.min(axis=0), values.max(axis=0)
        if self._n == 0:
            self._n, self._mean, self._squares = n, mean, squares
            self._min, self._max = low, high
        else:  # Chan, Golub, LeVeque 1979: means and squares of two parts
            total, delta = self._n + n, mean - self._mean
            self._squares += squares + delta**2 * self._n * n / total
            self._mean = self._mean + delta * n / total
            self._n = total
            self._min, self._max = (
                np.minimum(self._min, low),
                np.maximum(self._max, high),
            )
        self._thin(values)

    def finish(self) -> Stats:
        """Return the statistics."""
        levels = list(QUANTILES.values())
        found = np.quantile(np.array(self._kept), levels, axis=0)
        std = np.sqrt(self._squares / self._n)
        return {
            "min": self._min.tolist(),
            "max": self._max.tolist(),
            "mean": self._mean.tolist(),
            "std": std.tolist(),
            "count": [self._n],
            **{name: row.tolist() for name, row in zip(QUANTILES, found, strict=True)},
        }

    def _thin(self, values: Vec) -> None:
        first = -self._n_seen % self._step
        self._kept += list(values[first :: self._step])
        self._n_seen += len(values)
        while len(self._kept) > _MOST_ROWS:
            self._kept = self._kept[::2]
            self._step *= 2


class ImageStats:
    """Statistics of sampled images and pixels."""

    def __init__(self) -> None:
        self._kept: list[npt.NDArray[np.int64]] = []
        self._step, self._n_seen = 1, 0

    def add(self, image: Image) -> None:
        """Add an image, RGB, shape (height, width, 3)."""
        if self._n_seen % self._step == 0:
            stride = max(1, min(image.shape[:2]) // _ACROSS)
            small = image[::stride, ::stride]
            levels = [
                np.bincount(small[..., c].ravel(), minlength=_LEVELS) for c in range(3)
            ]
            self._kept.append(np.array(levels))
        self._n_seen += 1
        if len(self._kept) > _MOST_IMAGES:
            self._kept = self._kept[::2]
            self._step *= 2

    def finish(self) -> Stats:
        """Return statistics by channel, values 0 … 1, shape (3, 1, 1)."""
        counts = np.sum(self._kept, axis=0)
        values = np.arange(_LEVELS) / (_LEVELS - 1)
        n = counts.sum(axis=1, keepdims=True)
        mean = (counts * values).sum(axis=1) / n[:, 0]
        variance = (counts * (values - mean[:, None]) ** 2).sum(axis=1) / n[:, 0]
        below = np.cumsum(counts, axis=1) / n
        is_there = counts > 0
        found = {
            "min": values[is_there.argmax(axis=1)],
            "max": values[_LEVELS - 1 - is_there[:, ::-1].argmax(axis=1)],
            "mean": mean,
            "std": np.sqrt(variance),
            **{
                name: values[(below >= level).argmax(axis=1)]
                for name, level in QUANTILES.items()
            },
        }
        stats: Stats = {
            name: row[:, None, None].tolist() for name, row in found.items()
        }
        return stats | {"count": [len(self._kept)]}


def merge(parts: Iterable[Mapping[str, Stats]]) -> dict[str, Stats]:
    """Return merged statistics by column.

    Quantiles are means weighted by counts, as in LeRobot; others are exact.
    """
    sums: dict[str, dict[str, npt.NDArray[Any]]] = {}
    for part in parts:
        for name, stats in part.items():
            values = {key: np.array(value) for key, value in stats.items()}
            sums[name] = _join(sums[name], values) if name in sums else values
    return {
        name: {key: value.tolist() for key, value in stats.items()}
        for name, stats in sums.items()
    }


def _join(
    a: dict[str, npt.NDArray[Any]], b: dict[str, npt.NDArray[Any]]
) -> dict[str, npt.NDArray[Any]]:
    n, m = a["count"][0], b["count"][0]
    mean = (a["mean"] * n + b["mean"] * m) / (n + m)
    spread = sum(
        size * (one["std"] ** 2 + (one["mean"] - mean) ** 2)
        for one, size in ((a, n), (b, m))
    )
    return {
        "min": np.minimum(a["min"], b["min"]),
        "max": np.maximum(a["max"], b["max"]),
        "mean": mean,
        "std": np.sqrt(spread / (n + m)),
        "count": a["count"] + b["count"],
        **{
            key: (a[key] * n + b[key] * m) / (n + m)
            for key in QUANTILES
            if key in a and key in b
        },
    }
