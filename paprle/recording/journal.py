"""One episode's MCAP file: append-only, checksummed, a prefix of it is always valid.

Everything given so far stands in the kernel as whole chunks after each ``flush``, so a
killed recorder loses what came since. What the recording is (config, robot, URDF) is
in attachments at the very start of the file and survives with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from mcap.writer import CompressionType, Writer

from paprle.contracts.errors import RecordingError
from paprle.ipc.records import Layout, Stream
from paprle.recording.channels import EVENTS_TOPIC, Channel, make_channels
from paprle.recording.events import find_stamp, parse_event
from paprle.recording.header import SCHEMA_VERSION
from paprle.recording.manifest import make_manifest, sync_folder, write_manifest
from paprle.recording.messages import (
    MESSAGE_ENCODING,
    SCHEMA_ENCODING,
    STRING,
    encode,
    make_message,
    make_schema,
)
from paprle.recording.sink import FileSink, Sink

TIME_NOTE = (
    "header.stamp is monotonic time of the recording host, exact; log_time is the "
    "record's and publish_time the header's stamp plus wall_offset_ns, so wall time"
)
_CHUNK_BYTES = 1 << 30  # chosen: only flush ends a chunk, so no tick is ever split
_BATCH = 256  # chosen: records a chunk; at most some 2 MB for a humanoid


class Journal:
    """Writes one episode; not thread-safe.

    Attributes:
        path: The MCAP file.
        frames: Records written so far by stream name.
    """

    def __init__(
        self,
        path: Path,
        layout: Layout,
        header: Mapping[str, Any],
        sink: Sink | None = None,
    ) -> None:
        """Create the file and write what the recording is.

        Args:
            path: A file that does not exist.
            layout: Dtypes of the session.
            header: From ``make_recording_header``, plus ``wall_offset_ns``: wall time
                minus monotonic time, [ns].
            sink: What to write to in place of the file.

        Raises:
            OSError: If the file exists or cannot be written.
            RecordingError: If the robot does not fit the layout.
        """
        self.path = path
        self.frames = {stream.name.lower(): 0 for stream in Stream}
        self._layout = layout
        self._header = dict(header)
        self._offset = int(header["wall_offset_ns"])
        self._channels = make_channels(layout, _base_links(layout, header))
        self._pending: dict[Stream, list[bytes]] = {Stream.TICK: [], Stream.GATE: []}
        self._span: list[int] = []
        self._sink = FileSink(path) if sink is None else sink
        try:
            self._start()
        except OSError:
            self.abandon()
            raise

    def write(self, stream: Stream, payload: bytes) -> None:
        """Take one record; it reaches the kernel with the next flush.

        Args:
            stream: What it is.
            payload: Bytes of ``Layout.tick`` or ``Layout.gate``, or a JSON event.

        Raises:
            OSError: If the disk is full or fails.
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

    def flush(self) -> None:
        """Hand everything so far to the kernel as a complete chunk.

        Raises:
            OSError: If the disk is full or fails.
        """
        for stream in self._pending:
            self._encode(stream)
        self._writer.flush()

    def sync(self) -> None:
        """Start bringing everything flushed onto the disk; returns at once."""
        self._sink.sync()

    def check_place(self) -> None:
        """See that the file is still where it was made.

        Raises:
            RecordingError: If it was moved, removed or replaced: what is written from
                here on would be found by nobody.
        """
        if not self._sink.is_at(self.path):
            raise RecordingError("the file was moved or removed while it was written")

    def close(self, end_reason: str, extra: Mapping[str, Any]) -> dict[str, Any]:
        """Finish the file, then write its manifest, then return that.

        Args:
            end_reason: Why the episode ended.
            extra: More for the manifest, JSON values only.

        Returns:
            The manifest.

        Raises:
            OSError: If the disk is full or fails; then there is no manifest.
        """
        try:
            self.flush()
            self._writer.finish()
            self._sink.flush()
        finally:
            self._sink.close()
        sync_folder(self.path.parent)
        span = (min(self._span, default=0), max(self._span, default=0))
        digest = self._sink.hexdigest()
        manifest = make_manifest(
            self.path, self._header, end_reason, span, self.frames, digest
        ) | dict(extra)
        write_manifest(self.path, manifest)
        return manifest

    def abandon(self) -> None:
        """Let go of the file as it is, without a manifest; never raises."""
        try:
            self._sink.close()
        except OSError:
            return  # it was the disk that failed; the caller has said so

    def _start(self) -> None:
        self._writer = Writer(
            self._sink,
            chunk_size=_CHUNK_BYTES,
            compression=CompressionType.ZSTD,
            enable_crcs=True,
            enable_data_crcs=True,
        )
        self._writer.start(profile="ros2", library="paprle")
        header = dict(self._header)
        config, urdf = header.pop("config"), header.pop("urdf")
        self._attach("header.json", "application/json", _to_json(header))
        self._attach("config.json", "application/json", _to_json(config))
        self._attach("robot.urdf", "application/xml", urdf.encode())
        self._writer.add_metadata("paprle", self._make_metadata())
        schemas: dict[str, int] = {}
        self._ids = {
            channel.topic: self._register(
                channel.topic, channel.message.typename, schemas
            )
            for channel in self._channels
        }
        self._events = self._register(EVENTS_TOPIC, STRING, schemas)
        self._writer.flush()

    def _attach(self, name: str, media_type: str, data: bytes) -> None:
        self._writer.add_attachment(0, 0, name, media_type, data)

    def _register(self, topic: str, typename: str, schemas: dict[str, int]) -> int:
        if typename not in schemas:
            schemas[typename] = self._writer.register_schema(
                typename, SCHEMA_ENCODING, make_schema(typename)
            )
        return int(
            self._writer.register_channel(topic, MESSAGE_ENCODING, schemas[typename])
        )

    def _write_event(self, payload: bytes) -> None:
        stamp = find_stamp(parse_event(payload), max(self._span, default=0))
        text = payload.decode(errors="replace")
        data = encode(make_message(STRING, data=text), STRING)
        self._add(self._events, data, (stamp, stamp), self.frames["event"])
        self.frames["event"] += 1
        self._note(stamp)

    def _encode(self, stream: Stream) -> None:
        payloads = self._pending[stream]
        if not payloads:
            return
        records = np.frombuffer(b"".join(payloads), dtype=self._dtype(stream))
        payloads.clear()
        first = self.frames[stream.name.lower()]
        logged = records["stamp_ns"].tolist()
        for channel in self._channels:
            if channel.stream == stream:
                self._add_rows(channel, records, logged, first)
        self.frames[stream.name.lower()] += len(records)
        self._note(logged[0])
        self._note(logged[-1])

    def _add_rows(
        self, channel: Channel, records: Any, logged: list[int], first: int
    ) -> None:
        data = channel.encode(records).tobytes()
        size = channel.message.dtype.itemsize
        stamps = channel.stamps(records)
        for i, both in enumerate(zip(logged, stamps, strict=True)):
            row = data[i * size : (i + 1) * size]
            self._add(self._ids[channel.topic], row, both, first + i)

    def _add(
        self, channel_id: int, data: bytes, stamps: tuple[int, int], sequence: int
    ) -> None:
        """Add a message; its sequence is the row of its record within the stream."""
        self._writer.add_message(
            channel_id=channel_id,
            log_time=max(stamps[0] + self._offset, 0),
            publish_time=max(stamps[1] + self._offset, 0),
            data=data,
            sequence=sequence,
        )

    def _note(self, stamp_ns: int) -> None:
        span = [*self._span, stamp_ns]
        self._span = [min(span), max(span)]

    def _dtype(self, stream: Stream) -> np.dtype[np.void]:
        return self._layout.tick if stream == Stream.TICK else self._layout.status

    def _make_metadata(self) -> dict[str, str]:
        keys = ("leader", "follower", "env", "version", "git_rev", "urdf_sha256")
        values = {key: str(self._header.get(key) or "") for key in keys}
        return values | {
            "schema": str(SCHEMA_VERSION),
            "wall_offset_ns": str(self._offset),
            "time": TIME_NOTE,
        }


def _base_links(layout: Layout, header: Mapping[str, Any]) -> dict[str, str]:
    robot = header["robot"]
    if tuple(robot["joint_names"]) != layout.joint_names:
        raise RecordingError(
            f"journal: expected robot joints {layout.joint_names}, got "
            f"{tuple(robot['joint_names'])} in the header"
        )
    return {limb["name"]: limb["base_link"] for limb in robot["limbs"]}


def _to_json(data: Any) -> bytes:
    return json.dumps(data, allow_nan=False, ensure_ascii=False).encode()
