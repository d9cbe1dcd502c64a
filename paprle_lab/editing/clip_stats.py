"""Statistics of clips, kept or computed anew."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from importlib import import_module

import numpy as np
import pyarrow as pa

from paprle.recording.video.codec import Image
from paprle.recording.video.video_file import VideoFile
from paprle_lab.dataset.formats.lerobot_tables import find_file, is_depth
from paprle_lab.dataset.statistics import ImageStats, NumberStats, Stats
from paprle_lab.editing.clips import Clip

_RENUMBERED = ("episode_index", "index", "task_index")
_WHOLE = ("frame_index", *_RENUMBERED)
_NEEDED = {"min", "max", "mean", "std", "count"}
_MOST_IMAGES = 64  # chosen: spread over a clip; LeRobot looks at 100
_NUMBERS = ("float", "int", "uint", "bool")


def find_stats(clip: Clip, rows: pa.Table, *, is_new: bool) -> dict[str, Stats]:
    """Return a clip's statistics by feature; ``rows`` are as edited.

    Those of a whole episode are kept, except of indices, unless they are missing or
    new ones are asked for. Depths keep those of their episode.
    """
    kept = _read(clip)
    is_new = is_new or not clip.is_whole
    stats = dict[str, Stats]()
    for old, name in clip.source.names.items():
        feature = clip.source.info["features"][old]
        is_kept = name in kept and name not in _RENUMBERED
        if is_kept and (not is_new or is_depth(feature)):
            stats[name] = kept[name]
        elif feature["dtype"] in {"image", "video"}:
            if not is_depth(feature):
                stats |= _see(clip, old, rows)
        elif name in rows.column_names and feature["dtype"].startswith(_NUMBERS):
            stats[name] = _count(name, rows[name])
    return stats


def _read(clip: Clip) -> dict[str, Stats]:
    """Return the statistics of the whole episode by new names."""
    stats = dict[str, Stats]()
    names: Mapping[str, str] = clip.source.names
    for column, value in clip.row.items():
        parts = column.split("/")
        if column.startswith("stats/") and value is not None:
            name = "/".join(parts[1:-1])
            if name in names:
                stats.setdefault(names[name], {})[parts[-1]] = value
    return {name: one for name, one in stats.items() if one.keys() >= _NEEDED}


def _count(name: str, column: pa.ChunkedArray) -> Stats:
    values = np.asarray(column.to_pylist(), dtype=np.float64)
    counted = NumberStats()
    counted.add(values.reshape(len(values), -1))
    stats = counted.finish()
    if name in _WHOLE:
        stats |= {key: [int(x) for x in stats[key]] for key in ("min", "max")}
    return stats


def _see(clip: Clip, old: str, rows: pa.Table) -> dict[str, Stats]:
    name = clip.source.names[old]
    look, n = ImageStats(), 0
    for image in _list_images(clip, old, rows):
        look.add(image)
        n += 1
    return {name: look.finish()} if n else {}


def _list_images(clip: Clip, old: str, rows: pa.Table) -> Iterator[Image]:
    n = min(clip.n_frames, _MOST_IMAGES)
    frames = np.unique(np.linspace(0, clip.n_frames - 1, n).round().astype(int))
    if clip.source.info["features"][old]["dtype"] == "image":
        pictures = import_module("PIL.Image")
        column = rows[clip.source.names[old]]
        for k in frames.tolist():
            data = (column[k].as_py() or {}).get("bytes")
            if data:
                yield np.asarray(pictures.open(io.BytesIO(data)).convert("RGB"))
        return
    path = find_file(clip.source.root, clip.source.info, "video", clip.row, old)
    begin = float(clip.row[f"videos/{old}/from_timestamp"])
    video = VideoFile(path)
    try:
        for k in frames.tolist():
            image = video.find(begin + (clip.first + k) / clip.source.fps)
            if image is not None:
                yield image
    finally:
        video.close()
