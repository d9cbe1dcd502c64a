"""Compiled maps from a leader's rows to targets."""

from __future__ import annotations

import math

import numpy as np

from paprle.compiled import compiled
from paprle.contracts.types import Vec
from paprle.robot.arrays import Bools, Ints
from paprle.robot.pose_rows import is_pose, read_pose


@compiled
def _multiply(A: Vec, B: Vec, C: Vec) -> None:
    for a in range(3):
        for b in range(3):
            C[a, b] = A[a, 0] * B[0, b] + A[a, 1] * B[1, b] + A[a, 2] * B[2, b]


@compiled
def map_poses(  # noqa: PLR0913, PLR0917 - a tuple of arrays costs a microsecond
    pose: Vec,
    rows: Ints,
    L: Vec,
    K: Vec,
    p_0: Vec,
    p_leader0: Vec,
    scale: Vec,
    max_travel: float,
    T: Vec,
    is_asked: Bools,
    is_far: Bools,
) -> None:
    """Write R = L R_t K and p = p₀ + s L (p_t − p_l0) of each limb with a pose.

    A place beyond ``max_travel`` is clamped (A5), without a jump on return. ``rows``
    are of ``pose``, shape (k, 7), or -1.
    """
    R_t, LR, p_t = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    for i in range(len(rows)):
        is_asked[i] = is_far[i] = False
        if rows[i] < 0 or math.isnan(p_leader0[i, 0]):
            continue
        if not read_pose(pose[rows[i]], R_t, p_t):
            continue
        is_asked[i] = True
        _multiply(L[i], R_t, LR)
        _multiply(LR, K[i], T[i])
        for a in range(3):
            T[i, 3, a], T[i, a, 3] = 0.0, p_0[i, a]
            for b in range(3):
                T[i, a, 3] += scale[i] * L[i, a, b] * (p_t[b] - p_leader0[i, b])
        T[i, 3, 3] = 1.0
        is_far[i] = _limit_travel(T[i], p_0[i], max_travel)


@compiled
def _limit_travel(T: Vec, p_0: Vec, max_travel: float) -> bool:
    square = 0.0
    for a in range(3):
        square += (T[a, 3] - p_0[a]) ** 2
    if square <= max_travel * max_travel:
        return False
    share = max_travel / math.sqrt(square)
    for a in range(3):
        T[a, 3] = p_0[a] + share * (T[a, 3] - p_0[a])
    return True


@compiled
def copy_poses(pose: Vec, rows: Ints, raw: Vec) -> None:
    """Write each limb's leader pose; see ``map_poses``."""
    for i in range(len(rows)):
        if rows[i] >= 0 and is_pose(pose[rows[i]]):
            for k in range(raw.shape[1]):
                raw[i, k] = pose[rows[i], k]


@compiled
def map_joints(numbers: Vec, source: Ints, line: Vec, q: Vec) -> None:
    """Write gain · clip(number) + offset of each joint; NaN without a number."""
    for j in range(len(q)):
        q[j] = math.nan
        if source[j] >= 0 and math.isfinite(numbers[source[j]]):
            number = min(max(numbers[source[j]], line[j, 2]), line[j, 3])
            q[j] = line[j, 0] * number + line[j, 1]
