"""LeRobot data sets, version 3.0.

Layout: ``huggingface/lerobot``, ``docs/source/lerobot-dataset-v3.mdx``. Existing files
are never rewritten.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from paprle.observation.columns import Column
from paprle_lab.dataset.camera_calibration import describe_calibration
from paprle_lab.dataset.episode_shard import (
    LONGEST,
    ShardEpisode,
    list_columns,
    make_schema,
    read_rows,
)
from paprle_lab.dataset.formats.marks import FEATURES, FIELDS, make_columns
from paprle_lab.dataset.statistics import NumberStats, Stats, merge
from paprle_lab.dataset.video import describe_video, join_videos

VERSION = "v3.0"
CHUNK = 1000  # spec: files a folder
DATA_MB, VIDEO_MB = 100, 200  # spec: size of a file, about
DATA_PATH = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VIDEO_PATH = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
EPISODES_PATH = "episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
_INDICES = (
    Column("episode_index", (), ("1",), "", "int64"),
    Column("index", (), ("1",), "", "int64"),
    Column("task_index", (), ("1",), "", "int64"),
)
_WHOLE = ("frame_index", "episode_index", "index", "task_index")
_EPISODES = 500  # chosen: rows of a file of episodes; 25 MB of numbers in memory
_MB = 1 << 20


@dataclass
class Totals:
    """Totals of a data set.

    Attributes:
        tasks: In the order of their numbers.
        n_files: By kind: ``data``, ``episodes`` and each video's key.
    """

    n_episodes: int = 0
    n_frames: int = 0
    tasks: list[str] = field(default_factory=list)
    n_files: dict[str, int] = field(default_factory=dict)
    stats: dict[str, Stats] = field(default_factory=dict)

    def take_file(self, kind: str) -> tuple[int, int]:
        """Return chunk and number of a kind's next file."""
        n = self.n_files.get(kind, 0)
        self.n_files[kind] = n + 1
        return divmod(n, CHUNK)


@dataclass(frozen=True)
class Shape:
    """Shared properties of episodes.

    Attributes:
        fps: Frame rate, [Hz].
        sizes: Height and width by camera, [px].
        cameras: Recorded properties, as in a header.
        has_marks: Whether there are columns of subtasks and mistakes.
    """

    robot_type: str
    fps: int
    columns: tuple[Column, ...]
    sizes: Mapping[str, tuple[int, int]]
    cameras: Mapping[str, Any] = field(default_factory=dict)
    has_marks: bool = False

    @property
    def all_columns(self) -> tuple[Column, ...]:
        """Columns of the row files."""
        return (*list_columns(self.columns), *_INDICES)

    def list_features(self) -> dict[str, Any]:
        """Return the features of ``info.json``."""
        features: dict[str, Any] = {
            one.name: {
                "dtype": one.kind,
                "shape": [len(one.names) or 1],
                "names": list(one.names) or None,
            }
            for one in self.all_columns
        }
        features |= FEATURES if self.has_marks else {}
        for camera, size in self.sizes.items():
            features[f"observation.images.{camera}"] = {
                "dtype": "video",
                "shape": [*size, 3],
                "names": ["height", "width", "channels"],
                "info": {
                    **describe_video(size, self.fps),
                    **describe_calibration(self.cameras.get(camera, {})),
                },
            }
        return features


def pack(
    root: Path, meta: Path, pieces: Sequence[ShardEpisode], shape: Shape, totals: Totals
) -> None:
    """Add pieces to a data set."""
    for piece in pieces:
        if piece.task not in totals.tasks:
            totals.tasks.append(piece.task)
    places = [dict[str, Any]() for _ in pieces]
    _pack_rows(root, pieces, shape, totals, places)
    for camera in shape.sizes:
        _pack_videos(root, camera, (pieces, shape, totals), places)
    for first in range(0, len(pieces), _EPISODES):
        some = slice(first, first + _EPISODES)
        _pack_episodes(meta, pieces[some], totals, places[some])
    write_tasks(meta / "tasks.parquet", totals.tasks)
    write_json(meta / "stats.json", totals.stats)
    write_json(meta / "info.json", _make_info(shape, totals))


def read_stats(meta: Path) -> dict[str, Stats]:
    """Return a data set's statistics."""
    path = meta / "stats.json"
    if not path.is_file():
        return {}
    stats: dict[str, Stats] = json.loads(path.read_text(encoding="utf-8"))
    return stats


def _pack_episodes(
    meta: Path,
    pieces: Sequence[ShardEpisode],
    totals: Totals,
    places: Sequence[Mapping[str, Any]],
) -> None:
    chunk, number = totals.take_file("episodes")
    path = meta / EPISODES_PATH.format(chunk_index=chunk, file_index=number)
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = []
    for piece, place in zip(pieces, places, strict=True):
        episode, first = totals.n_episodes, totals.n_frames
        indices = (episode, first, totals.tasks.index(piece.task))
        stats = piece.read_stats() | _count_indices(piece.length, indices)
        stats = {name: _round_whole(name, one) for name, one in stats.items()}
        rows.append(
            {
                "episode_index": episode,
                "tasks": [piece.task],
                "length": piece.length,
                "outcome": piece.outcome,
                **place,
                "dataset_from_index": first,
                "dataset_to_index": first + piece.length,
                "meta/episodes/chunk_index": chunk,
                "meta/episodes/file_index": number,
                **{
                    f"stats/{name}/{key}": value
                    for name, one in stats.items()
                    for key, value in one.items()
                },
            }
        )
        totals.stats = merge([totals.stats, stats])
        totals.n_episodes += 1
        totals.n_frames += piece.length
    pq.write_table(pa.Table.from_pylist(rows), path)


def _pack_rows(
    root: Path,
    pieces: Sequence[ShardEpisode],
    shape: Shape,
    totals: Totals,
    places: list[dict[str, Any]],
) -> None:
    sizes = [(piece.folder / "data.parquet").stat().st_size for piece in pieces]
    schema = make_schema(shape.all_columns)
    for own in FIELDS if shape.has_marks else ():
        schema = schema.append(own)
    episode, index = totals.n_episodes, totals.n_frames
    for group in cut(sizes, DATA_MB * _MB):
        chunk, number = totals.take_file("data")
        path = root / DATA_PATH.format(chunk_index=chunk, file_index=number)
        path.parent.mkdir(parents=True, exist_ok=True)
        with pq.ParquetWriter(path, schema) as out:
            for k in group:
                places[k]["data/chunk_index"] = chunk
                places[k]["data/file_index"] = number
                task = totals.tasks.index(pieces[k].task)
                for table in read_rows(pieces[k]):
                    n = len(table)
                    for name, values in (
                        ("episode_index", np.full(n, episode)),
                        ("index", np.arange(index, index + n)),
                        ("task_index", np.full(n, task)),
                    ):
                        table = table.append_column(name, pa.array(values))  # noqa: PLW2901 - a table is never changed
                    index += n
                    if shape.has_marks:
                        table = _add_marks(table, pieces[k], shape.fps)  # noqa: PLW2901 - likewise
                    out.write_table(table.cast(schema), row_group_size=n)
                episode += 1


def _add_marks(table: pa.Table, piece: ShardEpisode, fps: int) -> pa.Table:
    frames = table["frame_index"].to_pylist()
    for name, column in make_columns(piece.marks, frames, fps).items():
        table = table.append_column(name, column)
    return table


def _pack_videos(
    root: Path,
    camera: str,
    what: tuple[Sequence[ShardEpisode], Shape, Totals],
    places: list[dict[str, Any]],
) -> None:
    pieces, shape, totals = what
    key = f"observation.images.{camera}"
    longest = LONGEST * shape.fps
    # the larger of both shares: a file ends where it is large, or where it is long
    loads = [
        max(
            piece.video(camera).stat().st_size / (VIDEO_MB * _MB),
            piece.length / longest,
        )
        for piece in pieces
    ]
    for group in cut(loads, 1.0):
        chunk, number = totals.take_file(key)
        path = VIDEO_PATH.format(video_key=key, chunk_index=chunk, file_index=number)
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        parts = [(pieces[k].video(camera), pieces[k].length) for k in group]
        join_videos(parts, root / path, shape.fps)
        n = 0
        for k in group:
            places[k] |= {
                f"videos/{key}/chunk_index": chunk,
                f"videos/{key}/file_index": number,
                f"videos/{key}/from_timestamp": n / shape.fps,
                f"videos/{key}/to_timestamp": (n + pieces[k].length) / shape.fps,
            }
            n += pieces[k].length


def cut(sizes: Sequence[float], limit: float) -> Iterator[list[int]]:
    """Yield groups of neighbours within a size limit."""
    group: list[int] = []
    total = 0.0
    for k, size in enumerate(sizes):
        if group and total + size > limit:
            yield group
            group, total = [], 0.0
        group.append(k)
        total += size
    if group:
        yield group


def _count_indices(n: int, first: tuple[int, int, int]) -> dict[str, Stats]:
    episode, index, task = first
    stats = {}
    for name, values in (
        ("episode_index", np.full(n, episode)),
        ("index", np.arange(index, index + n)),
        ("task_index", np.full(n, task)),
    ):
        one = NumberStats()
        one.add(values[:, None])
        stats[name] = one.finish()
    return stats


def _round_whole(name: str, stats: Stats) -> Stats:
    if name not in _WHOLE:
        return dict(stats)
    return stats | {key: [int(x) for x in stats[key]] for key in ("min", "max")}


def write_tasks(path: Path, tasks: Sequence[str]) -> None:
    """Write tasks in the order of their numbers, as pandas would."""
    index = "__index_level_0__"
    text = {"pandas_type": "unicode", "numpy_type": "object", "metadata": None}
    whole = {"pandas_type": "int64", "numpy_type": "int64", "metadata": None}
    no_name = {"pandas_type": "unicode", "numpy_type": "object"}
    about = {
        "index_columns": [index],
        "column_indexes": [
            {
                "name": None,
                "field_name": None,
                "metadata": {"encoding": "UTF-8"},
                **no_name,
            }
        ],
        "columns": [
            {"name": "task_index", "field_name": "task_index", **whole},
            {"name": None, "field_name": index, **text},
        ],
        "creator": {"library": "pyarrow", "version": pa.__version__},
        "pandas_version": "2.0.0",
    }
    table = pa.table(
        {
            "task_index": pa.array(range(len(tasks)), pa.int64()),
            index: pa.array(tasks, pa.string()),
        }
    )
    table = table.replace_schema_metadata({"pandas": json.dumps(about)})
    pq.write_table(table, path)


def _make_info(shape: Shape, totals: Totals) -> dict[str, Any]:
    return {
        "codebase_version": VERSION,
        "robot_type": shape.robot_type,
        "total_episodes": totals.n_episodes,
        "total_frames": totals.n_frames,
        "total_tasks": len(totals.tasks),
        "chunks_size": CHUNK,
        "data_files_size_in_mb": DATA_MB,
        "video_files_size_in_mb": VIDEO_MB,
        "fps": shape.fps,
        "splits": {"train": f"0:{totals.n_episodes}"},
        "data_path": DATA_PATH,
        "video_path": VIDEO_PATH if shape.sizes else None,
        "features": shape.list_features(),
    }


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    """Write values, indented."""
    path.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
