"""Recordings of hands and a wrist sensor.

An ``.npz`` with ``frames`` (``paprle.hardware.hand.frames``), ``imu_t`` [s] on their
clock, and ``imu_quat_wxyz``.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from paprle.hardware.hand.errors import HandError
from paprle.hardware.hand.frames import (
    RECORD,
    Array,
    HandFrame,
    pack_frame,
    unpack_frame,
)

_NORM = (0.9, 1.1)  # spec: docs/SAFETY.md, A6: quaternions of another norm are refused


class Recording(NamedTuple):
    """A recording.

    Attributes:
        frames: In order, at least one.
        imu_t: Shape (m,), [s]; may be empty.
        imu_quat_wxyz: Unit orientation, shape (m, 4).
    """

    frames: tuple[HandFrame, ...]
    imu_t: Array
    imu_quat_wxyz: Array


def write_recording(
    path: Path,
    frames: Sequence[HandFrame],
    imu_t: Array | None = None,
    imu_quat_wxyz: Array | None = None,
) -> None:
    """Write ordered frames and sensor data to an .npz file."""
    data = b"".join(pack_frame(frame) for frame in frames)
    arrays: dict[str, npt.NDArray[Any]] = {"frames": np.frombuffer(data, RECORD)}
    if imu_t is not None and imu_quat_wxyz is not None:
        arrays |= {"imu_t": imu_t, "imu_quat_wxyz": imu_quat_wxyz}
    np.savez_compressed(path, allow_pickle=False, **arrays)


def read_recording(path: Path) -> Recording:
    """Return a recording.

    Raises:
        HandError: Invalid file.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as err:
        raise HandError(f"{path}: expected a recording of hands, got {err}") from err
    records = found.get("frames")
    if (
        records is None
        or records.dtype != RECORD
        or records.ndim != 1
        or not len(records)
    ):
        raise HandError(f"{path}: expected records of hands as 'frames', got none")
    try:
        frames = tuple(unpack_frame(record) for record in records)
    except ValueError as err:
        raise HandError(f"{path}: {err}") from err
    stamps = [frame.stamp_ns for frame in frames]
    if sorted(stamps) != stamps:
        raise HandError(f"{path}: expected images in order of time, got others")
    t = np.asarray(found.get("imu_t", np.zeros(0)), float)
    quat = np.asarray(found.get("imu_quat_wxyz", np.zeros((0, 4))), float)
    return Recording(frames, t, _check_imu(path, t, quat))


def _check_imu(path: Path, t: Array, quat: Array) -> Array:
    if t.ndim != 1 or quat.shape != (len(t), 4):
        raise HandError(
            f"{path}: expected a quaternion for each time, got shapes {t.shape} and "
            f"{quat.shape}"
        )
    norm = np.linalg.norm(quat, axis=1)
    is_good = np.isfinite(t).all() and (np.diff(t) > 0.0).all()
    if not is_good or not ((norm >= _NORM[0]) & (norm <= _NORM[1])).all():
        raise HandError(f"{path}: expected rising times and unit quaternions")
    unit: Array = quat / norm[:, None]
    return unit
