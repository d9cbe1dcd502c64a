"""Rows of a file of others, on their way into a data set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import Vec
from paprle_lab.conversion.mapping import SetMapping
from paprle_lab.dataset.resampling_error import Account

RGB = npt.NDArray[np.uint8]


class Row(NamedTuple):
    """Values by column, (n,), and RGB pictures by camera, (height, width, 3)."""

    values: dict[str, Vec]
    images: dict[str, RGB]


class FileRows(Protocol):
    """Rows of a file, iterated once; None where an episode ends.

    Attributes:
        accounts: By column and camera.
        notes: Differences worth a line of the report.
        ended: Source without which there were no more rows.
        reason_to_split: Of several episodes in a file; empty: they were there.
        trimmed: Times without rows at begin and end, [s].
        tasks: Of each episode, where the file has them; else empty.
    """

    accounts: Mapping[str, Account]
    notes: list[str]
    ended: str
    reason_to_split: str
    tasks: list[str]

    @property
    def trimmed(self) -> tuple[float, float]:
        """Times without rows, [s]."""

    def __iter__(self) -> Iterator[Row | None]:
        """Yield the rows."""


def fill_next(rows: FileRows, mapping: SetMapping) -> Iterator[Row | None]:
    """Give each row the next one's values where a column asks for them."""
    columns = [(one.name, one.next_of) for one in mapping.columns if one.next_of]
    before = None
    for row in rows:
        if not columns:
            yield row
            continue
        if row is not None and before is not None:
            following = {name: row.values[of] for name, of in columns}
            yield Row(before.values | following, before.images)
        if row is None:
            yield None
        before = row


def list_names(mapping: SetMapping) -> Mapping[str, list[str]]:
    """Return the names of numbers by column."""
    own = {
        column.name: [name for part in column.parts for name in part.names]
        for column in mapping.columns
    }
    return {
        column.name: own[column.next_of or column.name] for column in mapping.columns
    }
