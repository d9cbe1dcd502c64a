"""Reading of an episode's untrusted pictures."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rosbags.serde import SerdeError

from paprle.contracts.errors import RecordingError
from paprle.contracts.images import CameraInfo
from paprle.ipc.pictures import PictureKind
from paprle.recording.header_check import check_cameras
from paprle.recording.mcap.scan import (
    Attachment,
    Chunk,
    Messages,
    Metadata,
    Scanner,
    Topic,
)
from paprle.recording.messages.types import decode
from paprle.recording.tracks import CameraTrack, camera_from_dict, list_tracks
from paprle.recording.video.codec import Decoder, Image

_HEADER = "header.json"
_LARGEST = 4 << 20  # [bytes] chosen: of a header, as in ``reading``
_NS = 1_000_000_000
_BROKEN = (SerdeError, ValueError, IndexError, UnicodeDecodeError, MemoryError)


class StoredPicture(NamedTuple):
    """Picture in the file: h264, jpeg or png, exposed at monotonic ``stamp_ns``."""

    stamp_ns: int
    data: bytes
    format: str


class RecordedPicture(NamedTuple):
    """Decoded picture, exposed at monotonic ``stamp_ns``.

    Attributes:
        image: RGB, (height, width, 3), or depth, (height, width), in counts of
            ``CameraInfo.depth_unit``, 0: unknown. None: broken.
    """

    stamp_ns: int
    image: Image | None


class Footage:
    """Pictures of an episode, with one chunk in memory."""

    def __init__(self, path: Path) -> None:
        """Read the cameras of an MCAP file.

        Raises:
            RecordingError: If it is no readable recording.
        """
        self.path = path
        header = _read_header(path)
        settings = header.get("cameras", {})
        if not isinstance(settings, dict):
            raise RecordingError(f"{path}: expected cameras by name in {_HEADER}")
        check_cameras(settings, str(path))
        self.settings: Mapping[str, Mapping[str, Any]] = settings
        self.cameras: Mapping[str, CameraInfo] = {
            name: camera_from_dict(values) for name, values in settings.items()
        }
        tracks = list_tracks(settings)
        self._tracks = {(track.camera, track.kind): track for track in tracks}

    def list_tracks(self) -> tuple[CameraTrack, ...]:
        """Return the tracks of pictures and depth."""
        return tuple(self._tracks.values())

    def read_coded(
        self, camera: str, *, depth: bool = False
    ) -> Iterator[StoredPicture]:
        """Yield a camera's coded pictures or depth.

        Raises:
            RecordingError: If it has none.
        """
        for _, coded in self._read([self._find_track(camera, depth=depth)]):
            yield coded

    def read_all_coded(
        self, cameras: Sequence[str]
    ) -> Iterator[tuple[str, StoredPicture]]:
        """Return names and coded pictures in the file's order.

        Raises:
            RecordingError: If one has none.
        """
        return self._read([self._find_track(name, depth=False) for name in cameras])

    def read(
        self, camera: str, *, depth: bool = False
    ) -> Generator[RecordedPicture, None, None]:
        """Yield a camera's decoded pictures or depth.

        Raises:
            RecordingError: If it has none.
            MissingDependency: If PyAV is not installed.
        """
        track = self._find_track(camera, depth=depth)
        info = self.cameras[camera]
        size = (info.width, info.height)
        decoder = Decoder(track.format, size, is_depth=track.format == "png")
        for coded in self.read_coded(camera, depth=depth):
            yield RecordedPicture(coded.stamp_ns, decoder.decode(coded.data))

    def _read(
        self, tracks: Sequence[CameraTrack]
    ) -> Iterator[tuple[str, StoredPicture]]:
        wanted = {track.topic: track for track in tracks}
        found: dict[int, CameraTrack] = {}
        for chunk in _iterate_chunks(self.path) if tracks else ():
            for record in chunk:
                if isinstance(record, Topic) and record.topic in wanted:
                    found[record.id] = wanted[record.topic]
                elif isinstance(record, Messages) and record.channel_id in found:
                    track = found[record.channel_id]
                    for row in record.data:
                        yield track.camera, _decode(track, row.tobytes(), self.path)

    def _find_track(self, camera: str, *, depth: bool) -> CameraTrack:
        track = self._tracks.get(
            (camera, PictureKind.DEPTH if depth else PictureKind.PICTURE)
        )
        if track is None:
            what = "depth" if depth else "pictures"
            there = sorted({name for name, _ in self._tracks}) or ["none"]
            raise RecordingError(
                f"{self.path}: expected {what} of camera '{camera}', got none; cameras "
                f"in it: {', '.join(there)}"
            )
        return track


def _read_header(path: Path) -> dict[str, Any]:
    scanner = Scanner(path)
    try:
        for item in scanner:
            if isinstance(item, Attachment) and item.name == _HEADER:
                header = json.loads(item.data[:_LARGEST])
                if isinstance(header, dict):
                    return header
            if not isinstance(item, Attachment | Metadata):
                break
    except (OSError, ValueError, RecursionError) as err:
        raise RecordingError(f"{path}: expected a recording, got {err}") from err
    problem = scanner.problem or f"no {_HEADER}"
    raise RecordingError(f"{path}: expected a recording of paprle, got {problem}")


def _iterate_chunks(path: Path) -> Iterator[Chunk]:
    try:
        for item in Scanner(path):
            if isinstance(item, list):
                yield item
    except OSError as err:
        raise RecordingError(f"{path}: expected to read it, got {err}") from err


def _decode(track: CameraTrack, data: bytes, path: Path) -> StoredPicture:
    try:
        message = decode(data, track.typename)
        video = track.format == "h264"
        stamp = message.timestamp if video else message.header.stamp
        return StoredPicture(
            stamp.sec * _NS + stamp.nanosec, bytes(message.data), track.format
        )
    except _BROKEN as err:
        raise RecordingError(
            f"{path}: expected {track.typename} on {track.topic}, got {err!r}"
        ) from err
