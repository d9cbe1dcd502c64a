"""LeRobot data sets, version 3, as films.

Layout: ``huggingface/lerobot``, ``docs/source/lerobot-dataset-v3.mdx``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from paprle.contracts.errors import RecordingError
from paprle.contracts.film import Entry, Film, Mark, RecordingList, Signal, ignore_share
from paprle.contracts.images import CameraInfo, Encoding, Frame
from paprle.contracts.types import Vec
from paprle.recording.video.video_file import VideoFile
from paprle_lab.dataset.formats.lerobot_tables import (
    INDICES,
    find_file,
    find_size,
    find_unit,
    flatten_column,
    name_dimensions,
    read_episodes,
    read_info,
    read_rows,
)
from paprle_lab.dataset.formats.marks import EVENTS, PERSISTENT
from paprle_lab.viewing.plain_camera import make_plain_camera

_PAIRED = {"action": "action", "observation.state": "state"}
"""Features drawn beside each other, by joint."""
_MOST_DIMS = 64  # chosen: a hand and two arms; a flattened image is no signal
_CAMERA = "observation.images."


class LeRobotList(RecordingList):
    """Episodes of a data set; only its tables are read."""

    def __init__(self, root: Path) -> None:
        """Read the tables.

        Raises:
            RecordingError: If unreadable or of another version.
        """
        self.title = root.resolve().name
        self._root = root
        self._info = read_info(root)
        self._rows = read_episodes(root)
        fps = self._info["fps"]
        self.entries = [
            Entry(
                name=f"episode {row['episode_index']}",
                seconds=row["length"] / fps,
                task=", ".join(map(str, row.get("tasks") or ())),
                outcome=str(row.get("outcome") or ""),
            )
            for row in self._rows
        ]

    def open(self, k: int, report: Callable[[float], None] = ignore_share) -> Film:  # noqa: ARG002, D102 - as ``RecordingList``
        return LeRobotFilm(self._root, self._info, self._rows[k])

    def find_still(self, k: int) -> tuple[Frame, CameraInfo] | None:
        """Return the middle image of the first camera."""
        film = LeRobotFilm(self._root, self._info, self._rows[k])
        try:
            for name, info in film.cameras.items():
                frame = film.see(name, film.length / 2)
                if frame is not None:
                    return frame, info
            return None
        finally:
            film.close()


class _Reel(NamedTuple):
    """Images of a camera: a video from a time on, or coded images."""

    video: VideoFile | None
    begin: float
    images: Sequence[bytes]


class LeRobotFilm(Film):
    """One episode of a data set, without robot."""

    def __init__(
        self, root: Path, info: Mapping[str, Any], row: Mapping[str, Any]
    ) -> None:
        """Read an episode by its row in the table.

        Raises:
            RecordingError: If files are missing or damaged.
            MissingDependency: If PyAV is needed and missing.
        """
        self.name = f"episode {row['episode_index']}"
        self._fps = float(info["fps"])
        features = info["features"]
        place = find_file(root, info, "data", row)
        wanted = [name for name in features if features[name]["dtype"] != "video"]
        table = read_rows(place, int(row["episode_index"]), wanted)
        n = len(table)
        self._t = np.arange(n) / self._fps
        if "timestamp" in table.column_names:
            self._t = table["timestamp"].to_numpy().astype(np.float64)
            self._t = self._t - (self._t[0] if n else 0.0)
        self.length = float(self._t[-1]) if n else 0.0
        series = dict(_list_series(table, features))
        self.signals, self._values = tuple(series), list(series.values())
        marks = _list_marks(table, self._t)
        self.marks = tuple(sorted(marks, key=lambda mark: mark.t))
        self._reels = dict[str, _Reel]()
        cameras = dict[str, CameraInfo]()
        notes = list[str]()
        try:
            for key, feature in features.items():
                if feature["dtype"] in {"video", "image"}:
                    name = key.removeprefix(_CAMERA)
                    try:
                        reel = _open_reel(root, info, row, key, table)
                        cameras[name] = self._describe(reel, feature)
                    except RecordingError as err:
                        notes.append(str(err))
                        continue
                    self._reels[name] = reel
        except BaseException:
            self.close()
            raise
        self.cameras, self.notes = cameras, tuple(notes)

    def read_signal(self, k: int) -> tuple[Vec, Vec]:  # noqa: D102 - as ``Film``
        return self._t, self._values[k]

    def see(self, camera: str, t: float) -> Frame | None:  # noqa: D102 - as ``Film``
        reel = self._reels[camera]
        k = int(np.searchsorted(self._t, t + 0.25 / self._fps, side="right")) - 1
        stamp_ns = round(t * 1e9)
        if reel.video is None:
            return (
                Frame(stamp_ns, reel.images[k]) if 0 <= k < len(reel.images) else None
            )
        image = reel.video.find(reel.begin + t)
        return None if image is None else Frame(stamp_ns, image.tobytes())

    def close(self) -> None:  # noqa: D102 - as ``Film``
        for reel in self._reels.values():
            if reel.video is not None:
                reel.video.close()

    def _describe(self, reel: _Reel, feature: Mapping[str, Any]) -> CameraInfo:
        encoding: Encoding = "rgb8"
        if reel.video is not None:
            width, height = reel.video.size
        else:
            first = reel.images[0] if reel.images else b""
            encoding = "jpeg" if first.startswith(b"\xff\xd8") else "png"
            height, width = find_size(feature)
        return make_plain_camera(width, height, encoding, fps=self._fps)


def _list_series(
    table: pa.Table, features: Mapping[str, Any]
) -> Iterator[tuple[Signal, Vec]]:
    for key in table.column_names:
        feature = features[key]
        if key in INDICES or feature["dtype"] in {"string", "image"}:
            continue
        values = flatten_column(table[key])
        if values is None or values.shape[1] > _MOST_DIMS:
            continue
        names = name_dimensions(feature.get("names"), values.shape[1])
        for k, name in enumerate(names):
            unit = find_unit(name)
            if key in _PAIRED and len(names) > 1:
                yield Signal(name, _PAIRED[key], unit), values[:, k]
            else:
                shown = name if len(names) > 1 else "value"
                yield Signal(key, shown, unit), values[:, k]


def _list_marks(table: pa.Table, t: Vec) -> Iterator[Mark]:
    for key, text in (("next.success", "success"), ("next.done", "done")):
        if key in table.column_names:
            rows = flatten_column(table[key])
            if rows is not None and rows.any():
                yield Mark(float(t[int(np.argmax(rows[:, 0] > 0))]), "event", text)
    for told in _list_told(table, PERSISTENT)[:1]:
        for one in told:
            text = f"{one.get('style') or 'language'}: {one.get('content') or ''}"
            yield Mark(float(one.get("timestamp") or 0.0), "note", text)
    for k, told in enumerate(_list_told(table, EVENTS)):
        for one in told:
            yield Mark(float(t[k]), "note", str(one.get("content") or ""))


def _list_told(table: pa.Table, name: str) -> list[list[Mapping[str, Any]]]:
    """Return the entries of a language column by row."""
    if name not in table.column_names:
        return []
    rows = [row or [] for row in table[name].to_pylist()]
    return [[one for one in row if isinstance(one, Mapping)] for row in rows]


def _open_reel(
    root: Path,
    info: Mapping[str, Any],
    row: Mapping[str, Any],
    key: str,
    table: pa.Table,
) -> _Reel:
    if info["features"][key]["dtype"] == "image":
        if key not in table.column_names:
            raise RecordingError(f"{root}: expected a column {key}, got none")
        images = [
            bytes((one or {}).get("bytes") or b"") for one in table[key].to_pylist()
        ]
        return _Reel(None, 0.0, images)
    try:
        begin = float(row[f"videos/{key}/from_timestamp"])
    except (LookupError, TypeError, ValueError) as err:
        raise RecordingError(
            f"{root}: expected the place of {key}, got {err!r}"
        ) from err
    return _Reel(VideoFile(find_file(root, info, "video", row, key)), begin, ())
