"""Conversions between fields of records and messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_MANTISSA = 52  # spec: IEEE 754: bits of a float64


def cut(values: npt.NDArray[Any], bits: int) -> npt.NDArray[Any]:
    """Return float64 with fewer bits of mantissa, never 0."""
    rest = np.uint64((1 << _MANTISSA - bits) - 1)
    words = np.ascontiguousarray(values).view(np.uint64)
    return np.where(np.isnan(values), values, (words & ~rest).view(np.float64))


def see_bytes(values: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return the bytes of each row, shape (n, size)."""
    return np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)


def write_values(target: npt.NDArray[Any], source: npt.NDArray[Any]) -> None:
    """Fill a record's field from a message's."""
    if source.dtype.kind == "S":
        target[...] = np.char.rstrip(source, b" ")
    elif target.ndim > 2:
        target[...] = source.reshape(target.shape)
    elif target.ndim > 1:
        target[:, : source.shape[1]] = source
    else:
        target[...] = source


def write_texts(target: npt.NDArray[Any], values: npt.NDArray[Any]) -> None:
    """Write texts, blank-padded to constant length."""
    width = target.dtype.itemsize
    for row in np.flatnonzero(values != b""):
        text = values[row].decode(errors="ignore").encode()
        target[row] = text[:width].ljust(width)
