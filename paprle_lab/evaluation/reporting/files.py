"""Folder and name of a report, and files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from paprle.contracts.errors import ConfigError, RecordingError
from paprle.recording.others.bags import is_bag
from paprle.recording.reader import find_episode

_MODE = 0o644


def choose_folder(paths: Sequence[Path]) -> Path:
    """Return the default folder of the report on some episodes.

    That of the first episode; for a bag the working directory, since nothing is written
    into somebody's data.
    """
    first = paths[0]
    if first.exists() and is_bag(first):
        return Path.cwd()
    return first if first.is_dir() else first.parent


def name_report(paths: Sequence[Path]) -> str:
    """Return the name of the report on some episodes, without a suffix.

    It tells the first one and how many others, so that no report on one episode is
    written over by that on another.
    """
    first, others = _find_name(paths[0]), len(paths) - 1
    if not others:
        return f"{first}.report"
    return f"{first}_and_{others}_more.report"


def _find_name(path: Path) -> str:
    """Return the name of an episode, also of the only one in a folder."""
    if not path.is_dir():
        return path.stem
    try:
        return find_episode(path).stem
    except RecordingError:
        return path.resolve().name


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all; a link in its place is replaced, not followed.

    Raises:
        ConfigError: If it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).chmod(_MODE)
            Path(name).replace(path)
        finally:
            with contextlib.suppress(FileNotFoundError):
                Path(name).unlink()
    except OSError as err:
        raise ConfigError(
            f"report: expected to write '{path}', got {err}; choose a folder with --out"
        ) from err
