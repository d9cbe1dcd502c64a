"""An edited data set, LeRobot version 3."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from paprle.contracts.errors import RecordingError
from paprle.contracts.kit.work import Work
from paprle_lab.dataset.episode_shard import LONGEST
from paprle_lab.dataset.formats.lerobot import (
    CHUNK,
    DATA_MB,
    DATA_PATH,
    EPISODES_PATH,
    VERSION,
    VIDEO_MB,
    VIDEO_PATH,
    Totals,
    write_json,
    write_tasks,
)
from paprle_lab.dataset.formats.lerobot_tables import find_file, list_episode_files
from paprle_lab.dataset.statistics import merge
from paprle_lab.editing.clip_stats import find_stats
from paprle_lab.editing.clips import Clip
from paprle_lab.editing.edits import Edits
from paprle_lab.editing.footage import FootageWriter, Place, Span
from paprle_lab.editing.rows import RowReader, RowWriter, edit_rows

EDITS = "edits.json"
_EPISODES = 500  # chosen: rows of a file of episodes
_MB = 1 << 20
_COUNTED = re.compile(r"^\d+ episodes, \d+ frames at", re.MULTILINE)
"""The line of counts in a card of ``dataset create``."""


def write_set(root: Path, clips: Sequence[Clip], edits: Edits, work: Work) -> Totals:
    """Write clips as a data set into an empty folder.

    Returns:
        Its totals.

    Raises:
        RecordingError: If a source is unreadable or damaged.
        ConfigError: If columns differ between sources.
    """
    info = clips[0].source.info
    totals = Totals()
    rows = _write_rows(root, clips, totals, edits, work)
    for old in clips[0].source.list_videos():
        name = clips[0].source.names[old]
        work.note(f"copying the videos of {name}")
        places = _copy_videos(root, clips, name, totals)
        for k, place in enumerate(places):
            rows[k] |= place
    _write_episodes(root / "meta", clips, rows, totals)
    write_tasks(root / "meta" / "tasks.parquet", totals.tasks)
    write_json(root / "meta" / "stats.json", totals.stats)
    write_json(root / "meta" / "info.json", _make_info(info, clips, totals))
    _note_edits(root, clips, edits)
    _copy_card(root, clips, totals)
    return totals


def _write_rows(
    root: Path, clips: Sequence[Clip], totals: Totals, edits: Edits, work: Work
) -> list[dict[str, Any]]:
    info = clips[0].source.info
    limit = _find_limit(info, "data_files_size_in_mb", DATA_MB)
    reader, writer = RowReader(), RowWriter(root, totals, limit)
    rows = list[dict[str, Any]]()
    work.note("writing episodes")
    try:
        for k, clip in enumerate(clips):
            table, tasks = edit_rows(reader.read(clip), clip, totals)
            stats = find_stats(clip, table, is_new=edits.has_new_stats)
            rows.append(
                _keep(clip)
                | {
                    "episode_index": totals.n_episodes,
                    "tasks": tasks,
                    "length": len(table),
                    **writer.add(table),
                    "dataset_from_index": totals.n_frames,
                    "dataset_to_index": totals.n_frames + len(table),
                    **{
                        f"stats/{name}/{key}": value
                        for name, one in stats.items()
                        for key, value in one.items()
                    },
                }
            )
            totals.stats = merge([totals.stats, stats])
            totals.n_episodes += 1
            totals.n_frames += len(table)
            work.count(k + 1, len(clips), "episodes")
    finally:
        writer.close()
    return rows


def _keep(clip: Clip) -> dict[str, Any]:
    """Return columns of its row that an edit leaves, as an outcome."""
    places = ("stats/", "videos/", "data/", "meta/", "dataset_")
    return {
        name: value for name, value in clip.row.items() if not name.startswith(places)
    }


def _find_limit(info: Mapping[str, Any], key: str, usual: int) -> float:
    """Return the size of a file that a set asks for, [bytes]."""
    size = info.get(key)
    is_fit = isinstance(size, int | float) and 0 < size <= 10 * usual
    return float(size if is_fit and size else usual) * _MB


def _copy_videos(
    root: Path, clips: Sequence[Clip], name: str, totals: Totals
) -> list[dict[str, Any]]:
    info = clips[0].source.info

    def take() -> tuple[tuple[int, int], Path]:
        chunk, number = totals.take_file(name)
        place = VIDEO_PATH.format(video_key=name, chunk_index=chunk, file_index=number)
        return (chunk, number), root / place

    limit = _find_limit(info, "video_files_size_in_mb", VIDEO_MB)
    writer = FootageWriter(take, clips[0].source.fps, limit, LONGEST)
    try:
        places = writer.add([find_span(clip, name) for clip in clips])
    finally:
        writer.close()
    return [
        _describe(name, place, clip.n_frames / clip.source.fps)
        for place, clip in zip(places, clips, strict=True)
    ]


def find_span(clip: Clip, name: str) -> Span:
    """Return the part of a video, by its new name, that a clip shows.

    Raises:
        RecordingError: If the tables do not name it.
    """
    source = clip.source
    old = next(old for old, new in source.names.items() if new == name)
    path = find_file(source.root, source.info, "video", clip.row, old)
    try:
        begin = float(clip.row[f"videos/{old}/from_timestamp"])
    except (KeyError, TypeError, ValueError) as err:
        raise RecordingError(
            f"{source.root}: expected the beginning of {old} in episode "
            f"{clip.episode}, got {err!r}"
        ) from err
    first, end = clip.first / source.fps, clip.end / source.fps
    return Span(path, begin + first, begin + end, f"episode {clip.episode}")


def _describe(name: str, place: Place, length: float) -> dict[str, Any]:
    return {
        f"videos/{name}/chunk_index": place.file[0],
        f"videos/{name}/file_index": place.file[1],
        f"videos/{name}/from_timestamp": place.begin,
        f"videos/{name}/to_timestamp": place.begin + length,
    }


def _write_episodes(
    meta: Path,
    clips: Sequence[Clip],
    rows: Sequence[dict[str, Any]],
    totals: Totals,
) -> None:
    types = _read_types(clips)
    names = list(dict.fromkeys(name for row in rows for name in row))
    names += ["meta/episodes/chunk_index", "meta/episodes/file_index"]
    for first in range(0, len(rows), _EPISODES):
        chunk, number = totals.take_file("episodes")
        path = meta / EPISODES_PATH.format(chunk_index=chunk, file_index=number)
        path.parent.mkdir(parents=True, exist_ok=True)
        some = rows[first : first + _EPISODES]
        for row in some:
            row["meta/episodes/chunk_index"] = chunk
            row["meta/episodes/file_index"] = number
        whole = [{name: row.get(name) for name in names} for row in some]
        table = pa.Table.from_pylist(whole)
        for at, field in enumerate(table.schema):
            if field.name in types and field.type != types[field.name]:
                column = table[field.name].cast(types[field.name])
                table = table.set_column(at, field.name, column)
            elif not pa.types.is_null(field.type):
                types[field.name] = field.type
        pq.write_table(table, path)


def _read_types(clips: Sequence[Clip]) -> dict[str, pa.DataType]:
    """Return the types of the first source's columns by new names."""
    source = clips[0].source
    types = dict[str, pa.DataType]()
    for path in list_episode_files(source.root)[:1]:
        for field in pq.read_schema(path):
            kind, _, rest = field.name.partition("/")
            name, _, key = rest.rpartition("/")
            is_of_feature = kind in {"stats", "videos"} and name in source.names
            new = f"{kind}/{source.names[name]}/{key}" if is_of_feature else field.name
            types[new] = field.type
    return types


def _make_info(
    info: Mapping[str, Any], clips: Sequence[Clip], totals: Totals
) -> dict[str, Any]:
    features = copy.deepcopy(clips[0].source.features)
    has_videos = any(one["dtype"] == "video" for one in features.values())
    others = {clip.source.root: clip.source.features for clip in clips[1:]}
    for name, feature in features.items():
        told = [other[name].get("info") for other in others.values()]
        if isinstance(feature.get("info"), dict):
            feature["info"] = {
                key: value if all((i or {}).get(key) == value for i in told) else None
                for key, value in feature["info"].items()
            }
    return dict(info) | {
        "codebase_version": info.get("codebase_version", VERSION),
        "total_episodes": totals.n_episodes,
        "total_frames": totals.n_frames,
        "total_tasks": len(totals.tasks),
        "chunks_size": CHUNK,
        "splits": {"train": f"0:{totals.n_episodes}"},
        "data_path": DATA_PATH,
        "video_path": VIDEO_PATH if has_videos else None,
        "features": features,
    }


def _note_edits(root: Path, clips: Sequence[Clip], edits: Edits) -> None:
    roots = list(dict.fromkeys(clip.source.root for clip in clips))
    try:
        before = json.loads((roots[0] / "meta" / EDITS).read_text(encoding="utf-8"))[
            "edits"
        ]
    except (OSError, ValueError, KeyError, TypeError):
        before = []
    step = {"of": [one.resolve().name for one in roots]} | edits.describe()
    write_json(root / "meta" / EDITS, {"edits": [*before, step]})


def _copy_card(root: Path, clips: Sequence[Clip], totals: Totals) -> None:
    source = clips[0].source.root / "README.md"
    if not source.is_file():
        return
    text = source.read_text(encoding="utf-8", errors="replace")
    counts = f"{totals.n_episodes} episodes, {totals.n_frames} frames at"
    text = _COUNTED.sub(counts, text, count=1)
    text = text.rstrip() + "\n\nEdited: `meta/edits.json`.\n"
    (root / "README.md").write_text(text, encoding="utf-8")
