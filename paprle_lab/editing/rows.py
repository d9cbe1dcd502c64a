"""Rows of clips, read and written in bounded memory."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from paprle.contracts.errors import ConfigError, RecordingError
from paprle_lab.dataset.formats.lerobot import DATA_PATH, Totals
from paprle_lab.dataset.formats.lerobot_tables import find_file
from paprle_lab.editing.clips import Clip

_LAST = ("next.done", "next.success")
"""Features that the last frame of an episode alone sets."""
_PERSISTENT = "language_persistent"
_HUGGINGFACE = b"huggingface"


class RowReader:
    """Reads clips; keeps one row group."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._file: Any = None
        self._group = -1
        self._table: Any = None

    def read(self, clip: Clip) -> pa.Table:
        """Return the rows of a clip as they were, by old names.

        Raises:
            RecordingError: If rows are missing or unreadable.
        """
        path = find_file(clip.source.root, clip.source.info, "data", clip.row)
        try:
            parts = [part for part in self._find(path, clip.episode) if len(part)]
        except (OSError, KeyError, pa.ArrowException) as err:
            raise RecordingError(f"{path}: expected a table, got {err}") from err
        rows = pa.concat_tables(parts) if parts else pa.table({})
        if len(rows) != int(clip.row["length"]):
            raise RecordingError(
                f"{path}: expected {clip.row['length']} rows of episode "
                f"{clip.episode}, got {len(rows)}; --delete leaves it out"
            )
        # not a slice: pyarrow casts no structures of a part of a table
        return rows.take(np.arange(clip.first, clip.end))

    def _find(self, path: Path, episode: int) -> Iterator[pa.Table]:
        if path != self._path:
            self._path, self._file, self._group = path, pq.ParquetFile(path), -1
        for group in range(self._file.num_row_groups):
            if not self._may_hold(group, episode):
                continue
            if group != self._group:
                self._table, self._group = self._file.read_row_group(group), group
            yield self._table.filter(pc.equal(self._table["episode_index"], episode))

    def _may_hold(self, group: int, episode: int) -> bool:
        metadata = self._file.metadata.row_group(group)
        at = self._file.schema_arrow.get_field_index("episode_index")
        if at < 0:
            raise KeyError("no column episode_index")
        column = next(
            metadata.column(k)
            for k in range(metadata.num_columns)
            if metadata.column(k).path_in_schema == "episode_index"
        )
        stats = column.statistics
        if stats is None or not stats.has_min_max:
            return True
        return bool(stats.min <= episode <= stats.max)


class RowWriter:
    """Writes clips into files of a size."""

    def __init__(self, root: Path, totals: Totals, limit: float) -> None:
        """Begin; ``limit`` of a file, [bytes]."""
        self._root, self._totals, self._limit = root, totals, limit
        self._sink: Any = None
        self._writer: Any = None
        self._schema: Any = None
        self._place = (0, 0)

    def add(self, table: pa.Table) -> dict[str, int]:
        """Write an episode; return the columns of its place."""
        table = self._fit(table)
        if self._writer is not None and self._sink.tell() > self._limit:
            self.close()
        if self._writer is None:
            self._place = chunk, number = self._totals.take_file("data")
            path = self._root / DATA_PATH.format(chunk_index=chunk, file_index=number)
            path.parent.mkdir(parents=True, exist_ok=True)
            self._sink = pa.OSFile(str(path), "wb")
            self._writer = pq.ParquetWriter(self._sink, self._schema)
        self._writer.write_table(table, row_group_size=max(1, len(table)))
        return dict(
            zip(("data/chunk_index", "data/file_index"), self._place, strict=True)
        )

    def close(self) -> None:
        """Finish the file."""
        if self._writer is not None:
            self._writer.close()
            self._sink.close()
            self._writer = None

    def _fit(self, table: pa.Table) -> pa.Table:
        if self._schema is None:
            self._schema = table.schema
        try:
            return table.select(self._schema.names).cast(self._schema)
        except (KeyError, pa.ArrowException) as err:
            raise ConfigError(f"expected columns alike in all sets, got {err}") from err


def edit_rows(rows: pa.Table, clip: Clip, totals: Totals) -> tuple[pa.Table, list[str]]:
    """Return the rows of a clip as edited, by new names, and its tasks.

    The clip becomes episode ``totals.n_episodes``; new tasks are added to ``totals``.

    Raises:
        RecordingError: If a row has a task that the set does not name.
    """
    source, n = clip.source, len(rows)
    texts = []
    for number in rows["task_index"].to_pylist():
        if number not in source.tasks:
            raise RecordingError(f"{source.root}: no task {number} in tasks.parquet")
        texts.append(clip.name_task(source.tasks[number]))
    numbers = dict[str, int]()
    for text in dict.fromkeys(texts):
        if text not in totals.tasks:
            totals.tasks.append(text)
        numbers[text] = totals.tasks.index(text)
    values: dict[str, Any] = {
        "episode_index": np.full(n, totals.n_episodes),
        "index": np.arange(totals.n_frames, totals.n_frames + n),
        "task_index": np.array([numbers[text] for text in texts]),
    }
    if not clip.is_whole:
        values |= {
            "frame_index": np.arange(n),
            "timestamp": (np.arange(n) / source.fps).astype(np.float32),
        }
        rows = _end_anew(rows, clip)
    for name, column in values.items():
        rows = _replace(rows, name, pa.array(column))
    kept = [name for name in rows.column_names if name in source.names]
    rows = rows.select(kept).rename_columns([source.names[name] for name in kept])
    return rows.replace_schema_metadata(_rename_metadata(rows, clip)), list(numbers)


def _end_anew(rows: pa.Table, clip: Clip) -> pa.Table:
    for name in _LAST:
        if name in rows.column_names and clip.end < int(clip.row["length"]):
            ends = clip.source.info["features"].get(name, {}).get("dtype") == "bool"
            if ends and pa.types.is_boolean(rows[name].type):
                flags = np.zeros(len(rows), np.bool_)
                flags[-1] = bool(clip.row.get("outcome") == "success") or (
                    name == "next.done"
                )
                rows = _replace(rows, name, pa.array(flags))
    if _PERSISTENT in rows.column_names:
        shift = clip.first / clip.source.fps
        moved = [
            _shift(one, shift, len(rows) / clip.source.fps)
            for one in rows[_PERSISTENT].to_pylist()
        ]
        rows = _replace(rows, _PERSISTENT, pa.array(moved, rows[_PERSISTENT].type))
    return rows


def _shift(
    entries: list[dict[str, Any]] | None, shift: float, length: float
) -> list[dict[str, Any]] | None:
    """Return states of the clip; those begun before it hold from its beginning."""
    if entries is None:
        return None
    begun = dict[tuple[str, str, str], dict[str, Any]]()
    later = list[dict[str, Any]]()
    for entry in entries:
        t = float(entry["timestamp"]) - shift
        if t <= 0.0:
            key = tuple(str(entry.get(k)) for k in ("style", "role", "camera"))
            begun[key[0], key[1], key[2]] = entry | {"timestamp": 0.0}
        elif t < length:
            later.append(entry | {"timestamp": t})
    return [*begun.values(), *later]


def _replace(rows: pa.Table, name: str, values: pa.Array) -> pa.Table:
    at = rows.schema.get_field_index(name)
    if at < 0:
        return rows
    field = rows.schema.field(at)
    return rows.set_column(at, field, values.cast(field.type))


def _rename_metadata(rows: pa.Table, clip: Clip) -> Mapping[bytes, bytes] | None:
    """Return the columns' description that the library ``datasets`` reads."""
    metadata = rows.schema.metadata or {}
    try:
        told = json.loads(metadata[_HUGGINGFACE])
        features = told["info"]["features"]
        names = clip.source.names
        told["info"]["features"] = {
            names[old]: one for old, one in features.items() if old in names
        }
    except (KeyError, TypeError, ValueError):
        return None
    return {_HUGGINGFACE: json.dumps(told).encode()}
