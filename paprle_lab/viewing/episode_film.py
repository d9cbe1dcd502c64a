"""Own episode as a film, in constant memory."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.recfunctions import repack_fields

from paprle.contracts.errors import RecordingError
from paprle.contracts.film import Film, Signal, ignore_share
from paprle.contracts.images import Frame
from paprle.contracts.proximity import FindNear
from paprle.contracts.scene_body import SceneBody
from paprle.contracts.session_view import SessionView
from paprle.contracts.types import RobotInfo, Vec
from paprle.hosts.views.proximity import NearBodies
from paprle.hosts.views.scene_bodies import list_scene_bodies
from paprle.hosts.views.view import make_view
from paprle.ipc.pictures import PictureKind
from paprle.ipc.records import Stream
from paprle.recording.header import robot_from_dict
from paprle.recording.messages.channels import Rows
from paprle.recording.reader import find_episode
from paprle.recording.reading import Block, Reading
from paprle.recording.scene import make_collision_model, read_scene
from paprle.recording.video.frame_cache import describe_decoded, read_reels
from paprle.recording.video.pictures import Footage
from paprle_lab.evaluation.store import Thinned
from paprle_lab.viewing.moments import MomentLog

_N_VIEWS = 60_000  # chosen: whole records, at least half of them: 8 a second of an hour
_N_POINTS = 400_000  # chosen: of a signal; a quarter of an hour at 400 Hz whole
_UNKNOWN = 0.0  # [m] of recordings from before clearances were kept
_PATIENCE = 0.3  # [s] chosen: the page asks again; others wait for this film meanwhile

_SIGNALS = (
    (Stream.TICK, "q_des", "requested"),
    (Stream.GATE, "q_cmd", "commanded"),
    (Stream.GATE, "q_meas", "measured"),
)


class _Column(NamedTuple):
    """A signal's place; ``joint`` may be None."""

    stream: Stream
    field: str
    joint: int | None


class EpisodeFilm(Film):
    """Views, images and signals of a recorded episode."""

    def __init__(
        self, path: Path, report: Callable[[float], None] = ignore_share
    ) -> None:
        """Read an MCAP file, by its manifest, or from a folder with one episode.

        ``report`` gets the share read, 0 … 1. Pictures are read afterwards.

        Raises:
            RecordingError: If it is unreadable or empty.
            MissingDependency: If PyAV is needed and missing.
        """
        self.path = find_episode(path)
        reading = Reading(self.path)
        self._layout = reading.layout
        self.config, self.urdf = reading.config, reading.urdf
        self.name = self.path.stem
        self.robot_info = robot = robot_from_dict(reading.header["robot"])
        self._columns = dict(_list_columns(robot))
        self.signals = tuple(self._columns)
        rows, points, log = self._read(reading, report)
        if not all(len(one) for one in rows.values()):
            raise RecordingError(
                f"{self.path}: expected the records of session and gate, got "
                f"{len(rows[Stream.TICK])} and {len(rows[Stream.GATE])}"
            )
        self._rows, self._points = rows, points
        stamps = [one["stamp_ns"] for one in self._points.values()]
        self._begin_ns = int(max(one[0] for one in stamps))
        self.length = (
            max(int(max(one[-1] for one in stamps)) - self._begin_ns, 0) * 1e-9
        )
        problem = reading.find_problem()
        self.notes = (problem,) if problem else ()
        self.marks = log.list_marks(self._begin_ns, reading.manifest or {})
        self._folder = tempfile.TemporaryDirectory()
        self.robot = _find_urdf(robot, self.urdf, Path(self._folder.name))
        footage = Footage(self.path)
        tracks = [
            one for one in footage.list_tracks() if one.kind is PictureKind.PICTURE
        ]
        self.cameras = {
            one.camera: describe_decoded(footage.cameras[one.camera]) for one in tracks
        }
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="pictures")
        self._has_ended = threading.Event()
        self._reels = self._reader.submit(
            read_reels, footage, list(self.cameras), self._has_ended.is_set
        )

    def read_signal(self, k: int) -> tuple[Vec, Vec]:  # noqa: D102 - as ``Film``
        column = self._columns[self.signals[k]]
        rows = self._points[column.stream]
        values = rows[column.field]
        if column.joint is not None:
            values = values[:, column.joint]
        t = (rows["stamp_ns"] - self._begin_ns) * 1e-9
        return t, values.astype(np.float64)

    def look(self, t: float) -> SessionView:  # noqa: D102 - as ``Film``
        t_ns = self._begin_ns + round(t * 1e9)
        tick, status = (self._find_row(stream, t_ns) for stream in self._rows)
        return make_view(self._layout, tick, status, t_ns)

    def see(self, camera: str, t: float) -> Frame | None:  # noqa: D102 - as ``Film``
        try:
            reel = self._reels.result(_PATIENCE).get(camera)
        except (RecordingError, futures.TimeoutError):
            return None  # a broken picture hides the rest, or they are not read yet
        return None if reel is None else reel.find(self._begin_ns + round(t * 1e9))

    def find_near(self) -> FindNear:
        """Return the recorded finder of near bodies."""
        gate = self.config.get("gate") or {}
        kept = (
            float(gate.get("clearance_self", _UNKNOWN)),
            float(gate.get("clearance_scene", _UNKNOWN)),
        )
        home = self.robot_info.home
        return NearBodies(lambda: make_collision_model(self), kept, home).find

    def list_bodies(self) -> Sequence[SceneBody]:
        """Return the recorded scene, or a simulated world's objects."""
        return list_scene_bodies(read_scene(self))

    def close(self) -> None:  # noqa: D102 - as ``Film``
        self._has_ended.set()
        self._reader.shutdown()
        if self._reels.exception() is None:
            for reel in self._reels.result().values():
                reel.close()
        self._folder.cleanup()

    def _read(
        self, reading: Reading, report: Callable[[float], None]
    ) -> tuple[dict[Stream, Rows], dict[Stream, Rows], MomentLog]:
        layout, log = self._layout, MomentLog()
        rows, points, names = {}, {}, {}
        for stream, dtype in ((Stream.TICK, layout.tick), (Stream.GATE, layout.status)):
            used = {c.field for c in self._columns.values() if c.stream == stream}
            names[stream] = ["stamp_ns", *sorted(used)]
            rows[stream] = Thinned(dtype, _N_VIEWS)
            packed = repack_fields(np.zeros(0, dtype)[names[stream]])
            points[stream] = Thinned(packed.dtype, _N_POINTS)
        for item in reading:
            if isinstance(item, Block):
                stream = item.stream
                rows[stream].add(item.records)
                points[stream].add(repack_fields(item.records[names[stream]]))
            log.take(item)
            report(reading.share)
        kept = {s: one.rows for s, one in rows.items()}
        return kept, {s: one.rows for s, one in points.items()}, log

    def _find_row(self, stream: Stream, t_ns: int) -> Any:
        rows = self._rows[stream]
        k = int(np.searchsorted(rows["stamp_ns"], t_ns, side="right")) - 1
        return rows[max(k, 0)]


def _list_columns(robot: RobotInfo) -> Iterator[tuple[Signal, _Column]]:
    for k, joint in enumerate(robot.joint_names):
        unit = "m" if joint in robot.sliding else "rad"
        for stream, field, name in _SIGNALS:
            yield Signal(joint, name, unit), _Column(stream, field, k)
    for k, joint in enumerate(robot.joint_names):
        is_sliding = joint in robot.sliding
        chart, unit = ("forces", "N") if is_sliding else ("torques", "N·m")
        yield Signal(chart, joint, unit), _Column(Stream.GATE, "tau_meas", k)
    nearest = Signal("smallest clearance", "known to the gate", "m")
    yield nearest, _Column(Stream.GATE, "clearance", None)


def _find_urdf(robot: RobotInfo, urdf: str, folder: Path) -> RobotInfo:
    """Return the robot with its URDF, if still the recorded one."""
    try:
        if robot.urdf_path.read_text(encoding="utf-8") == urdf:
            return robot
    except (OSError, UnicodeDecodeError):
        pass
    path = folder / "recorded.urdf"
    path.write_text(urdf, encoding="utf-8")
    return replace(robot, urdf_path=path)
