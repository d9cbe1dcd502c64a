"""Files of a plan, by path or fsspec address."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import fsspec

from paprle.contracts.errors import ConfigError, MissingDependency


def is_address(text: str) -> bool:
    """Return whether a text is an address."""
    return "://" in text


def find_system(address: str) -> tuple[Any, str]:
    """Return file system and path.

    Raises:
        ConfigError: If the address is unknown.
        MissingDependency: Without its package.
    """
    try:
        system, path = fsspec.core.url_to_fs(address)
    except ImportError as err:
        raise MissingDependency(
            f"'{address}': expected its package, got none: {err}"
        ) from err
    except ValueError as err:
        raise ConfigError(f"'{address}': expected a folder or address; {err}") from err
    return system, str(path)


def list_files(pattern: str) -> list[str]:
    """Return the sorted matches of an absolute pattern or address.

    Raises:
        ConfigError: If it cannot be read.
    """
    if not is_address(pattern):
        root = Path(pattern)
        found = Path(root.anchor).glob(str(root.relative_to(root.anchor)))
        return sorted(map(str, found))
    system, path = find_system(pattern)
    try:
        return sorted(map(system.unstrip_protocol, system.glob(path)))
    except OSError as err:
        raise ConfigError(f"'{pattern}': expected files, got {err}") from err


def list_recordings(pattern: str) -> list[str]:
    """Return the recordings of a pattern or folder.

    Raises:
        ConfigError: If it cannot be read.
    """
    if not is_address(pattern):
        root = Path(pattern)
        is_folder = root.is_dir()
        return (
            sorted(map(str, root.rglob("*.mcap"))) if is_folder else list_files(pattern)
        )
    system, path = find_system(pattern)
    return list_files(
        f"{pattern.rstrip('/')}/**/*.mcap" if system.isdir(path) else pattern
    )


def hash_anew(path: str) -> str:
    """Return the SHA-256 of a local or remote file."""
    digest = hashlib.sha256()
    system, where = find_system(path)
    with system.open(where, "rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


@cache
def hash_file(path: str) -> str:
    """Return the cached SHA-256 of a file."""
    return hash_anew(path)


def fetch(address: str, folder: Path) -> Path:
    """Return a local copy of a remote address; local paths are unchanged.

    Raises:
        ConfigError: If the address is empty.
    """
    if not is_address(address):
        return Path(address)
    system, path = find_system(address)
    copy = folder / path.rstrip("/").rsplit("/", 1)[-1]
    try:
        if system.isdir(path):
            for one in system.find(path):
                own = copy / str(one)[len(path.rstrip("/")) + 1 :]
                own.parent.mkdir(parents=True, exist_ok=True)
                system.get_file(one, str(own))
        else:
            folder.mkdir(parents=True, exist_ok=True)
            system.get_file(path, str(copy))
    except FileNotFoundError as err:
        raise ConfigError(
            f"'{address}': expected the file of the plan, got none there"
        ) from err
    return copy
