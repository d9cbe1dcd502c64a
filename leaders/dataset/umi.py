"""UMI datasets: zarr with poses of hand-held grippers.

References:
    UMI's replay buffer: ``data/robot{i}_eef_pos`` (n, 3) [m],
    ``data/robot{i}_eef_rot_axis_angle`` (n, 3) [rad], ``data/robot{i}_gripper_width``
    (n, 1) [m], ``meta/episode_ends``, exclusive.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np

from paprle.contracts.errors import DeviceError
from paprle.leaders.dataset.table import DatasetReader, Table, make_stamps

_RATE = 60_000 / 1001  # [Hz] spec: frames of the GoPro that UMI is built on
_PARTS = (
    ("eef_pos", ("x", "y", "z")),
    ("eef_rot_axis_angle", ("rx", "ry", "rz")),
    ("gripper_width", ("width",)),
)


class UmiSource(DatasetReader):
    """A ``.zarr`` folder, or a ``.zarr.zip``."""

    def __init__(self, path: Path, rate: float | None) -> None:
        """Open it at a rate, [Hz]; None: UMI's.

        Raises:
            DeviceError: If it cannot be read.
            ImportError: Without zarr.
        """
        import zarr  # noqa: PLC0415 - only for who plays such a dataset

        self.path, self._rate = path, rate or _RATE
        self._store: Any = None
        try:
            if path.suffix == ".zip":
                self._store = zarr.storage.ZipStore(str(path), mode="r")
            group = zarr.open_group(self._store or str(path), mode="r")
            self._data: Any = group["data"]
            ends = np.asarray(group["meta"]["episode_ends"][:], dtype=np.int64)
            self._keys, self._names = self._find_columns()
            arrays = sorted(self._data)
        except Exception as err:  # zarr and its codecs raise anything
            raise self._error(err) from err
        if not self._keys:
            raise self._error(f"arrays {arrays} without robot0_eef_pos")
        self._cuts = np.concatenate([[0], ends])

    @property
    def n_episodes(self) -> int:
        """Number of episodes."""
        return len(self._cuts) - 1

    def read(self, episode: int) -> Table:
        """Return the rows of one episode.

        Raises:
            DeviceError: If they cannot be read.
        """
        begin, end = self._cuts[episode : episode + 2].tolist()
        self.check_length(episode, end - begin)
        try:
            parts = [
                np.asarray(self._data[key][begin:end], dtype=np.float64)
                for key in self._keys
            ]
            values = np.hstack([part.reshape(end - begin, -1) for part in parts])
        except Exception as err:  # zarr and its codecs raise anything
            raise self._error(err) from err
        if values.shape[1] != len(self._names):
            raise self._error(
                f"{values.shape[1]} columns where {len(self._names)} have a name"
            )
        return Table(
            t=make_stamps(end - begin, self._rate), names=self._names, values=values
        )

    def close(self) -> None:
        """Close the zip."""
        if self._store is not None:
            self._store.close()
        self._store = None

    def _find_columns(self) -> tuple[list[str], tuple[str, ...]]:
        keys: list[str] = []
        names: list[str] = []
        for robot in itertools.count():
            if f"robot{robot}_eef_pos" not in self._data:
                break
            for part, columns in _PARTS:
                if f"robot{robot}_{part}" in self._data:
                    keys.append(f"robot{robot}_{part}")
                    names += [f"robot{robot}.{column}" for column in columns]
        return keys, tuple(names)

    def _error(self, got: object) -> DeviceError:
        what = f"{type(got).__name__}: {got}" if isinstance(got, Exception) else got
        return DeviceError(
            f"{self.path}: expected a zarr of UMI (data/robot0_eef_pos, …, "
            f"meta/episode_ends), got {what}"
        )
