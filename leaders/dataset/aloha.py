"""ALOHA episodes: HDF5 files of ACT's recorder.

``/action`` and ``/observations/qpos``, (n, 14): six joints [rad] and a gripper (0
closed … 1 open), left then right; rows every 20 ms.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.types import Vec
from paprle.leaders.dataset.table import DatasetReader, Table, make_stamps

_RATE = 50.0  # [Hz] spec: DT = 0.02 in ALOHA's constants.py
_JOINTS = ("waist", "shoulder", "elbow", "forearm_roll", "wrist_angle", "wrist_rotate")
NAMES = tuple(
    f"{side}_{part}" for side in ("left", "right") for part in (*_JOINTS, "gripper")
)
"""Names of the 14 columns."""


class AlohaSource(DatasetReader):
    """One file, or a folder of ``episode_<n>.hdf5``."""

    def __init__(self, path: Path, datasets: Sequence[str], rate: float | None) -> None:
        """Find the episodes, with rows at ``rate``, [Hz].

        Raises:
            DeviceError: If there is none.
            ImportError: Without h5py.
        """
        import h5py  # noqa: PLC0415 - only for who plays such a dataset

        self._h5py: Any = h5py
        self.path, self._datasets, self._rate = path, tuple(datasets), rate or _RATE
        found = [path] if path.is_file() else [*path.glob("*.hdf5"), *path.glob("*.h5")]
        self._files = sorted(found, key=_number)
        if not self._files:
            raise DeviceError(
                f"{path}: expected episodes (episode_0.hdf5, …), got none"
            )

    @property
    def n_episodes(self) -> int:
        """Number of files."""
        return len(self._files)

    def read(self, episode: int) -> Table:
        """Return the rows of one episode.

        Raises:
            DeviceError: If they cannot be read.
        """
        file = self._files[episode]
        try:
            with self._h5py.File(file, "r") as h5:
                parts = [self._read(h5, file, episode, name) for name in self._datasets]
        except (OSError, KeyError, ValueError, TypeError, RuntimeError) as err:
            raise DeviceError(
                f"{file}: expected an episode of ALOHA, got {type(err).__name__}: {err}"
            ) from err
        if len({len(part) for part in parts}) > 1:
            raise DeviceError(
                f"{file}: expected equally many rows in {', '.join(self._datasets)}, "
                f"got {[len(part) for part in parts]}"
            )
        names = [
            name
            for dataset, part in zip(self._datasets, parts, strict=True)
            for name in _name_columns(dataset, part.shape[1])
        ]
        return Table(
            t=make_stamps(len(parts[0]), self._rate),
            names=tuple(names),
            values=np.hstack(parts),
        )

    def close(self) -> None:
        """Do nothing; files close after reading."""

    def _read(self, h5: Any, file: Path, episode: int, name: str) -> Vec:
        if name not in h5:
            raise ConfigError(
                f"{file}: leader.sources: expected datasets of the file, got '{name}'; "
                f"ALOHA has action and observations/qpos"
            )
        found = h5[name]
        if not isinstance(found, self._h5py.Dataset) or found.ndim != 2:
            raise ValueError(f"'{name}' is no table of rows and columns")
        self.check_length(episode, found.shape[0])
        return np.asarray(found[:], dtype=np.float64)


def _name_columns(dataset: str, n: int) -> Sequence[str]:
    return NAMES if n == len(NAMES) else [f"{dataset}.{i}" for i in range(n)]


def _number(file: Path) -> tuple[int, str]:
    digits = re.findall(r"\d+", file.stem)
    return (int(digits[-1]) if digits else -1, file.name)
