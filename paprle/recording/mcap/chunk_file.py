"""Files of a journal; methods raise OSError if the disk fails."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

_BLOCK = 1 << 16  # [bytes] chosen: that are kept in memory, or read at a time


class FileSink:
    """Hashed file, written once per flush.

    ``sync`` runs fdatasync on its own thread; the next flush or close raises its error.
    """

    def __init__(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self._fd = os.open(path, flags, 0o644)
        self._parts: list[bytes] = []
        self._n_bytes = 0
        self._sha256 = hashlib.sha256()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="journal-sync")
        self._pending: Future[None] | None = None

    def write(self, data: bytes) -> int:
        """Buffer bytes for the next flush."""
        self._parts.append(bytes(data))
        self._n_bytes += len(data)
        return len(data)

    def tell(self) -> int:
        """Return the position after everything buffered."""
        return self._n_bytes

    def flush(self) -> None:
        """Write the buffer to the kernel."""
        data, self._parts = b"".join(self._parts), []
        self._sha256.update(data)
        _write_all(self._fd, data)
        if self._pending is not None and self._pending.done():
            pending, self._pending = self._pending, None
            pending.result()

    def sync(self) -> None:
        """Start fdatasync unless one is running."""
        if self._pending is None:
            fdatasync = getattr(os, "fdatasync", os.fsync)  # macOS has none
            self._pending = self._pool.submit(fdatasync, self._fd)

    def close(self) -> None:
        """Sync and close the file; idempotent."""
        if self._fd < 0:
            return
        fd, self._fd = self._fd, -1
        try:
            self._pool.shutdown(wait=True)
            os.fsync(fd)
            if self._pending is not None:
                self._pending.result()
        finally:
            os.close(fd)

    def is_at(self, path: Path) -> bool:
        """Return whether a path names this file."""
        try:
            return os.path.samestat(path.stat(), os.fstat(self._fd))
        except FileNotFoundError:
            return False

    def hexdigest(self) -> str:
        """Return the SHA-256 of everything flushed."""
        return self._sha256.hexdigest()


class Spill:
    """Buffer of bytes in an unnamed file."""

    def __init__(self, folder: Path) -> None:
        with tempfile.TemporaryFile(dir=folder) as file:
            self._fd = os.dup(file.fileno())
        self._parts = bytearray()

    def write(self, data: bytes) -> None:
        """Append bytes."""
        self._parts += data
        if len(self._parts) >= _BLOCK:
            self._flush()

    def read(self) -> Iterator[bytes]:
        """Yield all bytes, block by block."""
        self._flush()
        os.lseek(self._fd, 0, os.SEEK_SET)
        while block := os.read(self._fd, _BLOCK):
            yield block

    def close(self) -> None:
        """Close the file; idempotent."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _flush(self) -> None:
        _write_all(self._fd, self._parts)
        self._parts = bytearray()


def _write_all(fd: int, data: bytes | bytearray) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
