"""One episode in its own folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from paprle.contracts.types import Vec
from paprle.observation.columns import Column
from paprle.recording.video.codec import Image
from paprle_lab.dataset.formats.marks import PlacedMark
from paprle_lab.dataset.statistics import ImageStats, NumberStats, Stats
from paprle_lab.dataset.video import VideoWriter

DATA, SUMMARY = "data.parquet", "episode.json"
LONGEST = (
    1800.0  # [s] spec: LeRobot keeps times as float32 and refuses 0.1 ms of error,
)
# which float32 has from 2048 s on
Frame = tuple[Mapping[str, Vec], Mapping[str, Image]]
"""Values by column, (n,), and images by camera, RGB (height, width, 3)."""
GROUP = 20_000  # [rows] chosen: of most episodes one row group, as LeRobot has it
_BATCH = 500  # [rows] chosen: a megabyte or two
DONE, SUCCESS = "next.done", "next.success"
TIMESTAMP, FRAME = "timestamp", "frame_index"
_ENDINGS = (
    Column(DONE, (), ("yes/no",), "", "bool"),
    Column(SUCCESS, (), ("yes/no",), "", "bool"),
    Column(TIMESTAMP, (), ("s",), ""),
    Column(FRAME, (), ("1",), "", "int64"),
)


@dataclass(frozen=True)
class ShardEpisode:
    """A complete episode.

    Attributes:
        length: Frames.
        outcome: ``success``, ``failure`` or empty.
        source: SHA-256 of its recording.
        marks: Subtasks and mistakes (frame, kind, text).
    """

    folder: Path
    length: int
    task: str
    outcome: str
    source: str
    marks: Sequence[PlacedMark] = ()

    @classmethod
    def read(cls, folder: Path) -> ShardEpisode:
        """Load a piece."""
        values = _read_summary(folder)
        del values["stats"]
        marks = [PlacedMark(*mark) for mark in values.pop("marks", ())]
        return cls(folder=folder, marks=marks, **values)

    def read_stats(self) -> dict[str, Stats]:
        """Return statistics by column."""
        stats: dict[str, Stats] = _read_summary(self.folder)["stats"]
        return stats

    def video(self, camera: str) -> Path:
        """Return the video of a camera."""
        return self.folder / f"{camera}.mp4"


def _read_summary(folder: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
    return values


def list_columns(columns: Sequence[Column]) -> tuple[Column, ...]:
    """Return all columns of a piece."""
    return (*columns, *_ENDINGS)


def make_schema(columns: Sequence[Column]) -> pa.Schema:
    """Return the Arrow schema: fixed-size vectors or scalars."""
    return pa.schema([pa.field(one.name, _find_type(one)) for one in columns])


def _find_type(column: Column) -> pa.DataType:
    kinds = {"float32": pa.float32(), "bool": pa.bool_(), "int64": pa.int64()}
    kind = kinds[column.kind]
    return pa.list_(kind, len(column.names)) if _is_vector(column) else kind


def _is_vector(column: Column) -> bool:
    """Return whether it is a vector; LeRobot has scalars for size 1."""
    return len(column.names) > 1


class PieceWriter:
    """Writer of one piece."""

    def __init__(
        self,
        folder: Path,
        columns: Sequence[Column],
        sizes: Mapping[str, tuple[int, int]],
        fps: int,
    ) -> None:
        folder.mkdir(parents=True)
        self.folder, self._fps = folder, fps
        self._columns = list_columns(columns)
        self._schema = make_schema(self._columns)
        self._data = pq.ParquetWriter(folder / DATA, self._schema)
        self._videos = {
            name: VideoWriter(folder / f"{name}.mp4", size, fps)
            for name, size in sizes.items()
        }
        self._stats = {one.name: NumberStats() for one in self._columns}
        self._looks = {name: ImageStats() for name in sizes}
        self._batch: list[Mapping[str, Vec]] = []
        self.n = 0

    def add(self, values: Mapping[str, Vec], images: Mapping[str, Image]) -> None:
        """Add a frame."""
        if len(self._batch) == _BATCH:
            self._flush(is_last=False, is_success=False)
        self._batch.append(values)
        for name, video in self._videos.items():
            video.add(images[name])
            self._looks[name].add(images[name])
        self.n += 1

    def close(
        self, task: str, outcome: str, source: str, marks: Sequence[PlacedMark] = ()
    ) -> None:
        """Write the rest and the summary."""
        self._flush(is_last=True, is_success=outcome == "success")
        self._data.close()
        for video in self._videos.values():
            video.close()
        stats = {name: one.finish() for name, one in self._stats.items()}
        for name, look in self._looks.items():
            stats[f"observation.images.{name}"] = look.finish()
        text = json.dumps(
            {
                "length": self.n,
                "task": task,
                "outcome": outcome,
                "stats": stats,
                "source": source,
                "marks": marks,
            }
        )
        (self.folder / SUMMARY).write_text(text, encoding="utf-8")

    def abandon(self) -> None:
        """Close the files of an unwanted piece."""
        self._data.close()
        for video in self._videos.values():
            video.close()

    def _flush(self, *, is_last: bool, is_success: bool) -> None:
        n = len(self._batch)
        first = self.n - n
        frames = np.arange(first, first + n)
        ends = np.zeros(n, dtype=np.bool_)
        ends[-1:] = is_last
        table: dict[str, Any] = {
            name: np.array([values[name] for values in self._batch])
            for name in self._batch[0]
        }
        table |= {DONE: ends, SUCCESS: ends & is_success, FRAME: frames}
        table[TIMESTAMP] = frames / self._fps
        arrays = []
        for column, field in zip(self._columns, self._schema, strict=True):
            rows = table[column.name].astype(column.kind)
            self._stats[column.name].add(rows.reshape(n, -1))
            flat = pa.array(rows.ravel())
            if _is_vector(column):
                flat = pa.FixedSizeListArray.from_arrays(flat, len(column.names))
            arrays.append(flat.cast(field.type))
        self._data.write_table(pa.Table.from_arrays(arrays, schema=self._schema))
        self._batch.clear()


def read_rows(piece: ShardEpisode) -> Iterator[pa.Table]:
    """Yield rows, ``GROUP`` at a time."""
    with pq.ParquetFile(piece.folder / DATA) as file:
        tables: list[pa.Table] = []
        for at in range(file.num_row_groups):
            tables.append(file.read_row_group(at))
            is_last = at + 1 == file.num_row_groups
            if is_last or sum(map(len, tables)) + _BATCH > GROUP:
                yield pa.concat_tables(tables).combine_chunks()
                tables = []


def write_pieces(
    folder: Path,
    frames: Iterator[Frame | None],
    make: Any,
    fps: int,
) -> Iterator[PieceWriter]:
    """Yield full writers, within LeRobot's maximum length; None ends one, too."""
    writer: PieceWriter | None = None
    n_parts = 0
    try:
        for frame in frames:
            is_full = writer is not None and writer.n >= LONGEST * fps
            if writer is not None and (is_full or frame is None):
                yield writer
                writer = None
            if frame is None:
                continue
            if writer is None:
                writer = make(folder / f"part-{n_parts:03d}")
                n_parts += 1
            writer.add(*frame)
    except BaseException:
        if writer is not None:
            writer.abandon()
        raise
    if writer is not None:
        yield writer
