"""Poses as rows (x, y, z, qx, qy, qz, qw), compiled."""

from __future__ import annotations

import math

from paprle.compiled import compiled
from paprle.contracts.types import Vec

_FARTHEST = 1e4  # [m] chosen: beyond any tracked space; 1e30 is no pose
_SHORTEST, _LONGEST = 0.9, 1.1  # spec: safety.md A6, length of a quaternion


@compiled
def is_pose(row: Vec) -> bool:
    """Return whether a row holds a pose; NaN is none."""
    for k in range(7):
        if not abs(row[k]) < _FARTHEST:
            return False
    norm2 = row[3] ** 2 + row[4] ** 2 + row[5] ** 2 + row[6] ** 2
    return bool(_SHORTEST**2 <= norm2 <= _LONGEST**2)


@compiled
def read_pose(row: Vec, R: Vec, p: Vec) -> bool:
    """Write a row's rotation and position; False without a pose."""
    if not is_pose(row):
        return False
    x, y, z, w = row[3], row[4], row[5], row[6]
    t = 2.0 / (x * x + y * y + z * z + w * w)
    R[0, 0] = 1.0 - t * (y * y + z * z)
    R[0, 1] = t * (x * y - z * w)
    R[0, 2] = t * (x * z + y * w)
    R[1, 0] = t * (x * y + z * w)
    R[1, 1] = 1.0 - t * (x * x + z * z)
    R[1, 2] = t * (y * z - x * w)
    R[2, 0] = t * (x * z - y * w)
    R[2, 1] = t * (y * z + x * w)
    R[2, 2] = 1.0 - t * (x * x + y * y)
    for a in range(3):
        p[a] = row[a]
    return True


@compiled
def write_pose(T: Vec, row: Vec) -> None:
    """Write the row of a pose, (4, 4), with qw ≥ 0, by Shepperd's method."""
    s = T[0, 0] + T[1, 1] + T[2, 2]
    i = 0
    for k in range(1, 3):
        if T[k, k] > T[i, i]:
            i = k
    for a in range(3):
        row[a] = T[a, 3]
    if s > T[i, i]:
        row[6] = 0.5 * math.sqrt(1.0 + s)
        t = 0.25 / row[6]
        row[3] = t * (T[2, 1] - T[1, 2])
        row[4] = t * (T[0, 2] - T[2, 0])
        row[5] = t * (T[1, 0] - T[0, 1])
        return
    j, k = (i + 1) % 3, (i + 2) % 3
    largest = 0.5 * math.sqrt(max(1.0 + 2.0 * T[i, i] - s, 0.0))
    w = T[k, j] - T[j, k]
    t = math.copysign(0.25 / largest, w)
    row[3 + i] = math.copysign(largest, w)
    row[3 + j] = t * (T[j, i] + T[i, j])
    row[3 + k] = t * (T[k, i] + T[i, k])
    row[6] = t * w
