"""Paths and atomic writes of a report."""

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
    """Return the first episode's folder, or for a bag the working directory."""
    first = paths[0]
    if first.exists() and is_bag(first):
        return Path.cwd()
    return first if first.is_dir() else first.parent


def name_report(paths: Sequence[Path]) -> str:
    """Return a report's name without suffix."""
    first, others = _find_name(paths[0]), len(paths) - 1
    if not others:
        return f"{first}.report"
    return f"{first}_and_{others}_more.report"


def _find_name(path: Path) -> str:
    if not path.is_dir():
        return path.stem
    try:
        return find_episode(path).stem
    except RecordingError:
        return path.resolve().name


def write_text(path: Path, text: str) -> None:
    """Write a file atomically; replace a symbolic link.

    Raises:
        ConfigError: On failure.
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
