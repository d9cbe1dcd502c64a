"""Rows in memory or file, read by block."""

from __future__ import annotations

import tempfile
import weakref
from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from paprle.contracts.errors import ConfigError
from paprle.contracts.types import Vec

Rows = npt.NDArray[Any]  # structured: fields of paprle.ipc.records

BLOCK = 4096  # chosen: 20 s of an arm, a few MB with what is computed of it
SMALL = 1 << 18  # [bytes] chosen: a store of less is never written to a disk
KEPT = 1 << 15  # chosen: rows kept of a motion for pictures and for comparisons
_SORTED = 1 << 19  # chosen: values that are sorted at once
_DIGIT = 16  # [bits] chosen: four looks at a float64 find any rank
_FOLDER = Path("/var/tmp")  # spec: FHS 5.15: large, and on a disk


class Table(Protocol):
    """Rows readable in pieces, such as an array."""

    @property
    def dtype(self) -> np.dtype[Any]: ...  # noqa: D102
    def __len__(self) -> int: ...
    def __getitem__(self, rows: slice, /) -> Rows: ...


def cut(n: int) -> Iterator[slice]:
    """Yield slices of blocks over n rows."""
    for begin in range(0, n, BLOCK):
        yield slice(begin, min(begin + BLOCK, n))


def find_row(rows: Table, name: str, value: float) -> int:
    """Return the number of rows before a value of a non-decreasing field."""
    return bisect_left(range(len(rows)), value, key=lambda k: rows[k : k + 1][name][0])


class Store:
    """Appendable rows; many go to an unnamed file."""

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        folder = str(_FOLDER) if _FOLDER.is_dir() else None
        self._file = tempfile.SpooledTemporaryFile(SMALL, dir=folder)  # noqa: SIM115
        self._n = 0
        weakref.finalize(self, self._file.close)

    def __len__(self) -> int:
        return self._n

    def append(self, rows: Rows) -> None:
        """Append rows.

        Raises:
            ConfigError: If the disk is full.
        """
        packed = np.ascontiguousarray(_pack(rows, self.dtype))
        try:
            self._file.seek(self._n * self.dtype.itemsize)
            self._file.write(packed.tobytes())
        except OSError as err:
            raise ConfigError(
                f"evaluate: expected room for what is measured, got {err}; make room "
                f"in {_FOLDER}"
            ) from err
        self._n += len(rows)

    def __getitem__(self, rows: slice) -> Rows:
        begin, end, _ = rows.indices(self._n)
        size = self.dtype.itemsize
        self._file.seek(begin * size)
        return np.frombuffer(self._file.read((end - begin) * size), self.dtype)


def _pack(rows: Rows, dtype: np.dtype[Any]) -> Rows:
    if rows.dtype == dtype or dtype.names is None:
        return rows.astype(dtype, copy=False)
    packed = np.zeros(len(rows), dtype)
    for name in dtype.names:
        part = dtype[name]
        packed[name] = rows[name] if part.names is None else _pack(rows[name], part)
    return packed


class NumberColumn:
    """Numbers with sums and ranks."""

    def __init__(self) -> None:
        self.largest = -np.inf
        self._store = Store(np.float64)
        self._sums = np.zeros(2)

    def __len__(self) -> int:
        return len(self._store)

    def append(self, values: Vec) -> None:
        """Append numbers, shape (n,)."""
        if not len(values):
            return
        own = np.asarray(values, dtype=np.float64)
        self._store.append(own)
        self._sums += own.sum(), (own**2).sum()
        self.largest = max(self.largest, float(own.max()))

    @property
    def mean(self) -> float:
        """The mean."""
        return float(self._sums[0] / len(self))

    @property
    def rms(self) -> float:
        """The root mean square."""
        return float(np.sqrt(self._sums[1] / len(self)))

    def blocks(self) -> Iterator[Vec]:
        """Yield blocks."""
        for where in cut(len(self)):
            yield self._store[where]

    def percentile(self, percent: float) -> float:
        """Return a percentile as ``numpy.percentile`` does."""
        n = len(self)
        if n <= _SORTED:
            return float(np.percentile(self._store[:], percent))
        rank = percent / 100.0 * (n - 1)
        low, high = int(np.floor(rank)), int(np.ceil(rank))
        a, b = self._find_rank(low), self._find_rank(high)
        return a + (b - a) * (rank - low)

    def _find_rank(self, rank: int) -> float:
        prefix = np.uint64(0)
        for place in range(64 - _DIGIT, -1, -_DIGIT):
            counts = np.zeros(1 << _DIGIT, dtype=np.int64)
            for keys in self._list_keys(prefix, place):
                digits = (keys >> np.uint64(place)) & np.uint64((1 << _DIGIT) - 1)
                counts += np.bincount(digits.astype(np.intp), minlength=len(counts))
            before = np.cumsum(counts)
            digit = int(np.searchsorted(before, rank, side="right"))
            rank -= int(before[digit] - counts[digit])
            prefix = (prefix << np.uint64(_DIGIT)) | np.uint64(digit)
        return float(_from_keys(np.array([prefix]))[0])

    def _list_keys(self, prefix: np.uint64, place: int) -> Iterator[Rows]:
        above = place + _DIGIT
        for values in self.blocks():
            keys = _to_keys(values)
            yield keys if above == 64 else keys[keys >> np.uint64(above) == prefix]


_SIGN = np.uint64(1 << 63)


def _to_keys(values: Vec) -> Rows:
    bits = np.ascontiguousarray(values).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _from_keys(keys: Rows) -> Vec:
    return np.where(keys & _SIGN, keys ^ _SIGN, ~keys).view(np.float64)


class Thinned:
    """Every n-th row, n a power of two: at most KEPT rows."""

    def __init__(self, dtype: npt.DTypeLike, most: int | None = None) -> None:
        self._most = most or KEPT
        self._rows: Rows = np.zeros(0, dtype)
        self._parts: list[Rows] = []
        self._step, self._n_seen, self._n_kept = 1, 0, 0

    def add(self, rows: Rows) -> None:
        """Add rows."""
        own = rows[-self._n_seen % self._step :: self._step].copy()
        self._n_seen += len(rows)
        self._n_kept += len(own)
        self._parts.append(own)
        while self._n_kept > self._most:
            self._rows = self.rows[::2].copy()
            self._step *= 2
            self._n_kept = len(self._rows)

    @property
    def rows(self) -> Rows:
        """The kept rows."""
        self._rows = np.concatenate([self._rows, *self._parts])
        self._parts = []
        return self._rows
