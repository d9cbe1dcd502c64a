"""Reading MCAP files that nobody vouches for: in order, up to the first damage.

Sizes are compared with what is there before anything is allocated, every checksum is
checked, and messages may not be missing in between: each carries its row number. What
was read before the damage is a true prefix of what was recorded.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import zstandard
from mcap.opcode import Opcode

MAGIC = b"\x89MCAP0\r\n"
MAX_RECORD = 64 << 20  # chosen: our chunks are some 2 MB, attachments less
_FOOTER_BYTES = 9 + 20 + len(MAGIC)


class Damaged(ValueError):
    """The file is not valid from here on; the message says why."""


@dataclass(frozen=True)
class Attachment:
    """A named file inside the file."""

    name: str
    media_type: str
    data: bytes


@dataclass(frozen=True)
class Metadata:
    """A named map of texts."""

    name: str
    values: dict[str, str]


@dataclass(frozen=True)
class Schema:
    """A message definition."""

    id: int
    name: str
    encoding: str
    data: bytes


@dataclass(frozen=True)
class Topic:
    """A channel."""

    id: int
    schema_id: int
    topic: str
    encoding: str


@dataclass(frozen=True)
class Message:
    """A message, not decoded; times in [ns]."""

    channel_id: int
    sequence: int
    log_time: int
    publish_time: int
    data: bytes


Chunk = list[Schema | Topic | Message]


class Scanner:
    """Iterates once over the attachments, metadata and chunks of a file.

    Attributes:
        size: Bytes of the file.
        valid_bytes: End of the longest valid prefix found so far.
        is_complete: The file ended as it should, and all checksums are right.
        problem: Why it is not complete; empty while it is.
    """

    def __init__(self, path: Path) -> None:
        self.size = path.stat().st_size
        self.valid_bytes = 0
        self.is_complete = False
        self.problem = ""
        self._path = path
        self._crc = 0
        self._schemas: set[int] = set()
        self._rows: dict[int, int] = {}

    def __iter__(self) -> Iterator[Attachment | Metadata | Chunk]:
        """Yield what is valid, in order; never raises for damage."""
        with self._path.open("rb") as file:
            try:
                yield from self._records(file)
                self.is_complete = True
            except Damaged as damage:
                self.problem = f"{damage} at byte {self.valid_bytes} of {self.size}"

    def _records(self, file: BinaryIO) -> Iterator[Attachment | Metadata | Chunk]:
        self._read(file, len(MAGIC), "no MCAP file", MAGIC)
        self._count(file)
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
        return data

    def _count(self, file: BinaryIO) -> None:
        self.valid_bytes = file.tell()

    def _parse(self, opcode: int, body: bytes) -> Attachment | Metadata | Chunk | None:
        if opcode == Opcode.CHUNK:
            chunk = list(_split_chunk(_unpack_chunk(body)))
            self._check_rows(chunk)
            return chunk
        if opcode == Opcode.ATTACHMENT:
            return _parse_attachment(body)
        if opcode == Opcode.METADATA:
            return _parse_metadata(body)
        is_first = self.valid_bytes == len(MAGIC)
        if opcode == Opcode.MESSAGE_INDEX or (opcode == Opcode.HEADER and is_first):
            return None
        raise Damaged(f"record of kind {opcode} where none may be")

    def _check_rows(self, chunk: Chunk) -> None:
        """Check that channels are declared, and that no message is missing."""
        for record in chunk:
            if isinstance(record, Schema):
                self._schemas.add(record.id)
            elif isinstance(record, Topic):
                if record.schema_id not in self._schemas or record.id in self._rows:
                    raise Damaged(f"channel {record.id} has no schema, or comes twice")
                self._rows[record.id] = 0
            else:
                if record.sequence != self._rows.get(record.channel_id):
                    raise Damaged(f"messages missing on channel {record.channel_id}")
                self._rows[record.channel_id] += 1

    def _check_end(self, file: BinaryIO, body: bytes, crc: int) -> None:
        """Check the data section's checksum, then the summary and its checksum."""
        if len(body) != 4 or struct.unpack("<I", body)[0] not in (0, crc):
            raise Damaged("the data's checksum is wrong")
        rest_bytes = self.size - file.tell()
        if not _FOOTER_BYTES <= rest_bytes <= self.size:
            raise Damaged("the summary is cut off")
        rest = file.read(rest_bytes)
        footer = rest[-_FOOTER_BYTES:]
        opcode, length = struct.unpack_from("<BQ", footer)
        if (opcode, length) != (Opcode.FOOTER, 20) or footer[-len(MAGIC) :] != MAGIC:
            raise Damaged("the summary is cut off")
        stored = struct.unpack_from("<I", footer, 9 + 16)[0]
        if stored != zlib.crc32(rest[: -len(MAGIC) - 4]):
            raise Damaged("the summary's checksum is wrong")


class _Fields:
    """Reads the fields of a record, never past its end."""

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


def _unpack_chunk(body: bytes) -> bytes:
    """Return the chunk's records, decompressed and checked."""
    fields = _Fields(body)
    _, _, size, crc = fields.numbers("<QQQI")
    compression = fields.text()
    data = fields.take(*fields.numbers("<Q"))
    if size > MAX_RECORD or fields.at != len(body):
        raise Damaged("a chunk declares a size that cannot be")
    data = _decompress(data, compression, size)
    if len(data) != size or zlib.crc32(data) != crc:
        raise Damaged("the checksum of a chunk is wrong")
    return data


def _decompress(data: bytes, compression: str, size: int) -> bytes:
    """Return the data; its own header must promise the size before it is unpacked."""
    if compression != "zstd":
        raise Damaged(f"compression '{compression}' where only zstd is written")
    try:
        if zstandard.get_frame_parameters(data).content_size != size:
            raise Damaged("a chunk's size is not that of its data")
        return bytes(zstandard.ZstdDecompressor().decompress(data))
    except (zstandard.ZstdError, MemoryError) as err:
        raise Damaged("a chunk cannot be decompressed") from err


def _split_chunk(data: bytes) -> Iterator[Schema | Topic | Message]:
    at, size = 0, len(data)
    while at < size:
        if size - at < 9:
            raise Damaged("a chunk's record is cut off")
        opcode, length = struct.unpack_from("<BQ", data, at)
        at += 9
        if length > size - at:
            raise Damaged("a chunk's record is cut off")
        yield _parse_in_chunk(opcode, data[at : at + length])
        at += length


def _parse_in_chunk(opcode: int, body: bytes) -> Schema | Topic | Message:
    if opcode == Opcode.MESSAGE and len(body) >= 22:
        channel_id, sequence, log, published = struct.unpack_from("<HIQQ", body)
        return Message(channel_id, sequence, log, published, body[22:])
    fields = _Fields(body)
    if opcode == Opcode.SCHEMA:
        (schema_id,) = fields.numbers("<H")
        name, encoding = fields.text(), fields.text()
        return Schema(schema_id, name, encoding, fields.take(*fields.numbers("<I")))
    if opcode == Opcode.CHANNEL:
        channel_id, schema_id = fields.numbers("<HH")
        return Topic(channel_id, schema_id, fields.text(), fields.text())
    raise Damaged(f"record of kind {opcode} in a chunk")
