"""Conversion of columns to limb commands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.types import Vec
from paprle.leaders.dataset.config import ColumnSettings, DatasetConfig
from paprle.leaders.dataset.scales import ANGLES, LENGTHS, scale_opening
from paprle.leaders.dataset.table import Table

_WIDTHS = {
    "rotation_vector": 3,
    "rpy_xyz_extrinsic": 3,
    "quat_xyzw": 4,
    "quat_wxyz": 4,
}
_R_OPTICAL_REP103 = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])
"""Axes x forward, y left, z up, seen from x right, y down, z forward. spec: PAPRLE's
replay of UMI."""
_NORM_MIN, _NORM_MAX = 0.9, 1.1  # spec: safety.md A6
_ROUNDING = 1e-6  # chosen: of 32-bit numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class LimbRows:
    """Commands of one limb by row.

    Attributes:
        q: (n, m), [rad], or None.
        pose: Positions and unit quaternions xyzw, (n, 7), or None.
        opening: 0 … 1, (n,), or None.
        n_clipped: Number of openings that were beyond.
    """

    q: Vec | None = None
    pose: Vec | None = None
    opening: Vec | None = None
    n_clipped: int = 0


def find_mistakes(config: DatasetConfig, names: Sequence[str]) -> list[str]:
    """Return mistakes in column names."""
    if not config.limbs:
        return [
            "leader.limbs: expected which columns move which limb, got none; columns: "
            f"{', '.join(names)}; copy a configs/leader/dataset_….yaml"
        ]
    mistakes = [
        text
        for limb, columns in config.limbs.items()
        for text in _judge_limb(f"leader.limbs.{limb}", columns, names)
    ]
    kinds = {bool(columns.joints) for columns in config.limbs.values()}
    if len(kinds) > 1:
        mistakes.append("leader.limbs: expected joints for all or poses for all")
    return mistakes


def _judge_limb(
    where: str, columns: ColumnSettings, names: Sequence[str]
) -> Iterator[str]:
    if bool(columns.joints) == bool(columns.position):
        yield f"{where}: expected either joints or a position and a rotation"
    elif columns.position:
        if len(columns.position) != 3:
            yield f"{where}.position: expected 3 columns, got {len(columns.position)}"
        width = _WIDTHS[columns.rotation_as]
        if len(columns.rotation) != width:
            yield (
                f"{where}.rotation: expected {width} columns ({columns.rotation_as}), "
                f"got {len(columns.rotation)}"
            )
    if columns.closed == columns.open:
        yield f"{where}: expected closed and open to differ, got {columns.open} twice"
    for name in _list_columns(columns):
        if names.count(name) != 1:
            found = "several" if name in names else "none"
            yield (
                f"{where}: expected one column '{name}', got {found}; columns: "
                f"{', '.join(names)}"
            )


def _list_columns(columns: ColumnSettings) -> tuple[str, ...]:
    gripper = (columns.gripper,) if columns.gripper else ()
    return (*columns.joints.values(), *columns.position, *columns.rotation, *gripper)


def make_rows(
    path: Path, episode: int, table: Table, config: DatasetConfig
) -> Mapping[str, LimbRows]:
    """Return limbs' commands in SI units and REP-103 axes.

    Raises:
        ConfigError: If columns are missing.
        DeviceError: If a quaternion is invalid.
    """
    mistakes = find_mistakes(config, table.names)
    if mistakes:
        raise ConfigError(mistakes)
    try:
        return {
            limb: _make_limb(table, columns, config)
            for limb, columns in config.limbs.items()
        }
    except ValueError as err:
        raise DeviceError(
            f"{path}: episode {episode}: {err}; leave it out with leader.episodes"
        ) from err


def _make_limb(
    table: Table, columns: ColumnSettings, config: DatasetConfig
) -> LimbRows:
    angle = ANGLES[config.angle or "rad"]
    opening, n_clipped = None, 0
    if columns.gripper:
        whole = scale_opening(table, columns)
        opening = np.clip(whole, 0, 1)
        n_clipped = int((np.abs(whole - opening) > _ROUNDING).sum())
    if columns.joints:
        q = table.take(tuple(columns.joints.values())) * angle
        return LimbRows(q=q, opening=opening, n_clipped=n_clipped)
    p = table.take(columns.position) * LENGTHS[config.length or "m"]
    R = _to_rotation(table.take(columns.rotation), columns.rotation_as, angle)
    if columns.tool == "optical":
        R *= Rotation.from_matrix(_R_OPTICAL_REP103)
    pose = np.hstack([p, _turn_evenly(R.as_quat())])
    return LimbRows(pose=pose, opening=opening, n_clipped=n_clipped)


def _to_rotation(values: Vec, kind: str, degree: float) -> Rotation:
    if kind == "rotation_vector":
        return Rotation.from_rotvec(values * degree)
    if kind == "rpy_xyz_extrinsic":
        return Rotation.from_euler("xyz", values * degree)
    quats = values if kind == "quat_xyzw" else values[:, [1, 2, 3, 0]]
    norms = np.linalg.norm(quats, axis=1)
    is_bad = (norms < _NORM_MIN) | (norms > _NORM_MAX)
    if is_bad.any():
        raise ValueError(
            f"expected quaternions of norm {_NORM_MIN} to {_NORM_MAX}, got "
            f"{norms[is_bad][0]:.3g} in row {int(is_bad.argmax())}"
        )
    return Rotation.from_quat(quats)


def _turn_evenly(quat_xyzw: Vec) -> Vec:
    flips = np.sum(quat_xyzw[1:] * quat_xyzw[:-1], axis=1) < 0.0
    signs = np.where(np.concatenate([[0], np.cumsum(flips)]) % 2, -1.0, 1.0)
    return np.asarray(quat_xyzw * signs[:, None])
