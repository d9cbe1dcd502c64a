"""Place of results: a folder or fsspec address."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from fsspec.implementations.local import LocalFileSystem

from paprle_lab.batch.sources import find_system, is_address


class ResultStore:
    """A local or remote folder of atomically written files."""

    def __init__(self, address: str) -> None:
        """Resolve an address without writing.

        Raises:
            ConfigError: If the address is unknown.
            MissingDependency: Without its package.
        """
        if not is_address(address):
            address = str(Path(address).expanduser().resolve())
        self.address = address
        self._fs, self._root = find_system(address)
        self.is_here = isinstance(self._fs, LocalFileSystem)

    def write(self, name: str, data: bytes) -> None:
        """Write or replace a file atomically."""
        path = self._find(name)
        if not self.is_here:  # an object is there once all of it is
            self._fs.pipe_file(path, data)
            return
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        beside = Path(f"{path}.{uuid4().hex}.part")
        with beside.open("wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(path)

    def put(self, source: Path, name: str) -> None:
        """Copy a local file or folder here."""
        path = self._find(name)
        if source.is_dir():
            for one in sorted(source.rglob("*")):
                if one.is_file():
                    self.put(one, f"{name}/{one.relative_to(source)}")
            return
        self._fs.makedirs(self._fs._parent(path), exist_ok=True)  # noqa: SLF001 - public in all but name
        beside = f"{path}.{uuid4().hex}.part" if self.is_here else path
        self._fs.put_file(str(source), beside)
        if self.is_here:
            Path(beside).replace(path)

    def read(self, name: str) -> bytes | None:
        """Return a file's content, or None."""
        return self.read_all([name]).get(name)

    def read_all(self, names: Sequence[str]) -> dict[str, bytes]:
        """Return the content of existing files."""
        paths = {self._find(name): name for name in names}
        found: dict[str, Any] = self._fs.cat(list(paths), on_error="return")
        if isinstance(found, bytes):  # of one alone
            found = dict.fromkeys(paths, found)
        held: dict[str, bytes] = {}
        for path, data in found.items():
            if isinstance(data, bytes):
                held[paths[path]] = data
            elif not isinstance(data, FileNotFoundError):
                raise data
        return held

    def list_names(self, folder: str) -> list[str]:
        """Return a folder's file names."""
        self._fs.invalidate_cache()
        try:
            found = self._fs.ls(self._find(folder), detail=False)
        except FileNotFoundError:
            return []
        return [str(path).rsplit("/", 1)[-1] for path in found]

    def _find(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"
