"""Export of an episode to Rerun."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paprle.contracts.errors import ConfigError, MissingDependency
from paprle.contracts.types import Vec
from paprle.ipc.pictures import PictureKind
from paprle.recording.reader import Episode
from paprle.recording.robot import compute_poses, make_limbs
from paprle.recording.tracks import CameraTrack
from paprle.recording.video.pictures import Footage, StoredPicture
from paprle.recording.video.thumbnail_strip import needs_no_other

Stamps = npt.NDArray[np.int64]
_TIMELINE = "time"
_BATCH = 64  # chosen: pictures in memory at once
_SHOWS = ("DISPLAY", "WAYLAND_DISPLAY")


def show_in_rerun(path: Path) -> str:
    """Return a message on the opened Rerun file.

    Raises:
        RecordingError: If the episode cannot be read.
        MissingDependency: Without Rerun.
        ConfigError: If writing fails.
    """
    out = write_rerun(path)
    words = [sys.executable, "-m", "rerun", str(out)]
    if not any(os.environ.get(name) for name in _SHOWS):
        return f"{out}: no display here; open it with: rerun {out}"
    subprocess.Popen(words, start_new_session=True)
    return f"{out}: opened in Rerun"


def write_rerun(path: Path) -> Path:
    """Return the Rerun file written beside an episode.

    Raises:
        RecordingError: If the episode cannot be read.
        MissingDependency: Without Rerun.
        ConfigError: If writing fails.
    """
    episode = Episode.open(path)
    rr = _load()
    out = episode.path.with_suffix(".rrd")
    try:
        with tempfile.TemporaryDirectory(dir=out.parent) as folder:
            draft = Path(folder) / out.name
            stream = rr.RecordingStream("paprle", recording_id=str(out))
            stream.save(draft)
            _Writer(rr, stream, episode).write()
            stream.disconnect()
            draft.replace(out)
    except OSError as err:
        raise ConfigError(f"rerun: expected to write '{out}', got {err}") from err
    return out


def _load() -> Any:
    try:
        return importlib.import_module("rerun")
    except ImportError as err:
        raise MissingDependency(
            "rerun: expected the package 'rerun-sdk', got none; "
            "pip install 'paprle[rerun]'"
        ) from err


class _Writer:
    def __init__(self, rr: Any, stream: Any, episode: Episode) -> None:
        self._rr, self._stream, self._episode = rr, stream, episode
        stamps = [rows["stamp_ns"] for rows in (episode.ticks, episode.gate)]
        self._begin_ns = min((int(one[0]) for one in stamps if len(one)), default=0)

    def write(self) -> None:
        episode = self._episode
        for rows, field, kind in (
            (episode.ticks, "q_des", "requested"),
            (episode.gate, "q_cmd", "commanded"),
            (episode.gate, "q_meas", "measured"),
            (episode.gate, "tau_meas", "effort"),
        ):
            for k, name in enumerate(episode.robot_info.joint_names):
                values = rows[field][:, k]
                self._write_series(f"joints/{name}/{kind}", rows["stamp_ns"], values)
        self._write_poses()
        for event in episode.events:
            if "t_ns" in event:
                self._stream.set_time(
                    _TIMELINE, duration=(event["t_ns"] - self._begin_ns) * 1e-9
                )
                text = ", ".join(f"{key}: {event[key]}" for key in event)
                self._stream.log("events", self._rr.TextLog(text))
        footage = Footage(episode.path)
        for track in footage.list_tracks():
            self._write_pictures(footage, track)

    def _write_series(self, entity: str, stamps_ns: Stamps, values: Vec) -> None:
        is_there = np.isfinite(values)
        if is_there.any():
            columns = self._rr.Scalars.columns(scalars=values[is_there])
            self._send(entity, stamps_ns[is_there], columns)

    def _write_poses(self) -> None:
        episode = self._episode
        limbs = make_limbs(episode.robot_info, episode.urdf)
        for name, limb in limbs.items():
            measured = compute_poses(limb, limb.take(episode.gate["q_meas"].T).T)
            self._write_path(
                f"eefs/{name}/measured", episode.gate["stamp_ns"], measured
            )
            stamps_ns, asked = episode.target[name]
            self._write_path(f"eefs/{name}/requested", stamps_ns, asked)

    def _write_path(self, entity: str, stamps_ns: Stamps, poses: Vec) -> None:
        is_there = np.isfinite(poses).all(axis=1)
        if is_there.any():
            rows = poses[is_there]
            columns = self._rr.Transform3D.columns(
                translation=rows[:, :3], quaternion=rows[:, 3:]
            )
            self._send(entity, stamps_ns[is_there], columns)
            path = self._rr.LineStrips3D([rows[:, :3]])
            self._stream.log(f"{entity}_path", path, static=True)

    def _write_pictures(self, footage: Footage, track: CameraTrack) -> None:
        rr, is_depth = self._rr, track.kind is PictureKind.DEPTH
        entity = f"cameras/{track.camera}{'_depth' if is_depth else ''}"
        coded = footage.read_coded(track.camera, depth=is_depth)
        if track.format == "h264":
            codec = rr.VideoStream(codec=rr.VideoCodec.H264)
            self._stream.log(entity, codec, static=True)
        for some in _batch(coded):
            data = [one.data for one in some]
            if track.format == "h264":
                keys = [needs_no_other(one) for one in some]
                columns = rr.VideoStream.columns(sample=data, is_keyframe=keys)
            else:
                kinds = [f"image/{one.format}" for one in some]
                columns = rr.EncodedImage.columns(blob=data, media_type=kinds)
            self._send(entity, np.array([one.stamp_ns for one in some]), columns)

    def _send(self, entity: str, stamps_ns: Stamps, columns: Any) -> None:
        t = (stamps_ns - self._begin_ns) * 1e-9
        times = self._rr.TimeColumn(_TIMELINE, duration=t)
        self._stream.send_columns(entity, indexes=[times], columns=columns)


def _batch(coded: Iterator[StoredPicture]) -> Iterator[list[StoredPicture]]:
    while some := list(islice(coded, _BATCH)):
        yield some
