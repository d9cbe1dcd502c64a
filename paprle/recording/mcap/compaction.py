"""Compacted file of a closed episode."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paprle.ipc.records import Layout, Stream
from paprle.recording.frames import FRAMES_TOPIC, FrameMessages
from paprle.recording.mcap.contents import Topics, list_attachments, make_metadata
from paprle.recording.mcap.records import frame_one, frame_records
from paprle.recording.mcap.writer import IndexedFile
from paprle.recording.messages.channels import Channel, Rows
from paprle.recording.messages.types import STRING, TF_MESSAGE, encode, make_message
from paprle.recording.tracks import CameraTrack, make_first_messages

DESCRIPTION_TOPIC = "/robot_description"
_CHUNK_BYTES = 3 << 17  # chosen: of records, a second of an arm; damage costs that
_PICTURE_BYTES = 1 << 20  # chosen: of a chunk; a viewer that jumps reads one of each


def make_part_path(path: Path) -> Path:
    """Return the hidden file's path."""
    return path.with_name(f".{path.name}.part")


class Compaction:
    """Writer of a journal's content in large chunks to a hidden file.

    Methods raise OSError if the disk fails.
    """

    def __init__(
        self,
        path: Path,
        layout: Layout,
        header: Mapping[str, Any],
        channels: Sequence[Channel],
        tracks: Sequence[CameraTrack],
    ) -> None:
        self._path = path
        self._beside = make_part_path(path)
        self._layout = layout
        self._header = header
        self._channels = channels
        self._offset = int(header["wall_offset_ns"])
        self._frames = FrameMessages(layout, header)
        self._topics = Topics()
        self._held: dict[Stream, list[bytes]] = {Stream.TICK: [], Stream.GATE: []}
        self._n_rows = {Stream.TICK: 0, Stream.GATE: 0}
        self._n_held = self._picture_bytes = 0
        self._is_described = False
        self._beside.unlink(missing_ok=True)  # the number is ours: a leftover
        self._file = IndexedFile(self._beside)
        try:
            self._begin(tracks)
        except OSError:
            self.abandon()
            raise

    def hold(self, stream: Stream, data: bytes) -> None:
        """Buffer records of a stream."""
        self._held[stream].append(data)
        self._n_held += len(data)

    def add(self, message: Rows) -> None:
        """Add a message of the journal."""
        self._file.add(message)

    def add_picture(self, message: Rows) -> bool:
        """Add a picture; return whether a chunk is complete."""
        self._file.add(message)
        self._picture_bytes += message.nbytes
        is_full = self._picture_bytes >= _PICTURE_BYTES
        if is_full:
            self._end_chunk()
        return is_full

    def step(self, first_ns: int) -> None:
        """Write a chunk once enough is held."""
        if self._n_held >= _CHUNK_BYTES:
            self._compact(first_ns)

    def close(self, first_ns: int | None) -> str:
        """Replace the journal's file; return the SHA-256."""
        if first_ns is not None:
            self._compact(first_ns)
        digest = self._file.finish()
        self._beside.replace(self._path)
        return digest

    def abandon(self) -> None:
        """Remove the file; never raises."""
        with contextlib.suppress(OSError):  # the disk failed; the caller has said so
            self._file.close()
        with contextlib.suppress(OSError):
            self._beside.unlink(missing_ok=True)

    def _begin(self, tracks: Sequence[CameraTrack]) -> None:
        for attachment in list_attachments(self._header):
            self._file.attach(attachment)
        self._file.note(make_metadata(self._header))
        self._file.flush()
        told = self._topics.declare_own(self._channels, tracks)
        told += self._topics.declare(DESCRIPTION_TOPIC, STRING)
        if self._frames.is_known:
            told += self._topics.declare(FRAMES_TOPIC, TF_MESSAGE)
        for record in told:
            self._file.declare(record)

    def _compact(self, first_ns: int) -> None:
        self._describe(first_ns)
        for stream, held in self._held.items():
            if not held:
                continue
            is_tick = stream == Stream.TICK
            dtype = self._layout.tick if is_tick else self._layout.status
            records = np.frombuffer(b"".join(held), dtype=dtype)
            held.clear()
            self._add_records(stream, records)
        self._n_held = 0
        self._end_chunk()

    def _add_records(self, stream: Stream, records: Rows) -> None:
        first = self._n_rows[stream]
        self._n_rows[stream] += len(records)
        for channel in self._channels:
            if channel.stream == stream:
                number = self._topics.ids[channel.topic]
                self._file.add(
                    frame_records(number, channel, records, first, self._offset)
                )
        if stream == Stream.GATE and self._frames.is_known:
            for row, stamp, data in self._frames.encode(records):
                self._add_one(FRAMES_TOPIC, data, stamp, row)

    def _describe(self, first_ns: int) -> None:
        if self._is_described:
            return
        self._is_described = True
        description = make_message(STRING, data=str(self._header["urdf"]))
        self._add_one(DESCRIPTION_TOPIC, encode(description, STRING), first_ns, 0)
        cameras = self._header.get("cameras", {})
        for topic, typename, data in make_first_messages(cameras, first_ns):
            for record in self._topics.declare(topic, typename):
                self._file.declare(record)
            self._add_one(topic, data, first_ns, 0)

    def _add_one(self, topic: str, data: bytes, stamp_ns: int, row: int) -> None:
        number = self._topics.ids[topic]
        self._file.add(frame_one(number, data, stamp_ns + self._offset, row))

    def _end_chunk(self) -> None:
        self._picture_bytes = 0
        self._file.end_chunk()
