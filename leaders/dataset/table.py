"""Columns of one episode over time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from paprle.contracts.errors import DeviceError
from paprle.contracts.types import Vec

MOST_ROWS = 500_000  # chosen: an hour at 100 Hz, and more than any episode has


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """One episode.

    Attributes:
        t: Stamps, (n,), rising, [s].
        values: In the dataset's units, (n, k).
    """

    t: Vec
    names: tuple[str, ...]
    values: Vec

    def take(self, names: Sequence[str]) -> Vec:
        """Return some columns, (n, len(names))."""
        return np.asarray(self.values[:, [self.names.index(name) for name in names]])


class DatasetReader(ABC):
    """An opened dataset; ``shortage`` names gaps of its index."""

    path: Path
    shortage = ""

    @property
    @abstractmethod
    def n_episodes(self) -> int:
        """Number of episodes."""

    @abstractmethod
    def read(self, episode: int) -> Table:
        """Read one episode's played columns; any thread.

        Raises:
            DeviceError: If it cannot be read.
        """

    @abstractmethod
    def close(self) -> None:
        """Close its files."""

    def check_length(self, episode: int, n: int) -> None:
        """Check the number of rows.

        Raises:
            DeviceError: If there are too few or too many.
        """
        if not 2 <= n <= MOST_ROWS:
            raise DeviceError(
                f"{self.path}: expected 2 to {MOST_ROWS} rows in episode {episode}, "
                f"got {n}; leave it out with leader.episodes"
            )


def check_table(path: Path, episode: int, table: Table) -> Table:
    """Return the table if playable.

    Raises:
        DeviceError: If a number is not finite, or time does not rise.
    """
    where = f"{path}: episode {episode}"
    is_bad = ~np.isfinite(table.values).all(axis=1) | ~np.isfinite(table.t)
    if is_bad.any():
        row = int(is_bad.argmax())
        raise DeviceError(
            f"{where}: expected numbers in all rows, got none in {int(is_bad.sum())} "
            f"of them (the first is {row}); leave it out with leader.episodes"
        )
    if (np.diff(table.t) <= 0.0).any():
        row = int((np.diff(table.t) <= 0.0).argmax()) + 1
        raise DeviceError(
            f"{where}: expected stamps that rise, got {table.t[row]} after "
            f"{table.t[row - 1]} in row {row}; leave it out with leader.episodes"
        )
    return table


def make_stamps(n: int, rate: float) -> Vec:
    """Return evenly spaced stamps, (n,), [s]."""
    return np.asarray(np.arange(n) / rate, dtype=np.float64)
