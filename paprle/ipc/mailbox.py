"""Lock-free records in inherited shared memory."""

from __future__ import annotations

import mmap
import os
import tempfile
import zlib
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from paprle.contracts.errors import ConfigError, SessionError
from paprle.ipc.records import Record

T = TypeVar("T")

_N_KINDS = 8  # chosen: more than Stream has
_SLOT_HEAD = 2  # words: number and checksum
_IMAGE_HEAD = 4  # words: number, stamp, length and checksum
_RING_HEADER = 64 + 8 * _N_KINDS


def _make_shared(n_bytes: int) -> int:
    # It lies in memory where the kernel has such files: a page of one on a disk is
    # written back now and then, and who touches it meanwhile may wait for the disk.
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("paprle")
    else:
        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    try:
        os.truncate(fd, n_bytes)
    except OSError as err:
        os.close(fd)
        raise ConfigError(
            f"session: expected a file in memory of {n_bytes} bytes to be allowed, got "
            f"'{err.strerror}'; raise the limit of files (ulimit -f unlimited)"
        ) from err
    return fd


def _map(fd: int, n_bytes: int) -> mmap.mmap:
    try:
        return mmap.mmap(fd, n_bytes)
    except OSError as err:
        raise SessionError(
            f"session: expected room for {n_bytes} bytes of shared memory, got "
            f"'{err.strerror}'; free memory, or raise its limit (ulimit -v)"
        ) from err


class Mailbox:
    """Newest record of a dtype, never torn; ``fd`` is inheritable.

    A killed writer leaves the previous record whole.
    """

    def __init__(self, dtype: np.dtype[np.void], fd: int | None = None) -> None:
        self._dtype = dtype
        self._stride = _SLOT_HEAD + -(-dtype.itemsize // 8)
        size = 8 * (1 + 2 * self._stride)
        # of each slot, its first word and the bytes of its record
        starts = [(at, 8 * (at + _SLOT_HEAD)) for at in (1, 1 + self._stride)]
        self._slots = [
            (at, slice(start, start + dtype.itemsize)) for at, start in starts
        ]
        self.fd = _make_shared(size) if fd is None else fd
        self._map = _map(self.fd, size)
        # the count, then two slots: in words, as memory writes them, at once
        self._words = memoryview(self._map).cast("Q")

    def write(self, record: Record) -> None:
        """Publish a copy of the record; for one process only."""
        words = self._words
        count = words[0] + 1
        at, place = self._slots[count % 2]
        payload = record.tobytes()
        words[at] = 0
        self._map[place] = payload
        words[at + 1] = zlib.crc32(payload)
        words[at] = count
        words[0] = count

    def read(self) -> Record | None:
        """Return the newest record; never blocks."""
        words = self._words
        for _ in range(4):  # chosen: a writer can lap a reader, but not four times
            count = words[0]
            if count == 0:
                return None
            at, place = self._slots[count % 2]
            number, checksum = words[at], words[at + 1]
            payload = self._map[place]
            if number == count and checksum == zlib.crc32(payload):
                return np.ndarray((), self._dtype, payload)
        return None

    @property
    def count(self) -> int:
        """Number of records written."""
        return self._words[0]


class Newest(Generic[T]):
    """Newest record of a mailbox, unpacked once per change."""

    def __init__(self, mailbox: Mailbox, unpack: Callable[[Record], T]) -> None:
        self._mailbox, self._unpack, self._count = mailbox, unpack, 0
        self._newest: T | None = None

    def read(self) -> T | None:
        """Return the newest, the same object until it changes; two threads may read."""
        count = self._mailbox.count
        if count != self._count:
            record = self._mailbox.read()
            if record is not None:
                self._newest, self._count = self._unpack(record), count
        return self._newest


class Image(NamedTuple):
    """Image in the camera's encoding, exposed at monotonic ``stamp_ns``."""

    stamp_ns: int
    data: bytes


class ImageSlots:
    """Newest image up to a size, never torn; ``fd`` is inheritable."""

    def __init__(self, n_bytes: int, n_slots: int, fd: int | None = None) -> None:
        self._room, self._n = n_bytes, n_slots
        self._stride = _IMAGE_HEAD + -(-n_bytes // 8)
        size = 8 * (1 + n_slots * self._stride)
        self.fd = _make_shared(size) if fd is None else fd
        self._map = _map(self.fd, size)
        self._words = memoryview(self._map).cast("Q")

    def write(self, stamp_ns: int, data: bytes) -> bool:
        """Publish an image, or take it back if empty; False if too large."""
        if len(data) > self._room:
            return False
        words, count = self._words, self._words[0] + 1
        at = 1 + (count % self._n) * self._stride
        start = 8 * (at + _IMAGE_HEAD)
        words[at] = 0
        self._map[start : start + len(data)] = data
        words[at + 1], words[at + 2] = stamp_ns, len(data)
        words[at + 3] = zlib.crc32(data)
        words[at] = count
        words[0] = count
        return True

    def read(self) -> Image | None:
        """Return the newest image; never blocks."""
        words = self._words
        for _ in range(4):  # chosen: as a mailbox does
            count = words[0]
            if count == 0:
                return None
            at = 1 + (count % self._n) * self._stride
            number, stamp_ns, n_bytes, checksum = words[at : at + _IMAGE_HEAD].tolist()
            if number != count or n_bytes > self._room:
                continue
            start = 8 * (at + _IMAGE_HEAD)
            data = self._map[start : start + n_bytes]
            if checksum == zlib.crc32(data):
                return Image(stamp_ns, data) if data else None
        return None

    @property
    def has_image(self) -> bool:
        """Whether there is an image, not taken back."""
        at = 1 + (self._words[0] % self._n) * self._stride
        return self._words[at + 2] > 0

    @property
    def count(self) -> int:
        """Number of images written."""
        return self._words[0]


class Ring:
    """Bounded bytes from one producer to one consumer; ``fd`` is inheritable."""

    def __init__(self, n_bytes: int, fd: int | None = None) -> None:
        self._size = n_bytes
        self.fd = _make_shared(_RING_HEADER + n_bytes) if fd is None else fd
        self._map = _map(self.fd, _RING_HEADER + n_bytes)
        self._ends = np.frombuffer(self._map, dtype="u8", count=2)  # head, tail
        self._dropped = np.frombuffer(
            self._map, dtype="u8", count=_N_KINDS, offset=_RING_HEADER - 8 * _N_KINDS
        )

    def push(self, kind: int, payload: bytes, spare: int = 0) -> bool:
        """Append a record if ``spare`` bytes stay free, else count a drop."""
        head, tail = int(self._ends[0]), int(self._ends[1])
        need = 8 + len(payload)
        if need > self._size - (head - tail) - spare:
            self._dropped[kind] += 1
            return False
        header = len(payload).to_bytes(4, "little") + kind.to_bytes(4, "little")
        self._put(head, header + payload)
        self._ends[0] = head + need
        return True

    def drain(self) -> list[tuple[int, bytes]]:
        """Return the new records, oldest first."""
        head, tail = int(self._ends[0]), int(self._ends[1])
        records = []
        while tail < head:
            header = self._take(tail, 8)
            n_bytes = int.from_bytes(header[:4], "little")
            kind = int.from_bytes(header[4:], "little")
            records.append((kind, self._take(tail + 8, n_bytes)))
            tail += 8 + n_bytes
        self._ends[1] = tail
        return records

    @property
    def ends(self) -> tuple[int, int]:
        """Numbers of bytes pushed and taken."""
        return int(self._ends[0]), int(self._ends[1])

    @property
    def dropped(self) -> dict[int, int]:
        """Number of drops by kind."""
        return {kind: int(n) for kind, n in enumerate(self._dropped) if n}

    def _put(self, position: int, data: bytes) -> None:
        at = position % self._size
        first = min(len(data), self._size - at)
        self._map[_RING_HEADER + at : _RING_HEADER + at + first] = data[:first]
        if first < len(data):
            rest = data[first:]
            self._map[_RING_HEADER : _RING_HEADER + len(rest)] = rest

    def _take(self, position: int, n_bytes: int) -> bytes:
        at = position % self._size
        first = min(n_bytes, self._size - at)
        data = self._map[_RING_HEADER + at : _RING_HEADER + at + first]
        if first < n_bytes:
            data += self._map[_RING_HEADER : _RING_HEADER + n_bytes - first]
        return data
