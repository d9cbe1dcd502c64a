"""MCAP file of an open episode, valid up to the last ``flush``."""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from mcap.records import Chunk, Header

from paprle.contracts.errors import RecordingError
from paprle.ipc.pictures import CodedPicture
from paprle.ipc.records import Layout, Stream
from paprle.recording.events import find_stamp, parse_event
from paprle.recording.manifest import make_manifest, sync_folder, write_manifest
from paprle.recording.mcap.chunk_file import FileSink
from paprle.recording.mcap.compaction import Compaction
from paprle.recording.mcap.contents import Topics, list_attachments, make_metadata
from paprle.recording.mcap.records import frame_one, frame_records
from paprle.recording.mcap.scan import MAGIC
from paprle.recording.mcap.writer import pack
from paprle.recording.messages.channels import EVENTS_TOPIC, Rows, make_channels
from paprle.recording.messages.types import STRING, encode, make_message
from paprle.recording.tracks import CameraTrack, list_tracks

GONE = "the file was moved or removed while it was written"
_BATCH = 256  # chosen: records a small chunk; at most some 2 MB for a humanoid


class Journal:
    """Writer of one episode; not thread-safe.

    Methods raise OSError if the disk fails.
    """

    def __init__(
        self,
        path: Path,
        layout: Layout,
        header: Mapping[str, Any],
        *,
        has_prefix: bool = True,
    ) -> None:
        """Create the file and write its attachments.

        ``header`` has ``wall_offset_ns``, wall minus monotonic time; ``has_prefix``
        keeps a valid prefix after a kill, at twice the time.

        Raises:
            OSError: If the file exists or cannot be written.
            RecordingError: If the robot does not fit the layout.
        """
        self.path = path
        self.frames = {stream.name.lower(): 0 for stream in Stream}
        self._layout = layout
        self._header = dict(header)
        self._has_prefix = has_prefix
        self._offset = int(header["wall_offset_ns"])
        self._channels = make_channels(layout, _base_links(layout, header))
        self._pending: dict[Stream, list[bytes]] = {Stream.TICK: [], Stream.GATE: []}
        self._small: list[bytes] = []
        self._span: list[int] = []
        self._packer = zstandard.ZstdCompressor()
        self._tracks = list_tracks(header.get("cameras", {}))
        self._n_pictures = {track.topic: 0 for track in self._tracks}
        self._topics = Topics()
        self._sink = FileSink(path)
        with contextlib.ExitStack() as undo:
            undo.callback(path.unlink, missing_ok=True)
            undo.callback(self._sink.close)
            self._large = Compaction(
                path, layout, self._header, self._channels, self._tracks
            )
            undo.callback(self._large.abandon)
            self._start()
            undo.pop_all()

    def write(self, stream: Stream, payload: bytes) -> None:
        """Buffer a tick, gate record or JSON event.

        Raises:
            RecordingError: If the payload has the wrong size.
        """
        if stream == Stream.EVENT:
            self._write_event(payload)
            return
        expected = self._dtype(stream).itemsize
        if len(payload) != expected:
            raise RecordingError(
                f"journal: expected {expected} bytes of {stream.name}, got "
                f"{len(payload)}; were all processes given one config?"
            )
        pending = self._pending[stream]
        pending.append(payload)
        if len(pending) >= _BATCH:
            self.flush()

    def write_picture(self, track: CameraTrack, coded: CodedPicture) -> None:
        """Buffer one picture for the next flush."""
        row = self._n_pictures[track.topic]
        self._n_pictures[track.topic] += 1
        message = self._frame(track.topic, track.encode(coded), coded.stamp_ns, row)
        self._small.append(message.tobytes())
        if self._large.add_picture(message):
            self.flush()

    def flush(self) -> None:
        """Write the buffer as a complete chunk."""
        for stream in self._pending:
            self._encode(stream)
        if self._small:
            self._sink.write(self._pack(b"".join(self._small)))
            self._small = []
        self._sink.flush()
        self._large.step(min(self._span, default=0))

    def sync(self) -> None:
        """Start syncing the file; returns at once."""
        self._sink.sync()

    def check_place(self) -> None:
        """Check that the file is still at its path.

        Raises:
            RecordingError: If it was moved, removed or replaced.
        """
        if not self._sink.is_at(self.path):
            raise RecordingError(GONE)

    def close(self, end_reason: str, extra: Mapping[str, Any]) -> dict[str, Any]:
        """Finish the file; return its manifest with ``extra``."""
        try:
            self.flush()
            digest = self._large.close(min(self._span, default=None))
        finally:
            self._sink.close()
        sync_folder(self.path.parent)
        span = (min(self._span, default=0), max(self._span, default=0))
        manifest = make_manifest(
            self.path, self._header, end_reason, span, self.frames, digest
        ) | dict(extra)
        write_manifest(self.path, manifest)
        return manifest

    def abandon(self) -> None:
        """Close the file without a manifest; never raises."""
        with contextlib.suppress(OSError):  # the disk failed; the caller has said so
            self._sink.close()
        self._large.abandon()

    def _start(self) -> None:
        self._sink.write(MAGIC)
        told = [*list_attachments(self._header), make_metadata(self._header)]
        for record in [Header("ros2", "paprle"), *told]:
            self._sink.write(pack(record))
        self._sink.flush()
        declared = self._topics.declare_own(self._channels, self._tracks)
        self._small = [pack(record) for record in declared]
        self.flush()

    def _write_event(self, payload: bytes) -> None:
        stamp = find_stamp(parse_event(payload), max(self._span, default=0))
        text = payload.decode(errors="replace")
        data = encode(make_message(STRING, data=text), STRING)
        row = self.frames["event"]
        self.frames["event"] += 1
        message = self._frame(EVENTS_TOPIC, data, stamp, row)
        self._small.append(message.tobytes())
        self._large.add(message)

    def _frame(self, topic: str, data: bytes, stamp_ns: int, row: int) -> Rows:
        self._note(stamp_ns)
        return frame_one(self._topics.ids[topic], data, stamp_ns + self._offset, row)

    def _encode(self, stream: Stream) -> None:
        payloads = self._pending[stream]
        if not payloads:
            return
        data = b"".join(payloads)
        payloads.clear()
        self._large.hold(stream, data)
        records = np.frombuffer(data, dtype=self._dtype(stream))
        first = self.frames[stream.name.lower()]
        for channel in self._channels:
            if self._has_prefix and channel.stream == stream:
                number = self._topics.ids[channel.topic]
                rows = frame_records(number, channel, records, first, self._offset)
                self._small.append(rows.tobytes())
        self.frames[stream.name.lower()] += len(records)
        self._note(int(records["stamp_ns"][0]))
        self._note(int(records["stamp_ns"][-1]))

    def _pack(self, data: bytes) -> bytes:
        first = max(min(self._span, default=0) + self._offset, 0)
        last = max(max(self._span, default=0) + self._offset, 0)
        packed = self._packer.compress(data)
        crc = zlib.crc32(data)
        return pack(Chunk("zstd", packed, last, first, crc, len(data)))

    def _note(self, stamp_ns: int) -> None:
        span = [*self._span, stamp_ns]
        self._span = [min(span), max(span)]

    def _dtype(self, stream: Stream) -> np.dtype[np.void]:
        return self._layout.tick if stream == Stream.TICK else self._layout.status


def _base_links(layout: Layout, header: Mapping[str, Any]) -> dict[str, str]:
    robot = header["robot"]
    if tuple(robot["joint_names"]) != layout.joint_names:
        raise RecordingError(
            f"journal: expected robot joints {layout.joint_names}, got "
            f"{tuple(robot['joint_names'])} in the header"
        )
    return {limb["name"]: limb["base_link"] for limb in robot["limbs"]}
