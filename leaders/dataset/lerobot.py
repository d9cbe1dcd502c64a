"""LeRobot datasets of version 3: files with many episodes.

References:
    LeRobotDataset v3.0: ``meta/info.json``, ``meta/episodes/*/*.parquet``,
    ``data_path``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.types import Vec
from paprle.leaders.dataset.table import DatasetReader, Table

_LARGEST_INFO = 16 * 2**20  # [bytes] chosen: names of a thousand features
_INDEX = ("episode_index", "length", "data/chunk_index", "data/file_index")


class _Place(NamedTuple):
    number: int
    n_rows: int
    file: Path


class LerobotSource(DatasetReader):
    """A folder with ``meta`` and ``data``."""

    def __init__(self, path: Path, features: Sequence[str]) -> None:
        """Read the folder's index.

        Raises:
            ConfigError: For a missing feature, or another version.
            DeviceError: If it cannot be read.
            ImportError: Without pyarrow.
        """
        import pyarrow as pa  # noqa: PLC0415 - only for who plays such a dataset
        import pyarrow.parquet as pq  # noqa: PLC0415

        self.path, self._features = path, tuple(features)
        self._pq: Any = pq
        self._broken = (OSError, ValueError, KeyError, TypeError, pa.ArrowException)
        try:
            info = self._read_info()
            self._names = tuple(
                name for one in features for name in _name_columns(path, info, one)
            )
            self._places = self._find_places(str(info["data_path"]))
            n, declared = len(self._places), info.get("total_episodes")
            if isinstance(declared, int) and declared > n:
                self.shortage = (
                    f"expected {declared} episodes, which meta/info.json declares, got "
                    f"an index of {n}; {declared - n} are missing"
                )
        except ConfigError:
            raise
        except self._broken as err:
            raise DeviceError(
                f"{path}: expected a LeRobot dataset of version 3, got "
                f"{type(err).__name__}: {err}"
            ) from err

    @property
    def n_episodes(self) -> int:
        """Number of episodes."""
        return len(self._places)

    def read(self, episode: int) -> Table:
        """Return the rows of one episode, in order.

        Raises:
            DeviceError: If they contradict the index.
        """
        place = self._places[episode]
        self.check_length(episode, place.n_rows)
        try:
            return self._read(place)
        except self._broken as err:
            raise DeviceError(
                f"{place.file}: expected the rows of episode {episode}, got {err}"
            ) from err

    def _read(self, place: _Place) -> Table:
        table = self._pq.read_table(
            place.file,
            columns=["timestamp", *self._features],
            filters=[("episode_index", "=", place.number)],
            use_threads=False,
        )
        if table.num_rows != place.n_rows:
            raise ValueError(
                f"{table.num_rows} rows where its index says {place.n_rows}"
            )
        t = _to_numbers(table["timestamp"], 1)[:, 0]
        values = np.hstack([_to_numbers(table[one]) for one in self._features])
        n = values.shape[1]
        if n != len(self._names):
            raise ValueError(f"{n} columns where info.json names {len(self._names)}")
        return Table(t=t, names=self._names, values=values)

    def close(self) -> None:
        """Do nothing; files close after reading."""

    def _read_info(self) -> dict[str, Any]:
        file = self.path / "meta" / "info.json"
        if file.stat().st_size > _LARGEST_INFO:
            raise ValueError(f"info.json of {file.stat().st_size} bytes")
        info: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        version = str(info.get("codebase_version"))
        if not version.startswith("v3"):
            raise ConfigError(
                f"{self.path}: expected a LeRobot dataset of version 3, got "
                f"'{version}'; convert it with LeRobot's own script"
            )
        return info

    def _find_places(self, template: str) -> list[_Place]:
        places = []
        for file in sorted((self.path / "meta" / "episodes").glob("*/*.parquet")):
            table = self._pq.read_table(file, columns=list(_INDEX), use_threads=False)
            for number, n_rows, chunk, part in zip(
                *(table[name].to_pylist() for name in _INDEX), strict=True
            ):
                data = template.format(chunk_index=int(chunk), file_index=int(part))
                places.append(_Place(int(number), int(n_rows), self._inside(data)))
        return sorted(places)

    def _inside(self, name: str) -> Path:
        path = (self.path / name).resolve()
        if not path.is_relative_to(self.path.resolve()):
            raise ValueError(f"a data_path that leaves the dataset: {name}")
        return path


def _name_columns(path: Path, info: dict[str, Any], feature: str) -> list[str]:
    features = info["features"]
    if feature not in features:
        numeric = [k for k, v in features.items() if "float" in str(v.get("dtype"))]
        raise ConfigError(
            f"{path}: leader.sources: expected features of the dataset, got "
            f"'{feature}'; it has {', '.join(numeric)}"
        )
    names = features[feature].get("names")
    n = int(np.prod(features[feature]["shape"]))
    if isinstance(names, dict):
        names = _order_names(names)
    if not names or len(names) != n:
        return [f"{feature}.{i}" for i in range(n)]
    return [str(name) for name in names]


def _order_names(names: dict[str, Any]) -> list[str]:
    # None where the indices are not each column once.
    if all(isinstance(part, int) for part in names.values()):
        ordered = sorted(names, key=lambda name: names[name])
        is_whole = [names[name] for name in ordered] == list(range(len(names)))
        return ordered if is_whole else []
    parts = [part for part in names.values() if isinstance(part, list)]
    return [name for part in parts for name in part]


def _to_numbers(column: Any, width: int | None = None) -> Vec:
    flat, n = column.combine_chunks(), len(column)
    while hasattr(flat.type, "value_type"):
        flat = flat.flatten()
    if flat.null_count or not n or len(flat) % n:
        raise ValueError("rows of different lengths, or without a number")
    values = np.asarray(flat.to_numpy(zero_copy_only=False), dtype=np.float64)
    return values.reshape(n, width or len(flat) // n)
