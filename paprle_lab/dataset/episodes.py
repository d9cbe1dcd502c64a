"""Choice of recordings for a data set."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paprle.contracts.errors import ConfigError, RecordingError
from paprle.contracts.kit.work import Work
from paprle.ipc.records import Stream
from paprle.recording.manifest import read_manifest
from paprle.recording.notes import Note, list_notes
from paprle.recording.reading import Block, Reading
from paprle.recording.shortage import Shortage, list_shortages
from paprle.recording.tracks import list_tracks
from paprle_lab.dataset.camera_calibration import keep_common
from paprle_lab.dataset.film import ImageChoice

_RATE = 30  # [Hz] chosen: LeRobot's own, where no camera says another
_NAME = re.compile(r"\w[\w-]{0,99}")  # it becomes the name of a file
_LARGEST_RATE = 1000  # [Hz] chosen: no gate is quicker


@dataclass(frozen=True)
class SourceRecording:
    """A recording.

    Attributes:
        outcome: ``success``, ``failure`` or empty.
        duration: [s]; 0: unknown.
        kept: Times (begin, end) since its first record, [s].
        marks: Subtasks and mistakes.
        short: Causes that kept the robot from its leader.
    """

    path: Path
    sha256: str
    task: str
    outcome: str
    duration: float
    short: tuple[Shortage, ...] = ()
    kept: tuple[float, float] = (0.0, math.inf)
    marks: tuple[Note, ...] = ()


@dataclass
class RecordingProgress:
    """Progress over several recordings."""

    work: Work
    sources: Sequence[SourceRecording]
    _before_s: float = 0.0

    def each(self) -> Iterator[SourceRecording]:
        """Yield the recordings in order."""
        for source in self.sources:
            yield source
            self._before_s += source.duration

    def count(self, seconds: float) -> None:
        """Report the present recording's progress, [s]."""
        all_s = sum(source.duration for source in self.sources)
        done = min(self._before_s + seconds, all_s)
        self.work.count(done, all_s, "s of recordings")


@dataclass(frozen=True)
class Selection:
    """Recordings and frames that become part of a data set.

    Attributes:
        keep_undriven: Frames without a leader, too.
        refused: Recordings to leave out, with the reason.
        choice: Picture of a frame.
    """

    keep_undriven: bool = False
    refused: Mapping[Path, str] = field(default_factory=dict)
    choice: ImageChoice = "newest"


ALL = Selection()
"""All recordings that were kept, without frames that no leader drove."""


class Robot(NamedTuple):
    """The robot of all recordings."""

    header: Mapping[str, Any]
    urdf: str
    path: Path
    urdf_sha256: str


class LeftOut(NamedTuple):
    """A recording left out; ``sha256`` may be empty."""

    path: Path
    reason: str
    sha256: str = ""


def find_recordings(places: Sequence[Path]) -> list[Path]:
    """Return recordings in places and below.

    Raises:
        ConfigError: If a place holds none.
    """
    found: list[Path] = []
    for place in places:
        inside = sorted(place.rglob("episode_*.mcap")) if place.is_dir() else []
        inside = [place] if place.is_file() else inside
        if not inside:
            raise ConfigError(
                f"dataset: expected episode_*.mcap in '{place}', got none; record with "
                "record.dir=…"
            )
        found += inside
    return list(dict.fromkeys(path.resolve() for path in found))


@dataclass(frozen=True)
class EpisodeChoice:
    """Sorted recordings."""

    sources: tuple[SourceRecording, ...]
    left_out: tuple[LeftOut, ...]
    robot: Robot | None


def choose(paths: Sequence[Path]) -> EpisodeChoice:
    """Return recordings sorted by use.

    Raises:
        ConfigError: If used robots or cameras differ.
    """
    sources: list[SourceRecording] = []
    left_out: list[LeftOut] = []
    robot: Robot | None = None
    for path in paths:
        try:
            found = _look_at(path)
        except RecordingError as err:
            found = LeftOut(path, str(err))
        if isinstance(found, LeftOut):
            left_out.append(found)
            continue
        source, own = found
        robot = robot or own
        check_same(robot, own)
        robot = robot._replace(header=keep_common(robot.header, own.header))
        sources.append(source)
    return EpisodeChoice(tuple(sources), tuple(left_out), robot)


def _look_at(path: Path) -> tuple[SourceRecording, Robot] | LeftOut:
    manifest = read_manifest(path)
    if manifest is None:
        reason = "it was never finished; 'paprle recover' makes a file of it"
        return LeftOut(path, reason)
    sha256 = str(manifest.get("sha256", ""))
    if manifest.get("discarded"):
        return LeftOut(path, "the operator discarded it", sha256)
    if manifest.get("kept") is False:
        return LeftOut(path, f"it broke off: {manifest['end_reason']}", sha256)
    reading = Reading(path)
    task = str(manifest.get("task") or reading.header.get("task") or "")
    outcome = str(manifest.get("outcome") or "")
    seconds = manifest.get("duration")
    if not (isinstance(seconds, int | float) and 0.0 <= seconds < math.inf):
        seconds = 0.0
    short = tuple(list_shortages(manifest))
    kept = _find_kept(path, manifest)
    source = SourceRecording(
        path, sha256, task, outcome, float(seconds), short, kept,
        tuple(note for note in list_notes(manifest) if note.kind),
    )  # fmt: skip
    for name in reading.header.get("cameras", {}):
        if not _NAME.fullmatch(name):
            raise RecordingError(
                f"{path}: expected a camera's name of letters, digits, _ and -, got "
                f"{name[:40]!r}"
            )
    urdf_sha256 = hashlib.sha256(reading.urdf.encode()).hexdigest()
    return source, Robot(reading.header, reading.urdf, path, urdf_sha256)


def _find_kept(path: Path, manifest: Mapping[str, Any]) -> tuple[float, float]:
    trim = manifest.get("trim")
    if trim is None:
        return 0.0, math.inf
    try:
        begin, end = (math.inf if t is None else float(t) for t in trim)
    except (TypeError, ValueError) as err:
        raise RecordingError(
            f"{path}: expected a trim of two times, got {err}"
        ) from err
    if not 0.0 <= begin < end:
        raise RecordingError(f"{path}: expected a trim of two times, got {trim}")
    return begin, end


def check_same(first: Robot, other: Robot) -> None:
    """Refuse different robots or cameras.

    Raises:
        ConfigError: If they differ.
    """
    robots = (first.header["robot"], other.header["robot"])
    keys = ("name", "joint_names", "limbs")
    different = [f"robot's {key}" for key in keys if robots[0][key] != robots[1][key]]
    if first.urdf_sha256 != other.urdf_sha256:
        different.append("robot's URDF")
    sizes = [_describe_cameras(one.header) for one in (first, other)]
    if sizes[0] != sizes[1]:
        different.append(f"cameras ({sizes[0] or 'none'}; {sizes[1] or 'none'})")
    if different:
        raise ConfigError(
            f"dataset: expected episodes of one robot with the same cameras, got "
            f"others: {', '.join(different)} of {first.path} and {other.path}; make a "
            "data set of each"
        )


def _describe_cameras(header: Mapping[str, Any]) -> str:
    filmed = {
        name: camera
        for name, camera in sorted(header.get("cameras", {}).items())
        if camera["video"] != "none"
    }
    return ", ".join(f"{n} {c['width']} × {c['height']}" for n, c in filmed.items())


def choose_rate(robot: Robot) -> int:
    """Return the slowest camera's rate, [Hz]."""
    cameras = robot.header.get("cameras", {})
    rates = [cameras[track.camera]["fps"] for track in list_tracks(cameras)]
    return min(max(1, round(min(rates, default=_RATE))), _LARGEST_RATE)


def find_sizes(robot: Robot) -> dict[str, tuple[int, int]]:
    """Return height and width of colour images, [px]."""
    cameras = robot.header.get("cameras", {})
    return {
        track.camera: (cameras[track.camera]["height"], cameras[track.camera]["width"])
        for track in list_tracks(cameras)
        if track.format != "png"
    }


def list_exact(robot: Robot) -> list[str]:
    """Return numeric images: depth, segmentation."""
    tracks = list_tracks(robot.header.get("cameras", {}))
    return sorted({t.topic.rpartition("/")[2] for t in tracks if t.format == "png"})


def measures(source: SourceRecording, field: str) -> bool:
    """Return whether ``tau_meas`` or ``objects`` is always measured."""
    for block in _read_gate(source.path):
        taken = block.records[np.isfinite(block.records["q_meas"]).all(axis=1)]
        if len(taken):
            return bool(np.isfinite(taken[field]).all())
    return False


def find_objects(sources: Sequence[SourceRecording]) -> list[str]:
    """Return objects common to all recordings."""
    names = [Reading(source.path).header.get("objects", []) for source in sources]
    is_same = all(one == names[0] for one in names)
    tells = is_same and all(measures(source, "objects") for source in sources)
    return list(names[0]) if tells else []


def _read_gate(path: Path) -> Iterator[Block]:
    for item in Reading(path):
        if isinstance(item, Block) and item.stream == Stream.GATE:
            yield item
