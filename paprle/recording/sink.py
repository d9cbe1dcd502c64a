"""The file under a journal: nothing reaches it but whole chunks."""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path


class FileSink:
    """A new file, written in one call a flush, hashed on the way.

    ``write`` only collects, so that what a kill can tear is one chunk at the end.
    ``sync`` runs fdatasync on a thread of its own: a slow disk does not hold up the
    chunks that follow, and its error comes out of the next call.
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
        """Collect bytes for the next flush."""
        self._parts.append(bytes(data))
        self._n_bytes += len(data)
        return len(data)

    def tell(self) -> int:
        """Return the position after all that was written so far."""
        return self._n_bytes

    def flush(self) -> None:
        """Hand everything collected to the kernel.

        Raises:
            OSError: If the disk is full or fails, now or in an earlier sync.
        """
        data, self._parts = b"".join(self._parts), []
        self._sha256.update(data)
        view = memoryview(data)
        while view:
            view = view[os.write(self._fd, view) :]
        if self._pending is not None and self._pending.done():
            pending, self._pending = self._pending, None
            pending.result()

    def sync(self) -> None:
        """Start writing everything to the disk, unless that is still going on."""
        if self._pending is None:
            fdatasync = getattr(os, "fdatasync", os.fsync)  # macOS has none
            self._pending = self._pool.submit(fdatasync, self._fd)

    def close(self) -> None:
        """Wait until everything is on the disk and let go; may be called twice.

        Raises:
            OSError: If the disk failed.
        """
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
        """Whether a path names this file."""
        try:
            return os.path.samestat(path.stat(), os.fstat(self._fd))
        except FileNotFoundError:
            return False

    def hexdigest(self) -> str:
        """Return the SHA-256 of everything flushed."""
        return self._sha256.hexdigest()
