"""Reproducible Parquet table, sorted by cell."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from paprle.contracts.errors import RecordingError
from paprle_lab.batch.figures import COUNTS, HOLDS, NUMBERS, TEXTS
from paprle_lab.batch.result_store import ResultStore
from paprle_lab.batch.run_cell import DONE, FAILED, name_part

NAME = "table.parquet"
_GROUP = 1024  # chosen: rows of a group; 1 MB of parts in memory

_INT, _FLOAT, _TEXT = pa.int64(), pa.float64(), pa.string()
_NAMES = ("work", "leader", "robot", "world", "network", "variant")
_HOLD_TYPES = {"n_holds": _INT}
SCHEMA = pa.schema(
    [
        pa.field("index", _INT, nullable=False),
        *((name, _TEXT) for name in _NAMES),
        ("seed", _INT),
        ("form", _TEXT),
        ("status", _TEXT),
        ("error", _TEXT),
        ("exit_code", _INT),
        ("session_end", _TEXT),
        *((name, _TEXT) for name in TEXTS),
        *((name, _FLOAT) for name in NUMBERS),
        *((name, _INT) for name in COUNTS),
        *((name, _HOLD_TYPES.get(name, _FLOAT)) for name in HOLDS),
        ("n_episodes", _INT),
        ("n_frames", _INT),
        ("commands", _TEXT),
    ]
)
"""Columns of every table; what a work does not tell is null."""


def write_table(place: ResultStore, n: int) -> None:
    """Write the table of n cells' parts, or nothing.

    Raises:
        RecordingError: If a part is missing or damaged.
    """
    with tempfile.TemporaryDirectory(prefix="paprle-") as folder:
        path = Path(folder) / NAME
        with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
            for rows in _read_groups(place, n):
                writer.write_table(pa.Table.from_pylist(rows, schema=SCHEMA))
        place.put(path, NAME)


def read_table(place: ResultStore) -> list[dict[str, Any]]:
    """Return the rows of a table.

    Raises:
        RecordingError: If there is none.
    """
    data = place.read(NAME)
    if data is None:
        raise RecordingError(f"'{place.address}': expected a table, got none")
    rows: list[dict[str, Any]] = pq.read_table(pa.BufferReader(data)).to_pylist()
    return rows


def _read_groups(place: ResultStore, n: int) -> Iterator[list[dict[str, Any]]]:
    for first in range(0, n, _GROUP):
        indices = range(first, min(first + _GROUP, n))
        done = place.read_all([name_part(k, DONE) for k in indices])
        left = [k for k in indices if name_part(k, DONE) not in done]
        done |= place.read_all([name_part(k, FAILED) for k in left]) if left else {}
        rows = []
        for k in indices:
            data = done.get(name_part(k, DONE), done.get(name_part(k, FAILED)))
            if data is None:
                raise RecordingError(f"'{place.address}': no part of cell {k}")
            rows.append(_decode(data, k, place))
        yield rows


def _decode(data: bytes, k: int, place: ResultStore) -> dict[str, Any]:
    try:
        row: dict[str, Any] = json.loads(data)
    except ValueError as err:
        raise RecordingError(
            f"'{place.address}/{name_part(k, DONE)}': expected a part, got damaged "
            f"text: {err}; remove it and run the batch again"
        ) from err
    if row.get("index") != k:
        raise RecordingError(
            f"'{place.address}': expected the part of cell {k}, got that of "
            f"{row.get('index')}"
        )
    return row
