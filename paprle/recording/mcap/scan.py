"""Reading of untrusted MCAP files, up to the first damage.

Sizes are checked before allocation.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import zstandard
from mcap.opcode import Opcode

MAGIC = b"\x89MCAP0\r\n"
MAX_RECORD = 64 << 20  # chosen: of an attachment, which is a URDF at most
MAX_CHUNK = 16 << 20  # chosen: ours are 0.1 MB; a picture may be half of this
LEFT_OUT = "left out"
"""Key of a channel's metadata that says which rows have no message."""
FOOTER_BYTES = 9 + 20 + len(MAGIC)
_INDEX_ENTRY = 16  # [bytes] spec: mcap.dev, Message Index: log time and offset


class Damaged(ValueError):
    """Damage found in a file."""


@dataclass(frozen=True)
class Attachment:
    """Attachment of a file."""

    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True)
class Metadata:
    """Named map of texts."""

    name: str
    values: dict[str, str]


@dataclass(frozen=True)
class Schema:
    """Message definition."""

    id: int
    name: str
    encoding: str
    data: bytes


@dataclass(frozen=True)
class Topic:
    """Channel."""

    id: int
    schema_id: int
    topic: str
    encoding: str
    metadata: dict[str, str]

    @property
    def left_out(self) -> str:
        """Rule of rows without a message."""
        return self.metadata.get(LEFT_OUT, "")


@dataclass(frozen=True)
class Messages:
    """Consecutive undecoded messages of one channel and size.

    Times are wall time [ns], shape (n,); data has shape (n, size).
    """

    channel_id: int
    sequence: int
    log_time: npt.NDArray[np.uint64]
    publish_time: npt.NDArray[np.uint64]
    data: npt.NDArray[np.uint8]


Chunk = list[Schema | Topic | Messages]
_MAX_RECORDS = 100_000  # chosen: pieces of a chunk; ours have some dozens
_MESSAGE_HEAD = np.dtype(
    {
        "names": ["sequence", "log_time", "publish_time"],
        "formats": ["<u4", "<u8", "<u8"],
        "offsets": [11, 15, 23],  # spec: mcap.dev, Message: after opcode, length, id
        "itemsize": 31,
    }
)


class Scanner:
    """Single pass over a file's attachments, metadata and chunks."""

    def __init__(self, path: Path) -> None:
        self.size = path.stat().st_size
        self.valid_bytes = 0
        self.is_complete = False
        self.problem = ""
        self.sha256 = hashlib.sha256()
        self._path = path
        self._crc = 0
        self._schemas: set[int] = set()
        self._rows: dict[int, int] = {}
        self._sparse: set[int] = set()

    def __iter__(self) -> Iterator[Attachment | Metadata | Chunk]:
        """Yield the valid items in order; never raises for damage."""
        with self._path.open("rb") as file:
            try:
                self._begin(file)
                yield from self._records(file)
                self.is_complete = True
            except Damaged as damage:
                self.problem = f"{damage} at byte {self.valid_bytes} of {self.size}"

    def _begin(self, file: BinaryIO) -> None:
        self._read(file, len(MAGIC), "no MCAP file", MAGIC)
        self._count(file)

    def _records(self, file: BinaryIO) -> Iterator[Attachment | Metadata | Chunk]:
        while True:
            crc_before = self._crc
            head = self._read(file, 9, "the file ends without its summary")
            opcode, length = struct.unpack("<BQ", head)
            if length > min(MAX_RECORD, self.size - file.tell()):
                raise Damaged("a record is cut off, or its size is wrong")
            body = self._read(file, length, "a record is cut off")
            if opcode == Opcode.DATA_END:
                self._check_end(file, body, crc_before)
                self._count(file)
                return
            item = self._parse(opcode, body)
            self._count(file)
            if item is not None:
                yield item

    def _read(
        self, file: BinaryIO, n: int, problem: str, expected: bytes | None = None
    ) -> bytes:
        data = file.read(n)
        if len(data) != n or (expected is not None and data != expected):
            raise Damaged(problem)
        self._crc = zlib.crc32(data, self._crc)
        self.sha256.update(data)
        return data

    def _count(self, file: BinaryIO) -> None:
        self.valid_bytes = file.tell()

    def _parse(self, opcode: int, body: bytes) -> Attachment | Metadata | Chunk | None:
        if opcode == Opcode.CHUNK:
            chunk = list(_split_chunk(unpack_chunk(body)))
            self._check_rows(chunk)
            return chunk
        if opcode == Opcode.ATTACHMENT:
            return _parse_attachment(body)
        if opcode == Opcode.METADATA:
            return _parse_metadata(body)
        is_first = self.valid_bytes == len(MAGIC)
        if opcode == Opcode.MESSAGE_INDEX:
            _check_index(body)
            return None
        if opcode == Opcode.HEADER and is_first:
            return None
        raise Damaged(f"record of kind {opcode} where none may be")

    def _check_rows(self, chunk: Chunk) -> None:
        for record in chunk:
            if isinstance(record, Schema):
                self._schemas.add(record.id)
            elif isinstance(record, Topic):
                if record.schema_id not in self._schemas or record.id in self._rows:
                    raise Damaged(f"channel {record.id} has no schema, or comes twice")
                self._rows[record.id] = 0
                if record.left_out:
                    self._sparse.add(record.id)
            else:
                self._check_row(record)

    def _check_row(self, messages: Messages) -> None:
        channel = messages.channel_id
        ahead = messages.sequence - self._rows.get(channel, messages.sequence + 1)
        if ahead < 0 or (ahead > 0 and channel not in self._sparse):
            raise Damaged(f"messages missing on channel {channel}")
        self._rows[channel] = messages.sequence + len(messages.data)

    def _check_end(self, file: BinaryIO, body: bytes, crc: int) -> None:
        if len(body) != 4 or struct.unpack("<I", body)[0] not in (0, crc):
            raise Damaged("the data's checksum is wrong")
        self._check_summary(file)

    def _check_summary(self, file: BinaryIO) -> bytes:
        rest_bytes = self.size - file.tell()
        if not FOOTER_BYTES <= rest_bytes <= self.size:
            raise Damaged("the summary is cut off")
        if rest_bytes > MAX_RECORD:
            raise Damaged("the summary is larger than can be")
        rest = file.read(rest_bytes)
        self.sha256.update(rest)
        footer = rest[-FOOTER_BYTES:]
        opcode, length = struct.unpack_from("<BQ", footer)
        if (opcode, length) != (Opcode.FOOTER, 20) or footer[-len(MAGIC) :] != MAGIC:
            raise Damaged("the summary is cut off")
        stored = struct.unpack_from("<I", footer, 9 + 16)[0]
        if stored != zlib.crc32(rest[: -len(MAGIC) - 4]):
            raise Damaged("the summary's checksum is wrong")
        return rest


class _Fields:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def numbers(self, form: str) -> tuple[int, ...]:
        return struct.unpack(form, self.take(struct.calcsize(form)))

    def take(self, n: int) -> bytes:
        if n > len(self.data) - self.at:
            raise Damaged("a field is larger than its record")
        self.at += n
        return self.data[self.at - n : self.at]

    def text(self) -> str:
        try:
            return self.take(*self.numbers("<I")).decode()
        except UnicodeDecodeError as err:
            raise Damaged("a text is not UTF-8") from err

    def pairs(self) -> dict[str, str]:
        part = _Fields(self.take(*self.numbers("<I")))
        values = {}
        while part.at < len(part.data):
            key = part.text()
            values[key] = part.text()
        return values


def _check_index(body: bytes) -> None:
    fields = _Fields(body)
    _, size = fields.numbers("<HI")
    if size != len(body) - fields.at or size % _INDEX_ENTRY:
        raise Damaged("a message index has a size that cannot be")


def _parse_attachment(body: bytes) -> Attachment:
    fields = _Fields(body)
    fields.numbers("<QQ")
    name, media_type = fields.text(), fields.text()
    data = fields.take(*fields.numbers("<Q"))
    at = fields.at
    if fields.numbers("<I")[0] != zlib.crc32(body[:at]) or fields.at != len(body):
        raise Damaged(f"the checksum of attachment '{name}' is wrong")
    return Attachment(name=name, media_type=media_type, data=data)


def _parse_metadata(body: bytes) -> Metadata:
    fields = _Fields(body)
    name = fields.text()
    return Metadata(name=name, values=fields.pairs())


def unpack_chunk(body: bytes) -> bytes:
    """Return the chunk's records, decompressed; raises ``Damaged``."""
    fields = _Fields(body)
    _, _, size, crc = fields.numbers("<QQQI")
    compression = fields.text()
    data = fields.take(*fields.numbers("<Q"))
    if size > MAX_CHUNK or fields.at != len(body):
        raise Damaged("a chunk declares a size that cannot be")
    data = _decompress(data, compression, size)
    if len(data) != size or zlib.crc32(data) != crc:
        raise Damaged("the checksum of a chunk is wrong")
    return data


def _decompress(data: bytes, compression: str, size: int) -> bytes:
    if compression != "zstd":
        raise Damaged(f"compression '{compression}' where only zstd is written")
    try:
        if zstandard.get_frame_parameters(data).content_size != size:
            raise Damaged("a chunk's size is not that of its data")
        return bytes(zstandard.ZstdDecompressor().decompress(data))
    except (zstandard.ZstdError, MemoryError) as err:
        raise Damaged("a chunk cannot be decompressed") from err


def _split_chunk(data: bytes) -> Iterator[Schema | Topic | Messages]:
    at, size, n_records = 0, len(data), 0
    while at < size:
        if size - at < 9:
            raise Damaged("a chunk's record is cut off")
        opcode, length = struct.unpack_from("<BQ", data, at)
        n_records += 1
        if length > size - at - 9 or n_records > _MAX_RECORDS:
            raise Damaged("a chunk's record is cut off, or there are too many")
        if opcode == Opcode.MESSAGE:
            messages = _take_messages(data, at, length)
            at += len(messages.data) * (9 + length)
            yield messages
        else:
            yield parse_declaration(opcode, data[at + 9 : at + 9 + length])
            at += 9 + length


def _take_messages(data: bytes, at: int, length: int) -> Messages:
    stride = 9 + length
    if stride <= _MESSAGE_HEAD.itemsize:
        raise Damaged("a message is empty")
    n_left, n_tried, n = (len(data) - at) // stride, 8, 1
    first = np.frombuffer(data, np.uint8, 11, at)
    while n < n_left:  # as far as opcode, length and channel repeat
        n_next = min(n_left, n + n_tried)
        table = np.frombuffer(data, np.uint8, (n_next - n) * stride, at + n * stride)
        same = (table.reshape(-1, stride)[:, :11] == first).all(axis=1)
        if not same.all():
            n += int(same.argmin())
            break
        n, n_tried = n_next, 2 * n_tried
    rows = np.frombuffer(data, np.uint8, n * stride, at).reshape(n, stride)
    head = np.ndarray((n,), _MESSAGE_HEAD, data, at, (stride,))
    sequence = head["sequence"].astype(np.int64)
    in_order = np.flatnonzero(np.diff(sequence) != 1)
    n = int(in_order[0]) + 1 if len(in_order) else n
    return Messages(
        channel_id=struct.unpack_from("<H", data, at + 9)[0],
        sequence=int(sequence[0]),
        log_time=head["log_time"][:n],
        publish_time=head["publish_time"][:n],
        data=rows[:n, _MESSAGE_HEAD.itemsize :],
    )


def parse_declaration(opcode: int, body: bytes) -> Schema | Topic:
    """Return a record's schema or channel; raises ``Damaged``."""
    fields = _Fields(body)
    if opcode == Opcode.SCHEMA:
        (schema_id,) = fields.numbers("<H")
        name, encoding = fields.text(), fields.text()
        return Schema(schema_id, name, encoding, fields.take(*fields.numbers("<I")))
    if opcode == Opcode.CHANNEL:
        channel_id, schema_id = fields.numbers("<HH")
        texts = fields.text(), fields.text()
        return Topic(channel_id, schema_id, *texts, fields.pairs())
    raise Damaged(f"record of kind {opcode} in a chunk")
