"""Episodes of HDF5 and zarr files, with their arrays.

A file of ACT or ALOHA is one episode; one of robomimic has a group for each below
``data``; a zarr of UMI or diffusion policy has them behind each other, with their ends
in ``meta/episode_ends``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import zarr

from paprle.contracts.errors import ConfigError, RecordingError

HDF5 = frozenset({".hdf5", ".h5"})
_MOST = 10_000  # chosen: arrays of a file that are looked at
_TASKS = ("language_instruction", "task", "lang", "instruction")
"""Attributes that hold an episode's instruction."""


@dataclass(frozen=True)
class TableEpisode:
    """Rows ``begin`` to ``end`` of arrays, by path; ``total``: rows of each array."""

    arrays: Mapping[str, Any]
    begin: int
    end: int
    total: int
    task: str = ""

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.end - self.begin

    def read(self, name: str, first: int, last: int) -> Any:
        """Return rows of an array, counted from the episode's first."""
        return np.asarray(self.arrays[name][self.begin + first : self.begin + last])


@dataclass(frozen=True)
class TableFile:
    """An open file; ``fps`` is 0 where it does not state one, [Hz]."""

    path: Path
    episodes: list[TableEpisode] = field(default_factory=list)
    fps: float = 0.0


def is_table(path: Path) -> bool:
    """Return whether a path is an HDF5 or zarr file."""
    return path.suffix in HDF5 or path.name.endswith((".zarr", ".zarr.zip"))


def list_tables(places: list[Path]) -> list[Path]:
    """Return tables, and those of folders by the numbers in their names.

    Raises:
        ConfigError: If a place has none.
    """
    found = list[Path]()
    for place in places:
        if is_table(place) or not place.is_dir():
            found.append(place)
            continue
        inside = [path for path in place.rglob("*") if is_table(path)]
        inside = [one for one in inside if not any(map(is_table, one.parents))]
        if not inside:
            raise ConfigError(f"expected HDF5 or zarr files in '{place}', got none")
        found += sorted(inside, key=lambda one: _split_numbers(str(one)))
    return found


@contextmanager
def open_table(path: Path) -> Iterator[TableFile]:
    """Open a file.

    Raises:
        ConfigError: If there is none.
        RecordingError: If it is damaged, or a read fails.
    """
    if not path.exists():
        raise ConfigError(f"expected an HDF5 or zarr file, got nothing at '{path}'")
    opened = _open_hdf5 if path.suffix in HDF5 else _open_zarr
    try:
        with opened(path) as file:
            yield file
    except (ConfigError, RecordingError):
        raise
    except Exception as err:  # their codecs raise anything
        raise RecordingError(
            f"{path}: expected a whole HDF5 or zarr file, got {type(err).__name__}: "
            f"{str(err)[:300]}"
        ) from err


@contextmanager
def _open_hdf5(path: Path) -> Iterator[TableFile]:
    with h5py.File(path, "r") as file:
        groups = _find_groups(file)
        episodes = []
        for group in groups:
            arrays = _list_arrays(group)
            lengths = [array.shape[0] for array in arrays.values()]
            n = max(set(lengths), key=lengths.count, default=0)
            episodes.append(TableEpisode(arrays, 0, n, n, _find_task(group)))
        yield TableFile(path, episodes, _find_rate(file))


def _find_groups(file: Any) -> list[Any]:
    """Return the groups that are episodes: those below ``data``, or the file."""
    if (
        "data" in file
        and _is_own(file, "data")
        and isinstance(file["data"], h5py.Group)
    ):
        data = file["data"]
        groups = [
            data[name]
            for name in data
            if _is_own(data, name) and isinstance(data[name], h5py.Group)
        ]
        if groups and len(groups) == len(data):
            return sorted(groups, key=lambda one: _split_numbers(one.name))
    return [file]


def _is_own(group: Any, name: str) -> bool:
    """Return whether a member is in this file, and no link."""
    return isinstance(group.get(name, getlink=True), h5py.HardLink)


def _list_arrays(group: Any) -> dict[str, Any]:
    found = dict[str, Any]()

    def visit(name: str, one: Any) -> bool | None:
        is_array = isinstance(one, h5py.Dataset) and one.ndim
        if is_array and not one.is_virtual and not one.external:  # of other files
            found[name] = one
        return True if len(found) >= _MOST else None

    group.visititems(visit)  # follows no link out of the file
    return found


def _find_task(group: Any) -> str:
    for name in _TASKS:
        value = group.attrs.get(name)
        if isinstance(value, bytes):
            value = value.decode(errors="replace")
        if isinstance(value, str):
            return value
    return ""


def _find_rate(file: Any) -> float:
    """Return the rate that robomimic's files state, [Hz]."""
    try:
        settings = json.loads(file["data"].attrs["env_args"])
        return float(settings["env_kwargs"]["control_freq"])
    except (KeyError, TypeError, ValueError):
        return 0.0


@contextmanager
def _open_zarr(path: Path) -> Iterator[TableFile]:
    is_zip = path.suffix == ".zip"
    store: Any = zarr.storage.ZipStore(str(path), mode="r") if is_zip else str(path)
    try:
        group = zarr.open_group(store, mode="r")
        ends = [int(end) for end in np.asarray(group["meta/episode_ends"][:])]
        arrays = {f"data/{name}": array for name, array in group["data"].arrays()}
        begins = [0, *ends[:-1]]
        n = min((array.shape[0] for array in arrays.values()), default=0)
        if any(b >= e for b, e in zip(begins, ends, strict=True)) or max(ends) > n:
            raise RecordingError(
                f"{path}: expected meta/episode_ends to rise to {n}, got "
                f"{str(ends)[:80]}"
            )
        pairs = zip(begins, ends, strict=True)
        yield TableFile(path, [TableEpisode(arrays, b, e, ends[-1]) for b, e in pairs])
    finally:
        if is_zip:
            store.close()


def _split_numbers(text: str) -> list[tuple[int, int | str]]:
    return [
        (0, int(part)) if part.isdigit() else (1, part)
        for part in re.split(r"(\d+)", text)
        if part
    ]
