"""Tables of anybody's LeRobot data set, version 3.

Layout: ``huggingface/lerobot``, ``docs/source/lerobot-dataset-v3.mdx``.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from paprle.contracts.errors import RecordingError
from paprle.contracts.types import Vec

INDICES = ("timestamp", "frame_index", "episode_index", "index", "task_index")
"""Features of every data set."""

_UNITS = tuple(
    (re.compile(form), unit)
    for form, unit in (
        # spec: huggingface/lerobot, MotorNormMode: a gripper is 0 … 100; other joints
        # are in degrees or, without use_degrees, −100 … 100 of their range
        (r"gripper\.pos$", "%"),
        (r"\.pos$", "° or %"),
        # spec: huggingface/lerobot, LeKiwi and the processors of end-effectors
        (r"(^|[._])[xy]\.vel$", "m/s"),
        (r"(^|[._])theta\.vel$", "°/s"),
        (r"(^|[._])ee\.[xyz]$", "m"),
        (r"(^|[._])ee\.w[xyz]$", "rad"),
    )
)
"""Units by the end of a dimension's name."""

_LARGEST = 64 << 20  # [bytes] chosen: of info.json


def read_info(root: Path) -> dict[str, Any]:
    """Return ``info.json``.

    Raises:
        RecordingError: If unreadable or of another version.
    """
    path = root / "meta" / "info.json"
    try:
        with path.open("rb") as file:
            info: dict[str, Any] = json.loads(file.read(_LARGEST))
        version = str(info["codebase_version"])
        is_whole = (
            math.isfinite(info["fps"])
            and info["fps"] > 0
            and all(
                isinstance(one, dict) and "dtype" in one
                for one in info["features"].values()
            )
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as err:
        raise RecordingError(
            f"{path}: expected a data set's info, got {err!r}"
        ) from err
    if not version.startswith("v3."):
        raise RecordingError(
            f"{path}: expected a data set of version v3.x, got {version[:20]}; "
            "LeRobot's own scripts convert older ones"
        )
    if not is_whole:
        raise RecordingError(f"{path}: expected a rate and features with a dtype")
    return info


def read_episodes(root: Path, *, with_stats: bool = False) -> list[dict[str, Any]]:
    """Return the rows of ``meta/episodes``, in order.

    Raises:
        RecordingError: If unreadable or incomplete.
    """
    rows = list[dict[str, Any]]()
    for file in list_episode_files(root):
        try:
            names = [
                name
                for name in pq.read_schema(file).names
                if with_stats or not name.startswith("stats/")
            ]
            rows += pq.read_table(file, columns=names).to_pylist()
        except (OSError, pa.ArrowException) as err:
            raise RecordingError(f"{file}: expected a table, got {err}") from err
    needed = {"episode_index", "length", "data/chunk_index", "data/file_index"}
    is_whole = all(isinstance(row.get(k), int) for row in rows for k in needed)
    if not rows or not is_whole:
        raise RecordingError(
            f"{root}/meta/episodes: expected rows with {', '.join(sorted(needed))}, "
            f"got {len(rows)} rows"
        )
    return sorted(rows, key=lambda row: int(row["episode_index"]))


def list_episode_files(root: Path) -> list[Path]:
    """Return the files of ``meta/episodes``."""
    return sorted((root / "meta" / "episodes").rglob("*.parquet"))


def read_tasks(root: Path) -> dict[int, str]:
    """Return tasks by their numbers.

    Raises:
        RecordingError: If unreadable.
    """
    path = root / "meta" / "tasks.parquet"
    try:
        table = pq.read_table(path)
        texts = [f.name for f in table.schema if pa.types.is_string(f.type)]
        texts += [f.name for f in table.schema if pa.types.is_large_string(f.type)]
        pairs = zip(
            table["task_index"].to_pylist(), table[texts[0]].to_pylist(), strict=True
        )
        return {int(number): str(text) for number, text in pairs}
    except (OSError, LookupError, TypeError, pa.ArrowException) as err:
        raise RecordingError(f"{path}: expected tasks, got {err!r}") from err


def find_file(
    root: Path,
    info: Mapping[str, Any],
    kind: str,
    row: Mapping[str, Any],
    key: str = "",
) -> Path:
    """Return an episode's file; never outside the data set.

    Raises:
        RecordingError: If the tables name none.
    """
    of = f"videos/{key}" if key else kind
    try:
        # numbers and the key alone are put in: str.format would reach attributes, too
        place = str(info[f"{kind}_path"]).replace("{video_key}", key)
        for name in ("chunk_index", "file_index"):
            number = int(row[f"{of}/{name}"])
            place = place.replace(f"{{{name}:03d}}", f"{number:03d}")
            place = place.replace(f"{{{name}}}", f"{number}")
        path = (root / place).resolve()
    except (LookupError, TypeError, ValueError) as err:
        raise RecordingError(
            f"{root}: expected {of} to have a place, got {err!r}"
        ) from err
    if not path.is_relative_to(root.resolve()):
        raise RecordingError(f"{root}: expected {of} inside it, got {place[:200]}")
    return path


def read_rows(
    path: Path, episode: int, wanted: Sequence[str] | None = None
) -> pa.Table:
    """Return an episode's rows, of wanted columns that are there or of all.

    Raises:
        RecordingError: If unreadable.
    """
    try:
        columns = None
        if wanted is not None:
            there = pq.read_schema(path).names
            columns = [name for name in wanted if name in there]
        return pq.read_table(
            path, columns=columns, filters=[("episode_index", "=", episode)]
        )
    except (OSError, pa.ArrowException) as err:
        raise RecordingError(f"{path}: expected an episode's rows, got {err}") from err


def is_depth(feature: Mapping[str, Any]) -> bool:
    """Return whether an image feature holds depths."""
    info = feature.get("info") or feature.get("video_info") or {}
    return bool(info.get("is_depth_map") or info.get("video.is_depth_map"))


def flatten_column(column: pa.ChunkedArray) -> Vec | None:
    """Return a column as (N, n); None unless it holds numbers."""
    try:
        rows = column.combine_chunks().to_numpy(zero_copy_only=False)
        if rows.dtype == object:
            rows = np.stack([np.asarray(row, dtype=np.float64).ravel() for row in rows])
        values: Vec = rows.astype(np.float64).reshape(len(column), -1)
        return values
    except (ValueError, TypeError, pa.ArrowException):
        return None


def name_dimensions(given: object, n: int) -> list[str]:
    """Return n names of a list or mapping of lists."""
    if isinstance(given, Mapping):
        given = [
            name for part in given.values() if isinstance(part, list) for name in part
        ]
    if isinstance(given, list) and len(given) == n:
        return [str(name) for name in given]
    return [str(k) for k in range(n)]


def find_unit(name: str) -> str:
    """Return the unit of a dimension as its name fixes it; may be empty."""
    return next((unit for form, unit in _UNITS if form.search(name)), "")


def find_size(feature: Mapping[str, Any]) -> tuple[int, int]:
    """Return height and width of an image feature, [px].

    Raises:
        RecordingError: If its shape is none of an image.
    """
    try:
        a, b, c = (int(side) for side in feature["shape"])
    except (LookupError, TypeError, ValueError) as err:
        raise RecordingError(f"image: expected a shape of three, got {err!r}") from err
    return (b, c) if a in {1, 3} else (a, b)
