"""One episode's MCAP file: while it grows a prefix of it is always valid, then small.

Everything given so far stands in the kernel as whole chunks after each ``flush``, so a
killed recorder loses what came since. What the recording is (config, robot, URDF) is
in attachments at the very start of the file and survives with it. Such small chunks
take twice the room: beside them the same is written in large ones, which become the
file at the close.
"""

from __future__ import annotations

import contextlib
import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from mcap.data_stream import RecordBuilder
from mcap.opcode import Opcode
from mcap.records import Channel as Topic
from mcap.records import Chunk, Schema
from mcap.writer import CompressionType, Writer

from paprle.contracts.errors import RecordingError
from paprle.ipc.pictures import Coded
from paprle.ipc.records import Layout, Stream
from paprle.recording.channels import EVENTS_TOPIC, Channel, Rows, make_channels
from paprle.recording.events import find_stamp, parse_event
from paprle.recording.frames import FRAMES_TOPIC, FrameMessages
from paprle.recording.header import SCHEMA_VERSION
from paprle.recording.manifest import make_manifest, sync_folder, write_manifest
from paprle.recording.messages import (
    MESSAGE_ENCODING,
    SCHEMA_ENCODING,
    STRING,
    TF_MESSAGE,
    encode,
    make_message,
    make_schema,
)
from paprle.recording.sink import FileSink
from paprle.recording.tracks import Track, list_tracks, make_first_messages

TIME_NOTE = (
    "header.stamp is monotonic time of the recording host, exact; log_time is the "
    "record's and publish_time the header's stamp plus wall_offset_ns, so wall time"
)
DESCRIPTION_TOPIC = "/robot_description"
_CHUNK_BYTES = 1 << 30  # chosen: only we end a chunk, so no tick is ever split
_BATCH = 256  # chosen: records a small chunk; at most some 2 MB for a humanoid
_COMPACT_BYTES = 1 << 15  # chosen: an eighth of a second of an arm; damage costs that
_PICTURE_BYTES = 1 << 20  # chosen: of a chunk; a viewer that jumps reads one of each
_OFFSETS = [0, 1, 9, 11, 15, 23, 31]  # spec: mcap.dev, opcode, length, Message


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
    ) -> None:
        """Create the file and write what the recording is.

        Args:
            path: A file that does not exist.
            layout: Dtypes of the session.
            header: From ``make_recording_header``, plus ``wall_offset_ns``: wall time
                minus monotonic time, [ns].

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
        self._held: dict[Stream, list[bytes]] = {Stream.TICK: [], Stream.GATE: []}
        self._n_held = 0
        self._small = b""
        self._span: list[int] = []
        self._packer = zstandard.ZstdCompressor()
        self._frames = FrameMessages(layout, header)
        self._cameras = header.get("cameras", {})
        self._n_pictures = {track.topic: 0 for track in list_tracks(self._cameras)}
        self._picture_bytes = 0
        self._sink = FileSink(path)
        self._beside = path.with_name(f".{path.name}.part")
        try:
            self._beside.unlink(missing_ok=True)  # the number is ours: a leftover
            self._large_sink = FileSink(self._beside)
            self._start()
        except OSError:
            self.abandon()
            path.unlink(missing_ok=True)
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

    def write_picture(self, track: Track, coded: Coded) -> None:
        """Take one picture; it reaches the kernel with the next flush.

        Args:
            track: Where it belongs: one of the header's cameras.
            coded: The picture.

        Raises:
            OSError: If the disk is full or fails.
        """
        row = self._n_pictures[track.topic]
        self._n_pictures[track.topic] += 1
        data = track.encode(coded)
        self._write_single(self._ids[track.topic], data, coded.stamp_ns, row)
        self._picture_bytes += len(data)
        if self._picture_bytes >= _PICTURE_BYTES:
            self.flush()
            self._end_chunk()

    def flush(self) -> None:
        """Hand everything so far to the kernel as a complete chunk.

        Raises:
            OSError: If the disk is full or fails.
        """
        for stream in self._pending:
            self._encode(stream)
        if self._small:
            self._sink.write(self._pack(self._small))
            self._small = b""
        self._sink.flush()
        if self._n_held >= _COMPACT_BYTES:
            self._compact()

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
            self._compact()
            self._writer.finish()
            self._large_sink.flush()
            self._large_sink.close()
            self._beside.replace(self.path)
        finally:
            self._sink.close()
        sync_folder(self.path.parent)
        span = (min(self._span, default=0), max(self._span, default=0))
        digest = self._large_sink.hexdigest()
        manifest = make_manifest(
            self.path, self._header, end_reason, span, self.frames, digest
        ) | dict(extra)
        write_manifest(self.path, manifest)
        return manifest

    def abandon(self) -> None:
        """Let go of the file as it is, without a manifest; never raises."""
        with contextlib.suppress(OSError):  # the disk failed; the caller has said so
            self._sink.close()
        with contextlib.suppress(OSError, AttributeError):  # it may not be open yet
            self._large_sink.close()
            self._beside.unlink(missing_ok=True)

    def _start(self) -> None:
        self._declare(self._make_writer(self._sink))
        self._small = self._list_channels()
        self.flush()
        self._writer = self._make_writer(self._large_sink)
        schemas = self._declare(self._writer)
        self._description_id = self._register(
            self._writer, DESCRIPTION_TOPIC, STRING, schemas
        )
        self._is_described = False
        if self._frames.is_known:
            self._frames_id = self._register(
                self._writer, FRAMES_TOPIC, TF_MESSAGE, schemas
            )

    def _make_writer(self, sink: FileSink) -> Writer:
        writer = Writer(
            sink,
            chunk_size=_CHUNK_BYTES,
            compression=CompressionType.ZSTD,
            enable_crcs=True,
            enable_data_crcs=True,
        )
        writer.start(profile="ros2", library="paprle")
        return writer

    def _declare(self, writer: Writer) -> dict[str, int]:
        """Write what the recording is; return ids of schemas."""
        header = dict(self._header)
        config, urdf = header.pop("config"), header.pop("urdf")
        for name, values in (("header.json", header), ("config.json", config)):
            writer.add_attachment(0, 0, name, "application/json", _to_json(values))
        writer.add_attachment(0, 0, "robot.urdf", "application/xml", urdf.encode())
        writer.add_metadata("paprle", self._make_metadata())
        schemas: dict[str, int] = {}
        self._ids = {
            channel.topic: self._register(
                writer, channel.topic, channel.message.typename, schemas
            )
            for channel in self._channels
        }
        for topic, typename in self._list_singles():
            self._ids[topic] = self._register(writer, topic, typename, schemas)
        writer.flush()
        return schemas

    def _list_channels(self) -> bytes:
        """Return what a chunk says of the channels, as the writer numbers them."""
        builder, schemas = RecordBuilder(), dict[str, int]()
        own = [(c.topic, c.message.typename) for c in self._channels]
        for i, (topic, typename) in enumerate([*own, *self._list_singles()], 1):
            if typename not in schemas:
                schemas[typename] = len(schemas) + 1
                text, number = make_schema(typename), schemas[typename]
                Schema(number, text, SCHEMA_ENCODING, typename).write(builder)
            Topic(i, topic, MESSAGE_ENCODING, {}, schemas[typename]).write(builder)
        listed: bytes = builder.end()
        return listed

    def _list_singles(self) -> list[tuple[str, str]]:
        """Return topics and types of what is written one by one."""
        tracks = list_tracks(self._cameras)
        return [(EVENTS_TOPIC, STRING), *((t.topic, t.typename) for t in tracks)]

    def _register(
        self, writer: Writer, topic: str, typename: str, schemas: dict[str, int]
    ) -> int:
        if typename not in schemas:
            schemas[typename] = writer.register_schema(
                typename, SCHEMA_ENCODING, make_schema(typename)
            )
        return int(writer.register_channel(topic, MESSAGE_ENCODING, schemas[typename]))

    def _write_event(self, payload: bytes) -> None:
        stamp = find_stamp(parse_event(payload), max(self._span, default=0))
        text = payload.decode(errors="replace")
        data = encode(make_message(STRING, data=text), STRING)
        row = self.frames["event"]
        self.frames["event"] += 1
        self._write_single(self._ids[EVENTS_TOPIC], data, stamp, row)

    def _write_single(self, channel_id: int, data: bytes, stamp: int, row: int) -> None:
        """Add a message to both files' next chunks."""
        self._add(channel_id, data, (stamp, stamp), row)
        rows = np.frombuffer(data, f"V{len(data)}")
        stamps = np.array([stamp], dtype=np.int64)
        self._small += self._frame(channel_id, rows, (stamps, stamps), row)
        self._note(stamp)

    def _encode(self, stream: Stream) -> None:
        """Add the pending records of a stream to the small chunk."""
        payloads = self._pending[stream]
        if not payloads:
            return
        data = b"".join(payloads)
        records = np.frombuffer(data, dtype=self._dtype(stream))
        payloads.clear()
        self._held[stream].append(data)
        self._n_held += len(data)
        first = self.frames[stream.name.lower()]
        parts = [self._small]
        for channel in self._channels:
            if channel.stream == stream:
                both = records["stamp_ns"], np.array(channel.stamps(records))
                rows = channel.encode(records)
                parts.append(self._frame(self._ids[channel.topic], rows, both, first))
        self._small = b"".join(parts)
        self.frames[stream.name.lower()] += len(records)
        self._note(int(records["stamp_ns"][0]))
        self._note(int(records["stamp_ns"][-1]))

    def _frame(
        self, channel_id: int, rows: Rows, stamps: tuple[Any, Any], first: int
    ) -> bytes:
        """Return messages as records of a chunk, one row each."""
        size = rows.dtype.itemsize
        names = ["opcode", "length", "id", "sequence", "log", "publish", "data"]
        formats = ["u1", "<u8", "<u2", "<u4", "<u8", "<u8", f"V{size}"]
        dtype = np.dtype({"names": names, "formats": formats, "offsets": _OFFSETS})
        out = np.zeros(len(rows), dtype)
        out["opcode"], out["length"], out["id"] = Opcode.MESSAGE, 22 + size, channel_id
        out["sequence"] = np.arange(first, first + len(rows))
        for name, values in zip(("log", "publish"), stamps, strict=True):
            out[name] = np.maximum(values + self._offset, 0)
        out["data"] = rows.view(f"V{size}")
        return out.tobytes()

    def _pack(self, data: bytes) -> bytes:
        """Return a chunk of these records; its times are those of the episode."""
        builder = RecordBuilder()
        Chunk(
            compression="zstd",
            data=self._packer.compress(data),
            message_start_time=max(min(self._span, default=0) + self._offset, 0),
            message_end_time=max(max(self._span, default=0) + self._offset, 0),
            uncompressed_crc=zlib.crc32(data),
            uncompressed_size=len(data),
        ).write(builder)
        packed: bytes = builder.end()
        return packed

    def _compact(self) -> None:
        """Write what was held as one large chunk, channel by channel."""
        self._describe()
        for stream, held in self._held.items():
            if not held:
                continue
            records = np.frombuffer(b"".join(held), dtype=self._dtype(stream))
            held.clear()
            first = self.frames[stream.name.lower()] - len(records)
            for channel in self._channels:
                if channel.stream == stream:
                    self._add_rows(channel, records, first)
            if stream == Stream.GATE and self._frames.is_known:
                for row, stamp, data in self._frames.encode(records):
                    self._add(self._frames_id, data, (stamp, stamp), row)
        self._n_held = 0
        self._end_chunk()

    def _end_chunk(self) -> None:
        """Let what was added to the large file be a chunk of it."""
        self._picture_bytes = 0
        self._writer.flush()
        self._large_sink.flush()

    def _describe(self) -> None:
        """Write the URDF as of the first record: a time line begins with the motion."""
        if self._is_described or not self._span:
            return
        self._is_described = True
        description = make_message(STRING, data=str(self._header["urdf"]))
        first = min(self._span)
        self._add(self._description_id, encode(description, STRING), (first, first), 0)
        schemas: dict[str, int] = {}
        for topic, typename, data in make_first_messages(self._cameras, first):
            topic_id = self._register(self._writer, topic, typename, schemas)
            self._add(topic_id, data, (first, first), 0)

    def _add_rows(self, channel: Channel, records: Rows, first: int) -> None:
        data = channel.encode(records).tobytes()
        size = channel.message.dtype.itemsize
        both = zip(records["stamp_ns"].tolist(), channel.stamps(records), strict=True)
        for i, stamps in enumerate(both):
            row = data[i * size : (i + 1) * size]
            self._add(self._ids[channel.topic], row, stamps, first + i)

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
