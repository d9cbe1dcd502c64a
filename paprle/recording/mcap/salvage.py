"""Salvage of every valid chunk of a file."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from mcap.opcode import Opcode

from paprle.contracts.errors import RecordingError
from paprle.ipc.records import Stream
from paprle.recording.mcap.scan import (
    FOOTER_BYTES,
    MAX_RECORD,
    Attachment,
    Chunk,
    Damaged,
    Messages,
    Metadata,
    Scanner,
    Schema,
    Topic,
    parse_declaration,
    unpack_chunk,
)

_HEAD = 9  # [bytes] spec: mcap.dev: opcode and length of a record
_NAMED_AT = _HEAD + 28  # [bytes] spec: mcap.dev, Chunk: where its compression stands
_NAME = struct.pack("<I", 4) + b"zstd"
_BLOCK = 1 << 16  # [bytes] chosen: searched at a time


class Salvager(Scanner):
    """Iterator over a file's valid parts; ``problem`` names the first damage.

    Attributes:
        tail_bytes: Lost bytes after the last valid part.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.lost_bytes = self.tail_bytes = 0
        self._whole = self._search = 0
        self._is_ended = self._is_declared = False

    def __iter__(self) -> Iterator[Attachment | Metadata | Chunk]:
        with self._path.open("rb") as file:
            try:
                self._begin(file)
            except Damaged as damage:
                self._note(damage)
            while not self.is_complete:
                try:
                    for item in self._records(file):
                        self._whole = self._search = file.tell()
                        yield item
                    self.is_complete = not self.problem
                    return
                except Damaged as damage:
                    self._note(damage)
                at = self._find_chunk(file)
                if at is None:
                    break
                self.lost_bytes += at - self._whole
                self._whole, self._search = at, at + 1
                yield from self._declare(file)
                file.seek(at)
            if not self._is_ended:
                self.tail_bytes = self.size - self._whole
                self.lost_bytes += self.tail_bytes

    def _note(self, damage: Damaged) -> None:
        self.problem = (
            self.problem or f"{damage} at byte {self.valid_bytes} of {self.size}"
        )

    def _find_chunk(self, file: BinaryIO) -> int | None:
        place = self._search
        while True:
            file.seek(place)
            block = file.read(_BLOCK)
            found = block.find(_NAME, _NAMED_AT)
            if found >= 0:
                place += found - _NAMED_AT
                if self._is_whole(file, place):
                    return place
                place += 1
            elif len(block) < _BLOCK:
                return None
            else:
                place += len(block) - _NAMED_AT - len(_NAME) + 1

    def _is_whole(self, file: BinaryIO, at: int) -> bool:
        file.seek(at)
        opcode, length = struct.unpack("<BQ", file.read(_HEAD))
        if opcode != Opcode.CHUNK or length > min(MAX_RECORD, self.size - file.tell()):
            return False
        try:
            unpack_chunk(file.read(length))
        except Damaged:
            return False
        return True

    def _declare(self, file: BinaryIO) -> Iterator[Chunk]:
        if self._is_declared:
            return
        self._is_declared = True
        try:
            declared = self._drop_known(self._read_declarations(file))
            self._check_rows(declared)
        except Damaged:
            return  # the chunks that are left declare what they need, or are lost
        yield declared

    def _read_declarations(self, file: BinaryIO) -> Chunk:
        file.seek(max(self.size - FOOTER_BYTES, 0))
        footer = file.read(FOOTER_BYTES)
        if len(footer) < FOOTER_BYTES:
            raise Damaged("the file has no summary")
        (start,) = struct.unpack_from("<Q", footer, _HEAD)
        file.seek(min(start, self.size))
        summary = self._check_summary(file)
        declared: Chunk = []
        at = 0
        while at + _HEAD <= len(summary):
            opcode, length = struct.unpack_from("<BQ", summary, at)
            at += _HEAD + length
            if opcode in (Opcode.SCHEMA, Opcode.CHANNEL):
                declared.append(parse_declaration(opcode, summary[at - length : at]))
        return declared

    def _drop_known(self, chunk: Chunk) -> Chunk:
        return [
            record
            for record in chunk
            if not (isinstance(record, Schema) and record.id in self._schemas)
            and not (isinstance(record, Topic) and record.id in self._rows)
        ]

    def _check_rows(self, chunk: Chunk) -> None:
        if self._is_declared:
            chunk[:] = self._drop_known(chunk)
        super()._check_rows(chunk)

    def _check_row(self, messages: Messages) -> None:
        channel = messages.channel_id
        expected = self._rows.get(channel, messages.sequence)
        if messages.sequence > expected:
            if channel not in self._sparse:
                self._note(Damaged(f"messages missing on channel {channel}"))
            self._rows[channel] = messages.sequence
        super()._check_row(messages)

    def _check_end(self, file: BinaryIO, body: bytes, crc: int) -> None:
        self._is_ended = len(body) == 4
        super()._check_end(file, body, crc)


@dataclass(frozen=True)
class LostMessages:
    """Missing messages of a channel, between wall times."""

    topic: str
    n: int
    begin_ns: int
    end_ns: int


class Renumbering:
    """Renumbering of rows without gaps, by stream."""

    def __init__(self, streams: Mapping[str, Stream]) -> None:
        self.losses: list[LostMessages] = []
        self._streams = streams
        self._topics: dict[int, Topic] = {}
        self._n_given: dict[int, int] = {}
        self._last_ns: dict[int, int] = {}
        self._missing: dict[int, int] = {}
        self._n_missing: dict[Stream | str, int] = {}

    def renumber(self, chunk: Chunk) -> Chunk:
        """Return the next chunk, renumbered.

        Raises:
            RecordingError: If channels of one stream lack different rows.
        """
        for record in chunk:
            if isinstance(record, Topic):
                self._topics[record.id] = record
        for record in chunk:
            if isinstance(record, Messages) and not self._is_sparse(record):
                self._count(record)
        self._check_alike()
        return [
            replace(record, sequence=record.sequence - self._find_shift(record))
            if isinstance(record, Messages)
            else record
            for record in chunk
        ]

    def _check_alike(self) -> None:
        for channel, missing in self._missing.items():
            rows = self._name_rows(channel)
            if self._n_missing[rows] != missing:
                raise RecordingError(
                    f"expected chunks with all channels of a stream, got one without "
                    f"{self._topics[channel].topic}; another program wrote the file"
                )

    def _is_sparse(self, messages: Messages) -> bool:
        return bool(self._topics[messages.channel_id].left_out)

    def _find_shift(self, messages: Messages) -> int:
        return self._n_missing.get(self._name_rows(messages.channel_id), 0)

    def _name_rows(self, channel: int) -> Stream | str:
        topic = self._topics[channel].topic
        return self._streams.get(topic, topic)

    def _count(self, messages: Messages) -> None:
        channel, log = messages.channel_id, messages.log_time
        rows = self._name_rows(channel)
        given = self._n_given.get(channel, 0)
        missing = messages.sequence - given
        topic = self._topics[channel].topic
        n, end = missing - self._missing.get(channel, 0), int(log[0])
        if n > 0:
            period = (int(log[-1]) - end) // max(len(log) - 1, 1)
            begin = self._last_ns.get(channel, end - n * period)
            self.losses.append(LostMessages(topic, n, begin, end))
        self._n_missing[rows] = self._missing[channel] = missing
        self._n_given[channel] = given + len(log)
        self._last_ns[channel] = int(log[-1])
