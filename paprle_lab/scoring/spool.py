"""Episodes on the disk between two passes."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from paprle_lab.scoring.series import EpisodeSeries

_ROWS = ("t", "clock", "frames", "driven")


class Spool(AbstractContextManager["Spool"]):
    """Episodes of which one is in memory at a time.

    Attributes:
        heads: Episodes without rows.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="paprle_score_")
        self.heads = list[EpisodeSeries]()

    def __len__(self) -> int:
        return len(self.heads)

    def add(self, series: EpisodeSeries) -> None:
        """Add an episode."""
        rows = {name: getattr(series, name) for name in _ROWS}
        values: dict[str, Any] = {
            "action": series.action.values.astype(np.float32),
            "state": series.state.values.astype(np.float32),
        }
        np.savez(self._find(len(self)), **rows, **values)
        empty: dict[str, Any] = dict.fromkeys(_ROWS, np.zeros(0))
        light = series.with_values(*np.zeros((2, 0, 0)))
        self.heads.append(replace(light, **empty))

    def load(self, k: int) -> EpisodeSeries:
        """Return an episode by number."""
        with np.load(self._find(k)) as file:
            rows: dict[str, Any] = {name: file[name] for name in _ROWS}
            values = [file[name].astype(np.float64) for name in ("action", "state")]
        return replace(self.heads[k], **rows).with_values(*values)

    def __iter__(self) -> Iterator[EpisodeSeries]:
        return (self.load(k) for k in range(len(self)))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._folder.cleanup()

    def _find(self, k: int) -> Path:
        return Path(self._folder.name) / f"{k}.npz"
