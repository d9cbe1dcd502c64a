"""Reader of an NPZ's named arrays."""

from __future__ import annotations

import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.kit.recorded.quantities import doubt_lengths
from paprle.contracts.types import Vec
from paprle.leaders.offline.config import OfflineConfig, UnitSettings
from paprle.leaders.offline.readers.text import Limb
from paprle.leaders.offline.track import Rows
from paprle.leaders.offline.units import scale_rows

_LARGEST_FILE = 512 * 2**20  # [bytes] chosen: unpacked; a day of 7 joints at 100 Hz
_USUAL = {
    "time": ("t", "time", "timestamp"),
    "q": ("q", "qpos"),
    "joint_names": ("joint_names",),
    "opening": ("opening", "gripper"),
    "position": ("position", "pos", "p"),
    "quat_xyzw": ("quat_xyzw",),
    "quat_wxyz": ("quat_wxyz",),
    "pose_xyzw": ("pose_xyzw",),
    "pose_wxyz": ("pose_wxyz",),
}
_BROKEN = (
    OSError,
    ValueError,
    EOFError,
    KeyError,
    MemoryError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
)


def read_npz(path: Path, names: tuple[str, ...], config: OfflineConfig) -> list[Limb]:
    """Return a limb for each name, its keys' prefix.

    Raises:
        ConfigError: If arrays are missing or do not fit.
        DeviceError: If the file cannot be read.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > _LARGEST_FILE:
            raise DeviceError(
                f"{path}: expected at most {_LARGEST_FILE >> 20} MiB unpacked, got "
                f"{size >> 20} MiB; cut it into parts"
            )
        with np.load(path, allow_pickle=False) as npz:
            arrays = dict(_readable(npz))
    except _BROKEN as err:
        raise DeviceError(f"{path}: expected a readable NPZ file, got {err}") from err
    prefixes = names if config.limbs else ("",)
    return [_Arrays(path, arrays, prefix, config).limb() for prefix in prefixes]


def _readable(npz: Any) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Yield the arrays but for objects, which are pickles."""
    for name in npz.files:
        try:
            yield name, np.asarray(npz[name])
        except ValueError as err:
            if "allow_pickle" not in str(err):
                raise


class _Arrays:
    def __init__(
        self,
        path: Path,
        arrays: Mapping[str, npt.NDArray[Any]],
        prefix: str,
        config: OfflineConfig,
    ) -> None:
        self._path = path
        self._arrays = arrays
        self._prefix = prefix
        self._config = config

    def limb(self) -> Limb:
        p, quat_xyzw = self._pose()
        q = None if p is not None else self._numbers("q", 2)
        first = q if p is None else p
        if first is None:
            raise self._error("a pose (position and quat_xyzw, pose_xyzw, …) or q")
        t = self._stamps(len(first))
        names = self._joint_names(q) if q is not None else ()
        rows = Rows(
            t=t,
            p=p,
            quat_xyzw=quat_xyzw,
            q=None if q is None else q[:, : len(names)],
            joint_names=names,
            opening=self._numbers("opening", 1),
        )
        lengths = {len(x) for x in (t, first, quat_xyzw, rows.opening) if x is not None}
        if len(lengths) != 1:
            raise self._error("arrays of the same length")
        units = self._config.units
        scaled = scale_rows(rows, units)
        doubt = ""
        if p is not None and units.length is None:
            doubt = doubt_lengths(("position",), p)
        return Limb(
            scaled,
            Counter(),
            len(t),
            told=_tell_units(units, is_pose=p is not None),
            doubts=(doubt,) if doubt else (),
            is_assumed=units.angle is None,
        )

    def _stamps(self, n: int) -> Vec:
        t = self._numbers("time", 1)
        if t is not None:
            return t
        if self._config.dt is None:
            raise self._error("stamps in 't' or 'time', or leader.dt")
        return np.asarray(np.arange(n) * self._config.dt, dtype=np.float64)

    def _pose(self) -> tuple[Vec | None, Vec | None]:
        if self._config.joints or self._config.keys.q is not None:
            return None, None
        for role, order in (("xyzw", [0, 1, 2, 3]), ("wxyz", [1, 2, 3, 0])):
            pose = self._numbers(f"pose_{role}", 2, width=7)
            if pose is not None:
                return pose[:, :3], pose[:, 3:][:, order]
            quats = self._numbers(f"quat_{role}", 2, width=4)
            if quats is not None:
                p = self._numbers("position", 2, width=3)
                if p is None:
                    raise self._error(f"'position' beside 'quat_{role}'")
                return p, quats[:, order]
        return None, None

    def _joint_names(self, q: Vec) -> tuple[str, ...]:
        names = self._config.joints
        if not names:
            array = self._find("joint_names")
            if array is None:
                raise self._error("'joint_names', or leader.joints")
            names = tuple(str(name) for name in array.ravel())
        if len(names) > q.shape[1] or len(set(names)) < len(names):
            raise self._error(f"at most {q.shape[1]} different joint names")
        return names

    def _numbers(self, role: str, n_axes: int, width: int | None = None) -> Vec | None:
        array = self._find(role)
        if array is None:
            return None
        if array.dtype.kind not in "fiub" or array.ndim != n_axes:
            raise self._error(f"numbers with {n_axes} axes for '{role}'")
        if width is not None and array.shape[1] != width:
            raise self._error(f"{width} columns for '{role}'")
        return array.astype(np.float64)

    def _find(self, role: str) -> npt.NDArray[Any] | None:
        key = getattr(self._config.keys, role)
        for name in (key,) if key is not None else _USUAL[role]:
            for found in (f"{self._prefix}{s}{name}" for s in "_./"):
                if self._prefix and found in self._arrays:
                    return self._arrays[found]
            if name in self._arrays and (not self._prefix or role in _SHARED):
                return self._arrays[name]
        if key is not None:
            raise self._error(f"an array '{key}' for leader.keys.{role}")
        return None

    def _error(self, expected: str) -> ConfigError:
        of_limb = f" of limb '{self._prefix}'" if self._prefix else ""
        found = ", ".join(f"{name} {x.shape}" for name, x in self._arrays.items())
        return ConfigError(
            f"{self._path}: expected {expected}{of_limb}, got arrays {found[:300]}; "
            "see leader.keys"
        )


def _tell_units(units: UnitSettings, *, is_pose: bool) -> str:
    said: list[tuple[str, str | None, str]] = [("time", units.time, "s")]
    what = ("position", units.length, "m") if is_pose else ("q", units.angle, "rad")
    said.append(what)
    return ", ".join(
        f"{name} in [{given or usual}]{'' if given else ' (assumed)'}"
        for name, given, usual in said
    )


_SHARED = {"time"}
