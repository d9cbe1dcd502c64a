"""Folder of a data set, locked by its writer."""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from paprle.contracts.errors import ConfigError

STAGE = ".paprle"
OWN = "paprle.json"
_PART = ".part"


class StagingFolder:
    """A data set's folder, held by this process."""

    def __init__(self, root: Path, meta: str) -> None:
        """Lock the folder.

        Raises:
            ConfigError: If it is foreign or locked.
        """
        self.root, self._meta = root, root / meta
        self._stage = root / STAGE
        is_other = root.exists() and not root.is_dir()
        is_ours = (self._meta / OWN).is_file() or self._stage.is_dir()
        if is_other or (root.is_dir() and any(root.iterdir()) and not is_ours):
            raise ConfigError(
                f"dataset: expected a new folder or a data set made by paprle in "
                f"'{root}', got something else; choose another --out"
            )
        self._lock: IO[str] = self._take_lock()
        self.own: Mapping[str, Any] = {}
        try:
            self._recover()
            if (self._meta / OWN).is_file():
                self.own = self._read_own()
        except BaseException:
            self.close()
            raise

    def find(self, name: str) -> Path | None:
        """Return the folder of a complete piece."""
        path = self._stage / name
        return path if path.is_dir() else None

    def begin(self, name: str) -> Path:
        """Return an empty folder for a piece."""
        path = self._stage / f"{name}{_PART}"
        self._remove(path)
        path.mkdir()
        return path

    def finish(self, part: Path) -> Path:
        """Rename a complete piece."""
        return part.rename(part.with_name(part.name.removesuffix(_PART)))

    def abandon(self, part: Path) -> None:
        """Remove an incomplete piece."""
        self._remove(part)

    def begin_meta(self) -> Path:
        """Return a copy of the metadata to change."""
        path = self._stage / "meta.new"
        self._remove(path)
        if self._meta.is_dir():
            shutil.copytree(self._meta, path)
        else:
            path.mkdir()
        return path

    def finish_meta(self, changed: Path) -> None:
        """Install the metadata, and remove packed pieces."""
        old = self._stage / "meta.old"
        self._remove(old)
        if self._meta.is_dir():
            self._meta.rename(old)
        changed.rename(self._meta)
        shutil.rmtree(self._stage)

    def close(self) -> None:
        """Unlock the folder; unpacked pieces remain."""
        self._lock.close()

    def _take_lock(self) -> IO[str]:
        try:
            self._stage.mkdir(parents=True, exist_ok=True)
            lock = (self._stage / "lock").open("w")
        except OSError as err:
            raise ConfigError(
                f"dataset: expected to write '{self.root}', got {err}"
            ) from err
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as err:
            lock.close()
            raise ConfigError(
                f"dataset: expected '{self.root}' for this run alone, got another run "
                "that writes it; wait for it"
            ) from err
        return lock

    def _recover(self) -> None:
        """Undo an interrupted exchange of ``meta``."""
        old = self._stage / "meta.old"
        if not self._meta.is_dir() and old.is_dir():
            old.rename(self._meta)

    def _read_own(self) -> Mapping[str, Any]:
        path = self._meta / OWN
        try:
            own = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as err:
            raise ConfigError(
                f"dataset: expected {path} as paprle writes it, got {err}; choose "
                "another --out"
            ) from err
        if not isinstance(own, dict):
            raise ConfigError(f"dataset: expected a JSON object in {path}, got another")
        return own

    def _remove(self, path: Path) -> None:
        if path.exists():
            shutil.rmtree(path)
