"""The arithmetic of a tick on rows of poses and joints, compiled.

A pose row is (x, y, z, qx, qy, qz, qw) with a quaternion of about unit length; a row
that is not finite or whose quaternion is no rotation holds no pose.
"""

from __future__ import annotations

import math

import numpy as np

from paprle.compiled import compiled
from paprle.robot.arrays import Bools, Ints
from paprle.types import Vec

SEED_BOUND = 0.3  # [rad] chosen: how far q_des may run ahead of the command
_FARTHEST = 1e4  # [m] chosen: beyond any tracked space; 1e30 is no pose
_SHORTEST, _LONGEST = 0.9, 1.1  # spec: safety.md A6, length of a quaternion


@compiled
def is_pose(row: Vec) -> bool:
    """Tell whether a row holds a pose; NaN fails each test."""
    for k in range(7):
        if not abs(row[k]) < _FARTHEST:
            return False
    norm2 = row[3] ** 2 + row[4] ** 2 + row[5] ** 2 + row[6] ** 2
    return bool(_SHORTEST**2 <= norm2 <= _LONGEST**2)


@compiled
def read_pose(row: Vec, R: Vec, p: Vec) -> bool:
    """Write rotation and position of a row; False where it holds no pose."""
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
    """Write the row of a pose T, shape (4, 4), with qw ≥ 0.

    Shepperd's method: the largest of the four divides.
    """
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


@compiled
def _multiply(A: Vec, B: Vec, C: Vec) -> None:
    """Write A B, shape (3, 3), into the corner of C."""
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
    scale: float,
    T: Vec,
    is_asked: Bools,
) -> None:
    """Write R = L R_t K and p = p₀ + s L (p_t − p_l0) of each limb with a pose.

    Args:
        pose: Rows of the leader's limbs, shape (k, 7).
        rows: Row of each limb of the robot, -1: none, shape (m,).
        L: Turns on the left, shape (m, 3, 3).
        K: Turns on the right, shape (m, 3, 3).
        p_0: Position of the command at engaging, shape (m, 3), [m].
        p_leader0: Position of the leader then; NaN: it had none, shape (m, 3), [m].
        scale: s.
        T: Takes the poses, shape (m, 4, 4).
        is_asked: Takes which limbs have one, shape (m,).
    """
    R_t, LR, p_t = np.empty((3, 3)), np.empty((3, 3)), np.empty(3)
    for i in range(len(rows)):
        is_asked[i] = False
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
                T[i, a, 3] += scale * L[i, a, b] * (p_t[b] - p_leader0[i, b])
        T[i, 3, 3] = 1.0


@compiled
def take_poses(pose: Vec, rows: Ints, raw: Vec) -> None:
    """Write the leader's pose row of each limb that has one; see ``map_poses``."""
    for i in range(len(rows)):
        if rows[i] >= 0 and is_pose(pose[rows[i]]):
            raw[i] = pose[rows[i]]


@compiled
def map_joints(numbers: Vec, source: Ints, line: Vec, q: Vec) -> None:
    """Write gain · clip(number) + offset of each joint; NaN where there is no number.

    Args:
        numbers: What the leader says.
        source: Place of each joint's number, -1: none, shape (n,).
        line: Gain, offset and the number's bounds, shape (n, 4).
        q: Takes the positions, shape (n,).
    """
    for j in range(len(q)):
        q[j] = math.nan
        if source[j] >= 0 and math.isfinite(numbers[source[j]]):
            number = min(max(numbers[source[j]], line[j, 2]), line[j, 3])
            q[j] = line[j, 0] * number + line[j, 1]


@compiled
def draw_near(own: Ints, q_cmd: Vec, q: Vec) -> float:
    """Draw a limb straight toward the command, if it is too far off.

    Args:
        own: Places of its joints, shape (n_l,).
        q_cmd: The command of the robot, shape (n,), [rad].
        q: Positions of the limb, shape (n_l,), [rad]; become those drawn near.

    Returns:
        The largest change of a joint, [rad].
    """
    apart = 0.0
    for k in range(len(own)):
        distance = abs(q[k] - q_cmd[own[k]])
        apart = max(apart, distance) if math.isfinite(distance) else math.inf
    if apart <= SEED_BOUND:
        return 0.0
    share, pulled = SEED_BOUND / apart, 0.0
    for k in range(len(own)):
        before = q[k]
        q[k] = q_cmd[own[k]]
        if share > 0.0:
            q[k] += share * (before - q[k])
        pulled = max(pulled, abs(q[k] - before))
    return pulled


@compiled
def choose_joints(
    joints: Ints, ends: Ints, wanted: Vec, q_prev: Vec, q_cmd: Vec, q: Vec
) -> None:
    """Write the joints that are wanted; the others of a limb stay, ``draw_near``.

    Args:
        joints: Places of the joints of all limbs, one limb after the other.
        ends: Where each limb's end there, shape (m,).
        wanted: Joints to be at, shape (n,), [rad] or [m]; NaN: stay.
        q_prev: The last q_des, shape (n,), [rad].
        q_cmd: The command, shape (n,), [rad].
        q: Takes the positions, shape (n,), [rad].
    """
    for j in range(len(q)):
        q[j] = wanted[j] if math.isfinite(wanted[j]) else q_prev[j]
    begin = 0
    for end in ends:
        own = joints[begin:end]
        q_limb = q_prev[own]
        draw_near(own, q_cmd, q_limb)
        for k in range(len(own)):
            if not math.isfinite(wanted[own[k]]):
                q[own[k]] = q_limb[k]
        begin = end


@compiled
def compute_velocity(q: Vec, q_before: Vec, dt: float, dq: Vec) -> bool:
    """Write the velocity of a step, 0 for dt = 0; tell whether anything moved."""
    has_moved = False
    for j in range(len(q)):
        step = q[j] - q_before[j]
        has_moved = has_moved or step != 0.0
        dq[j] = step / dt if dt > 0.0 else 0.0
    return has_moved


@compiled
def is_standing(dq: Vec, bound: float) -> bool:
    """Tell whether no velocity is above a bound; NaN is above any."""
    for j in range(len(dq)):  # noqa: SIM110 - no generators in kernels
        if not abs(dq[j]) <= bound:
            return False
    return True
