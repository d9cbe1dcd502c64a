"""Episodes of anybody's LeRobot data set as series."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from paprle.contracts.errors import RecordingError
from paprle.contracts.kit.work import Work
from paprle.contracts.types import Vec
from paprle.recording.video.codec import Decoder, Image
from paprle.recording.video.video_file import VideoFile
from paprle.robot.arrays import Bools
from paprle_lab.dataset.formats.lerobot_tables import (
    find_file,
    find_size,
    flatten_column,
    is_depth,
    name_dimensions,
    read_episodes,
    read_info,
    read_rows,
)
from paprle_lab.scoring.glimpses import Watch, choose_times
from paprle_lab.scoring.read_recordings import LeftOut
from paprle_lab.scoring.series import NO_TRACK, EpisodeSeries, Glimpses, Track

_ACTIONS = ("action", "actions")
_STATES = ("observation.state", "state", "observation.qpos")
_TIMES = ("timestamp", "frame_index", "next.success", "driven")
_JPEG = b"\xff\xd8"  # spec: ITU-T T.81, a JPEG begins so
_MOST = 128  # chosen: columns; two arms with hands, and no flattened image
_FEWEST = 3  # chosen: rows; of fewer nothing is known


def read_lerobot(
    root: Path, left_out: LeftOut, work: Work, *, has_images: bool = True
) -> Iterator[EpisodeSeries]:
    """Yield the episodes of a data set; those left out are added with the reason.

    Raises:
        RecordingError: If its tables are unreadable.
    """
    info, rows = read_info(root), read_episodes(root)
    work.note(f"reading {root.name}")
    for k, row in enumerate(rows):
        work.count(k, len(rows), "episodes")
        try:
            yield _read_episode(root, info, row, has_images=has_images)
        except RecordingError as err:
            left_out.append((root / f"episode {row['episode_index']}", str(err)))
    work.count(len(rows), len(rows), "episodes")


def _read_episode(
    root: Path, info: Mapping[str, Any], row: Mapping[str, Any], *, has_images: bool
) -> EpisodeSeries:
    number, fps = int(row["episode_index"]), float(info["fps"])
    place = find_file(root, info, "data", row)
    table = read_rows(place, number, (*_ACTIONS, *_STATES, *_TIMES))
    if len(table) < _FEWEST:
        raise RecordingError(f"expected rows, got {len(table)}")
    clock = _read_column(table, "timestamp")
    is_clock = len(clock) > 0 and bool(np.isfinite(clock).all())
    t = clock - clock[0] if is_clock else np.arange(len(table)) / fps
    driven = flatten_column(table["driven"]) if "driven" in table.column_names else None
    is_driven: Bools = np.ones(len(table), np.bool_)
    if driven is not None:
        is_driven = np.asarray((driven != 0.0).any(axis=1))
    cameras = _look(root, info, row, t) if has_images else {}
    return EpisodeSeries(
        name=f"episode {number}",
        path=root,
        task=", ".join(map(str, row.get("tasks") or ())),
        outcome=_find_outcome(row, table),
        fps=fps,
        t=t,
        action=_read_track(table, info, _ACTIONS),
        state=_read_track(table, info, _STATES),
        driven=is_driven,
        clock=clock if is_clock else np.zeros(0),
        frames=_read_column(table, "frame_index"),
        cameras=cameras,
        film_s=dict(_list_films(info, row)),
    )


def _read_column(table: pa.Table, name: str) -> Vec:
    values = flatten_column(table[name]) if name in table.column_names else None
    return np.zeros(0) if values is None else values[:, 0]


def _read_track(
    table: pa.Table, info: Mapping[str, Any], names: tuple[str, ...]
) -> Track:
    for name in names:
        if name not in table.column_names:
            continue
        values = flatten_column(table[name])
        if values is None or not 0 < values.shape[1] <= _MOST:
            continue
        if not np.isfinite(values).all():
            raise RecordingError(f"{name}: expected numbers, got NaN or infinity")
        given = info["features"].get(name, {}).get("names")
        return Track(tuple(name_dimensions(given, values.shape[1])), values)
    return NO_TRACK


def _find_outcome(row: Mapping[str, Any], table: pa.Table) -> str:
    told = row.get("outcome")
    if told in {"success", "failure"}:
        return str(told)
    told = row.get("success")
    if told is None:
        values = _read_column(table, "next.success")
        told = bool(values.any()) if len(values) else None
    return "" if told is None else "success" if told else "failure"


def _list_films(
    info: Mapping[str, Any], row: Mapping[str, Any]
) -> Iterator[tuple[str, float]]:
    for key in info["features"]:
        ends = [row.get(f"videos/{key}/{end}_timestamp") for end in ("from", "to")]
        begin, end = (float(x) if isinstance(x, int | float) else None for x in ends)
        if begin is not None and end is not None:
            yield key.removeprefix("observation.images."), end - begin


def _look(
    root: Path, info: Mapping[str, Any], row: Mapping[str, Any], t: Vec
) -> dict[str, Glimpses]:
    found = dict[str, Glimpses]()
    for key, feature in info["features"].items():
        if is_depth(feature):
            continue
        name = key.removeprefix("observation.images.")
        if feature["dtype"] == "video":
            found[name] = _look_at_video(root, info, row, key, float(t[-1]))
        elif feature["dtype"] == "image":
            found[name] = _look_at_images(root, info, row, key, t)
    return found


def _look_at_video(
    root: Path,
    info: Mapping[str, Any],
    row: Mapping[str, Any],
    key: str,
    seconds: float,
) -> Glimpses:
    watch, times = Watch(), choose_times(seconds)
    begin = row.get(f"videos/{key}/from_timestamp")
    try:
        video = VideoFile(find_file(root, info, "video", row, key))
    except RecordingError:
        return Glimpses(np.zeros(0), np.zeros(0), 1.0)
    try:
        for t in times:
            watch.add(float(t), video.find(float(begin or 0.0) + float(t)))
    finally:
        video.close()
    return watch.finish()


def _look_at_images(
    root: Path, info: Mapping[str, Any], row: Mapping[str, Any], key: str, t: Vec
) -> Glimpses:
    table = read_rows(
        find_file(root, info, "data", row), int(row["episode_index"]), [key]
    )
    watch, size = Watch(), find_size(info["features"][key])
    if key not in table.column_names:
        return Glimpses(np.zeros(0), np.zeros(0), 1.0)
    for time in choose_times(float(t[-1])):
        k = int(np.abs(t - time).argmin())
        watch.add(float(t[k]), _decode(table[key][k].as_py(), size))
    return watch.finish()


def _decode(cell: object, size: tuple[int, int]) -> Image | None:
    """Return the image of a cell, of a size (height, width) [px]."""
    data = cell.get("bytes") if isinstance(cell, Mapping) else None
    if not data:
        return None
    form = "jpeg" if data.startswith(_JPEG) else "png"
    return Decoder(form, size[::-1]).decode(data)
