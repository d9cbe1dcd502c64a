"""ALOHA's files: one HDF5 per episode, joints in rad, grippers 0 closed … 1 open.

Layout: ``tonyzhaozh/act``, ``record_sim_episodes.py``, plus requests, poses, depth, and
names and units as attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from paprle.observation.columns import OBJECTS, Column
from paprle.observation.frame import StateFrame
from paprle_lab.dataset.common import Common
from paprle_lab.dataset.episodes import SourceRecording

_FILE = "episode.hdf5"
_PLACES = {
    "observation.state": "observations/qpos",
    "observation.velocity": "observations/qvel",
    "observation.effort": "observations/effort",
    "observation.ee_pose": "observations/ee_pose",
    "action": "action",
    "requested.joints": "requested/joints",
    "requested.ee_pose": "requested/ee_pose",
    "driven": "driven",
    "driven_by_person": "driven_by_person",
    OBJECTS: "observations/environment_state",
}
_ROWS = 256  # chosen: rows of numbers that are written at once


class AlohaTarget:
    """Writer of one HDF5 per episode."""

    def __init__(self, root: Path, common: Common) -> None:
        self._root, self._common = root, common

    def write(
        self,
        folder: Path,
        source: SourceRecording,
        frames: Iterator[tuple[StateFrame, Any]],
    ) -> int:
        """Write a recording as one file."""
        with h5py.File(folder / _FILE, "w") as file:
            file.attrs["sim"] = self._common.robot.header["env"] in {
                "mujoco",
                "kinematic",
            }
            file.attrs["fps"] = self._common.fps
            file.attrs["task"] = source.task
            file.attrs["outcome"] = source.outcome
            file.attrs["source"] = source.sha256
            tables = {one.name: _Table(file, one) for one in self._common.columns.all}
            films: dict[str, Any] = {}
            n = 0
            for frame, values in frames:
                for name, table in tables.items():
                    table.add(values[name])
                for name, image in frame.images.items():
                    _add_image(file, films, f"observations/images/{name}", image, n)
                for name, numbers in frame.depths.items():
                    _add_image(file, films, self._find_place(name), numbers, n)
                n += 1
            for table in tables.values():
                table.flush()
            self._describe_depth(file)
        return n

    def pack(
        self, meta: Path, folders: Sequence[Path], own: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Number the files."""
        del meta
        totals = {"n_episodes": 0, "n_frames": 0, **own.get("totals", {})}
        for folder in folders:
            with h5py.File(folder / _FILE) as file:
                n = len(file["action"])
            # a link, not a move: a run that is killed here finds the piece again
            path = self._root / f"episode_{totals['n_episodes']}.hdf5"
            path.unlink(missing_ok=True)
            path.hardlink_to(folder / _FILE)
            totals["n_episodes"] += 1
            totals["n_frames"] += n
        return totals

    def _find_place(self, camera: str) -> str:
        is_ids = self._common.robot.header["cameras"][camera]["encoding"] == "ids16"
        return f"observations/{'segmentation' if is_ids else 'depth'}/{camera}"

    def _describe_depth(self, file: Any) -> None:
        cameras = self._common.robot.header.get("cameras", {})
        for name, depth in file.get("observations/depth", {}).items():
            depth.attrs["unit_m"] = cameras[name]["depth_unit"]


class _Table:
    def __init__(self, file: Any, column: Column) -> None:
        kind = {"float32": np.float32, "bool": np.bool_}[column.kind]
        self._rows: list[Any] = []
        self._width = len(column.names)
        self._data: Any = file.create_dataset(
            _PLACES[column.name],
            shape=(0, self._width),
            maxshape=(None, self._width),
            chunks=(_ROWS, self._width),
            dtype=kind,
        )
        self._data.attrs["names"] = list(column.names)
        self._data.attrs["units"] = list(column.units)

    def add(self, values: Any) -> None:
        self._rows.append(values)
        if len(self._rows) == _ROWS:
            self.flush()

    def flush(self) -> None:
        if not self._rows:
            return
        n = len(self._data)
        self._data.resize(n + len(self._rows), axis=0)
        self._data[n:] = np.array(self._rows)
        self._rows.clear()


def _add_image(
    file: Any, films: dict[str, Any], place: str, image: Any, n: int
) -> None:
    if place not in films:
        films[place] = file.create_dataset(
            place,
            shape=(0, *image.shape),
            maxshape=(None, *image.shape),
            chunks=(1, *image.shape),
            dtype=image.dtype,
        )
    films[place].resize(n + 1, axis=0)
    films[place][n] = image
