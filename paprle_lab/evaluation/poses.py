"""Timed poses as arrays."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from paprle.contracts.types import Vec
from paprle_lab.evaluation.store import Store, cut

Stamps = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

NORM_TOLERANCE = 0.1  # spec: safety rule A6, norms outside 1 ± 0.1 are refused


@dataclass(frozen=True)
class Trajectory:
    """Poses at strictly increasing times.

    Attributes:
        t: Shape (N,), [s].
        p: Shape (N, 3), [m].
        quat_xyzw: Unit quaternions, shape (N, 4).
    """

    t: Vec
    p: Vec
    quat_xyzw: Vec

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, index: slice | npt.NDArray[np.bool_]) -> Trajectory:
        return Trajectory(self.t[index], self.p[index], self.quat_xyzw[index])

    def count(self, t: float) -> int:
        """Return the number of poses up to a time [s]."""
        return int(np.searchsorted(self.t, t, side="right"))


class Poses(Protocol):
    """A trajectory in memory or in a store."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: slice, /) -> Trajectory: ...
    def count(self, t: float) -> int: ...  # noqa: D102 - see Trajectory


POSE = np.dtype([("t", "f8"), ("p", "f8", (3,)), ("quat_xyzw", "f8", (4,))])


class StoredPoses:
    """A trajectory of any length."""

    def __init__(self) -> None:
        self._store = Store(POSE)

    def __len__(self) -> int:
        return len(self._store)

    def __getitem__(self, index: slice) -> Trajectory:
        rows = self._store[index]
        return Trajectory(rows["t"].copy(), rows["p"], rows["quat_xyzw"])

    def append(self, path: Trajectory) -> None:
        """Append later poses."""
        rows = np.zeros(len(path), POSE)
        rows["t"], rows["p"], rows["quat_xyzw"] = path.t, path.p, path.quat_xyzw
        self._store.append(rows)

    def count(self, t: float) -> int:
        """Return the number of poses up to a time [s]."""
        rows = self._store
        return bisect_right(range(len(rows)), t, key=lambda k: rows[k : k + 1]["t"][0])


def list_blocks(path: Poses) -> Iterator[Trajectory]:
    """Yield a trajectory block by block."""
    for where in cut(len(path)):
        yield path[where]


def take_around(path: Poses, begin: float, end: float) -> Trajectory:
    """Return poses sufficient to interpolate between two times [s]."""
    high = min(path.count(end) + 1, len(path))
    low = max(min(path.count(begin) - 1, high - 2), 0)
    return path[low:high]


@dataclass(frozen=True)
class Dropped:
    """Numbers of dropped rows by reason."""

    nan: int = 0
    quaternion: int = 0
    duplicate: int = 0
    disorder: int = 0

    @property
    def total(self) -> int:
        """Number of all dropped rows."""
        return self.nan + self.quaternion + self.duplicate + self.disorder


def clean(
    t_ns: npt.ArrayLike, rows: npt.ArrayLike, origin_ns: int = 0
) -> tuple[Trajectory, Dropped]:
    """Return poses of rows (N, 7) at increasing times, and dropped rows.

    A row is x, y, z, qx, qy, qz, qw; ``origin_ns`` is the stamp of t = 0.
    """
    cleaner = Cleaner(origin_ns)
    return cleaner.clean(t_ns, rows), cleaner.dropped


class Cleaner:
    """``clean`` for rows in pieces."""

    def __init__(self, origin_ns: int) -> None:
        self.dropped = Dropped()
        self._origin_ns = origin_ns
        self._newest_ns = np.iinfo(np.int64).min

    def clean(self, t_ns: npt.ArrayLike, rows: npt.ArrayLike) -> Trajectory:
        """Return the valid poses of the next rows."""
        stamps = np.asarray(t_ns, dtype=np.int64).reshape(-1)
        poses = np.asarray(rows, dtype=np.float64).reshape(-1, 7)
        is_finite: Mask = np.asarray(np.isfinite(poses).all(axis=1))
        norms = np.linalg.norm(np.where(is_finite[:, None], poses[:, 3:], 0.0), axis=1)
        is_pose = is_finite & (np.abs(norms - 1.0) <= NORM_TOLERANCE)
        kept = np.flatnonzero(is_pose)
        newest: Stamps = np.maximum.accumulate(
            np.concatenate([[self._newest_ns], stamps[kept]])
        )
        self._newest_ns = int(newest[-1])
        is_first = newest[1:] > newest[:-1]
        is_late: Mask = np.less(stamps[kept], newest[1:])
        so_far = self.dropped
        self.dropped = Dropped(
            nan=so_far.nan + int((~is_finite).sum()),
            quaternion=so_far.quaternion + int((is_finite & ~is_pose).sum()),
            duplicate=so_far.duplicate + int((~is_first & ~is_late).sum()),
            disorder=so_far.disorder + int(is_late.sum()),
        )
        kept = kept[is_first]
        quat_xyzw = poses[kept, 3:] / norms[kept, None]
        seconds = np.asarray((stamps[kept] - self._origin_ns) * 1e-9, dtype=np.float64)
        return Trajectory(seconds, poses[kept, :3], quat_xyzw)


def interpolate(path: Trajectory, t: Vec) -> Trajectory:
    """Return a path's poses at times [s]; end poses hold outside."""
    if len(path) == 1:
        ones = np.ones((len(t), 1))
        return Trajectory(t, ones * path.p, ones * path.quat_xyzw)
    high = np.clip(np.searchsorted(path.t, t, side="right"), 1, len(path) - 1)
    low = high - 1
    share = np.clip((t - path.t[low]) / (path.t[high] - path.t[low]), 0.0, 1.0)
    w = share[:, None]
    p = path.p[low] * (1.0 - w) + path.p[high] * w
    return Trajectory(t, p, slerp(path.quat_xyzw[low], path.quat_xyzw[high], share))


def interpolate_columns(t: Vec, t_known: Vec, values: Vec) -> Vec:
    """Return columns of ``values`` (N, k) lerped to ``t``, shape (M, k)."""
    columns = [np.interp(t, t_known, column) for column in values.T]
    return np.stack(columns, axis=1)


def slerp(quat_xyzw_a: Vec, quat_xyzw_b: Vec, share: Vec) -> Vec:
    """Return rotations (N, 4) interpolated along the shorter arc."""
    cosine = np.einsum("ij,ij->i", quat_xyzw_a, quat_xyzw_b)
    nearest = quat_xyzw_b * np.where(cosine < 0.0, -1.0, 1.0)[:, None]
    angle = np.arccos(np.clip(np.abs(cosine), 0.0, 1.0))
    is_near = angle < 1e-6  # chosen: there lerp and slerp agree to 1e-13
    sine = np.where(is_near, 1.0, np.sin(angle))
    weight_a = np.where(is_near, 1.0 - share, np.sin((1.0 - share) * angle) / sine)
    weight_b = np.where(is_near, share, np.sin(share * angle) / sine)
    mixed = weight_a[:, None] * quat_xyzw_a + weight_b[:, None] * nearest
    unit: Vec = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    return unit


def multiply(quat_xyzw_a: Vec, quat_xyzw_b: Vec) -> Vec:
    """Return the rotations a·b, shape (N, 4)."""
    a, b = quat_xyzw_a, quat_xyzw_b
    vector = a[:, 3:] * b[:, :3] + b[:, 3:] * a[:, :3] + np.cross(a[:, :3], b[:, :3])
    scalar = a[:, 3] * b[:, 3] - np.einsum("ij,ij->i", a[:, :3], b[:, :3])
    product: Vec = np.concatenate([vector, scalar[:, None]], axis=1)
    return product


def invert(quat_xyzw: Vec) -> Vec:
    """Return the inverse rotations, shape (N, 4)."""
    inverse: Vec = quat_xyzw * np.array([-1.0, -1.0, -1.0, 1.0])
    return inverse


def rotate(quat_xyzw: Vec, p: Vec) -> Vec:
    """Return vectors p, shape (N, 3), rotated."""
    u, w = quat_xyzw[:, :3], quat_xyzw[:, 3:]
    twice = 2.0 * np.cross(u, p)
    rotated: Vec = p + w * twice + np.cross(u, twice)
    return rotated


def measure_angles(quat_xyzw_a: Vec, quat_xyzw_b: Vec) -> Vec:
    """Return the angles between rotations, shape (N,), 0 … pi, [rad]."""
    difference = multiply(invert(quat_xyzw_a), quat_xyzw_b)
    sine = np.linalg.norm(difference[:, :3], axis=1)
    angles: Vec = 2.0 * np.arctan2(sine, np.abs(difference[:, 3]))
    return angles
