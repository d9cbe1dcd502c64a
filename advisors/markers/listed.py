"""Markers of a YAML list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import yaml  # type: ignore[import-untyped]

_UNIT = 1e-3  # chosen: how far from 1 rounding may leave the length of a quaternion
_EXAMPLE = "- {id: 3, xyz: [0.4, 0, 0.1], quat_xyzw: [0, 0, 0, 1]}"


def read_poses(path: Path) -> dict[int, pin.SE3]:
    """Return T_world_marker by id.

    Raises:
        OSError: If the file cannot be read.
        ValueError: Naming the invalid entry.
    """
    try:
        listed = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as err:
        raise ValueError(f"{path}: expected YAML, got {err}") from err
    if not isinstance(listed, list):
        got = type(listed).__name__
        raise ValueError(f"{path}: expected a list like '{_EXAMPLE}', got {got}")
    markers: dict[int, pin.SE3] = {}
    for k, entry in enumerate(listed):
        number, T = _read_entry(f"{path}: entry {k}", entry)
        if number in markers:
            raise ValueError(f"{path}: expected each id once, got {number} twice")
        markers[number] = T
    return markers


def _read_entry(where: str, entry: Any) -> tuple[int, pin.SE3]:
    keys = {"id", "xyz", "quat_xyzw"}
    if not isinstance(entry, dict) or set(entry) != keys:
        raise ValueError(f"{where}: expected '{_EXAMPLE}', got {entry!r}")
    number = entry["id"]
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ValueError(f"{where}.id: expected a number from 0 on, got {number!r}")
    try:
        row = np.array([*entry["xyz"], *entry["quat_xyzw"]], dtype=np.float64)
    except (TypeError, ValueError):
        row = np.zeros(0)
    length = np.linalg.norm(row[3:])
    if row.shape != (7,) or not np.isfinite(row).all() or abs(length - 1) > _UNIT:
        raise ValueError(
            f"{where}: expected xyz of 3 and quat_xyzw of 4 numbers, of length 1, got "
            f"{entry['xyz']} and {entry['quat_xyzw']}"
        )
    row[3:] /= length
    return number, pin.XYZQUATToSE3(row)
