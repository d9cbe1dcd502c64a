"""Postures that reach a pose, for slow moves in a thread beside the tick."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.compiled import compiled, compiled_aside
from paprle.contracts.types import Vec
from paprle.kinematics.bounded_ik import (
    DDQ_MAX,
    DQ,
    DQ_MAX,
    Q_LAST_REACHED,
    bounded_step,
)
from paprle.kinematics.global_ik import descend, put_start, unwind
from paprle.kinematics.newton_ik import is_met, is_usable, iterate, split_pose
from paprle.kinematics.solver import IkSolver, as_matrix
from paprle.kinematics.task import (
    MOBILITY,
    Q_MAX,
    Q_MIN,
    PackedTask,
    Q,
    Task,
    Workspace,
    assign,
    make_workspace,
    unpack,
)
from paprle.robot.arrays import Bools
from paprle.robot.pose_rows import read_pose

_N_SPREAD = 300  # measured: 100 find all branches of the arms here, three times that
_MOST = 64  # chosen: postures; more are the self-motion of an arm with joints to spare
_APART = 0.05  # [rad] chosen: nearer ones are one posture, found twice
_APART_SPARE = 0.5  # [rad] chosen: the same where joints are to spare
_STEP = 0.005  # [s] chosen: of a path that is followed; a tick of 200 Hz
MOST_STEPS = 30_000  # chosen: of all paths for one start; a few seconds of work


class Branch(NamedTuple):
    """A posture, (n,), [rad], with errors [m] and [rad]."""

    q: Vec
    err_pos: float
    err_rot: float


def list_branches(solver: IkSolver, T_base_eef: pin.SE3, q_start: Vec) -> list[Branch]:
    """Return the postures that reach a pose; empty if out of reach or unusable.

    Joints are as few turns from ``q_start``, (n,), [rad], as limits allow. With joints
    to spare, postures are a sample; with too few they reach the position.
    """
    limb = solver.limb
    has_spare = len(limb.home) > len(unpack(solver.packed).rows)
    found, errors = np.empty((_MOST, len(limb.home))), np.empty((_MOST, 2))
    n = collect(
        solver.packed,
        solver.spread,
        as_matrix(T_base_eef),
        limb.as_vector(q_start).copy(),
        _APART_SPARE if has_spare else _APART,
        found,
        errors,
    )
    return [Branch(found[k].copy(), *errors[k].tolist()) for k in range(n)]


def follow_path(
    solver: IkSolver,
    path: Vec,
    q_start: Vec,
    ddq_max: Vec,
    within: tuple[float, float],
    most_steps: int = MOST_STEPS,
) -> float:
    """Return the share of a path, 0 … 1, that a limb follows; NaN without duration.

    ``path`` has rising times [s] and eef poses in the limb's base (x, y, z, qx, qy, qz,
    qw), (rows, 8). The limb starts at rest at ``q_start``, (n,), [rad]; ``ddq_max`` is
    A, (n,), [rad/s²]; ``within`` are tolerances, [m] and [rad].
    """
    duration = float(path[-1, 0] - path[0, 0]) if len(path) else 0.0
    if not duration > 0.0:
        return math.nan
    rates = _make_rates(solver, ddq_max)
    reached = _make_steps(duration, most_steps)
    q, span = np.array(q_start, dtype=np.float64), np.empty((2, len(q_start)))
    rows = np.ascontiguousarray(path)
    follow_rows(solver.packed, rows, q, rates, within, reached, span)
    return float(reached.mean())


def turn_for_path(
    solver: IkSolver,
    path: Vec,
    q_start: Vec,
    ddq_max: Vec,
    within: tuple[float, float],
    most_steps: int = MOST_STEPS,
) -> Vec:
    """Return the posture, (n,), by whole turns elsewhere, with room for a path."""
    period, packed = solver.spread[3], solver.packed
    wide = PackedTask(packed.floats.copy(), packed.ints, packed.slides)
    limits, endless = unpack(packed).joints, unpack(wide).joints
    turned = np.array(q_start, dtype=np.float64)
    can_turn = (period > 0.0) & (limits[Q_MAX] - limits[Q_MIN] > period)
    if not can_turn.any():
        return turned
    endless[Q_MIN, can_turn], endless[Q_MAX, can_turn] = -math.inf, math.inf
    rates = _make_rates(solver, ddq_max)
    reached = _make_steps(float(path[-1, 0] - path[0, 0]), most_steps)
    q, span = np.array(q_start, dtype=np.float64), np.empty((2, len(q_start)))
    follow_rows(wide, np.ascontiguousarray(path), q, rates, within, reached, span)
    for j in np.flatnonzero(can_turn):
        for turns in (0, -1, 1):
            low, high = span[:, j] + turns * period[j]
            if low >= limits[Q_MIN, j] and high <= limits[Q_MAX, j]:
                turned[j] += turns * period[j]
                break
    return turned


def _make_rates(solver: IkSolver, ddq_max: Vec) -> Vec:
    rates = np.zeros((4, len(ddq_max)))
    rates[DQ_MAX], rates[DDQ_MAX] = solver.limb.dq_max, ddq_max
    return rates


def _make_steps(duration: float, most: int) -> Bools:
    return np.zeros(min(max(round(duration / _STEP), 1), most), dtype=np.bool_)


@compiled_aside
def collect(  # noqa: PLR0913, PLR0917 - kernels take arrays one by one
    packed: PackedTask,
    spread: Vec,
    T: Vec,
    q_start: Vec,
    apart: float,
    found: Vec,
    errors: Vec,
) -> int:
    """Return the number of postures, (m, n), at T, (4, 4), written with their errors.

    They descend from starts over the limits and wrists turned over, and are ``apart``,
    [rad]; errors are [m] and [rad], (m, 2).
    """
    R_target, p_target = np.empty((3, 3)), np.empty(3)
    split_pose(T, R_target, p_target)
    if not is_usable(R_target, p_target, q_start):
        return 0
    task = unpack(packed)
    work = make_workspace(task, R_target, p_target, q_start)
    n_found, n = 0, len(q_start)
    for attempt in range(_N_SPREAD):
        put_start(work.joints, spread, attempt, q_start)
        n_found = _settle(task, work, spread, q_start, apart, found, errors, n_found)
    k = 0
    while k < n_found:  # what turning over finds is turned over, too
        for j in range(n - 2):
            for sign in (-1.0, 1.0):
                assign(work.joints[Q], found[k])
                _turn_over(work.joints, j, sign * math.pi)
                n_found = _settle(
                    task, work, spread, q_start, apart, found, errors, n_found
                )
        k += 1
    return n_found


@compiled
def _turn_over(joints: Vec, j: int, half_turn: float) -> None:
    """Turn a wrist over, exactly where three axes meet from joint j on."""
    joints[Q, j] += half_turn
    joints[Q, j + 1] = -joints[Q, j + 1]
    joints[Q, j + 2] -= half_turn
    for i in range(j, j + 3):
        q = joints[Q, i]
        while q > joints[Q_MAX, i] and q - 2.0 * math.pi >= joints[Q_MIN, i]:
            q -= 2.0 * math.pi
        while q < joints[Q_MIN, i] and q + 2.0 * math.pi <= joints[Q_MAX, i]:
            q += 2.0 * math.pi
        joints[Q, i] = min(max(q, joints[Q_MIN, i]), joints[Q_MAX, i])


@compiled
def _settle(  # noqa: PLR0913, PLR0917 - kernels take arrays one by one
    task: Task,
    work: Workspace,
    spread: Vec,
    q_start: Vec,
    apart: float,
    found: Vec,
    errors: Vec,
    n_found: int,
) -> int:
    if n_found == len(found):
        return n_found
    joints, terms = work.joints, task.terms
    for j in range(len(q_start)):
        if joints[MOBILITY, j] == 0.0:
            joints[Q, j] = q_start[j]
    pos, rot, _ = descend(task, work)
    is_second = len(task.rows) > terms.n_first
    if is_second:
        pos, rot, _, _, _ = iterate(task, work)
    if not (is_met(terms, pos, rot) or (is_second and pos <= terms.tol_pos)):
        return n_found
    unwind(joints, spread[3], q_start)
    for k in range(n_found):
        distance = 0.0
        for j in range(len(q_start)):
            distance = max(distance, abs(found[k, j] - joints[Q, j]))
        if distance < apart:
            return n_found
    assign(found[n_found], joints[Q])
    errors[n_found, 0], errors[n_found, 1] = pos, rot
    return n_found + 1


@compiled_aside
def follow_rows(  # noqa: PLR0913, PLR0917 - kernels take arrays one by one
    packed: PackedTask,
    path: Vec,
    q: Vec,
    rates: Vec,
    within: tuple[float, float],
    reached: Bools,
    span: Vec,
) -> None:
    """Follow a path in even steps from q, (n,), [rad], which becomes the end.

    ``rates`` are as in ``bounded_step``; ``reached`` and ``span``, the range of
    positions, (2, n), are written.
    """
    T, residual, before = np.eye(4), np.zeros(6), np.empty(len(q))
    dt = (path[-1, 0] - path[0, 0]) / len(reached)
    assign(rates[Q_LAST_REACHED], q)
    assign(span[0], q)
    assign(span[1], q)
    row = 0
    for k in range(len(reached)):
        t = path[0, 0] + (k + 1) * dt
        while row < len(path) - 2 and path[row + 1, 0] < t:
            row += 1
        _interpolate(path, row, t, T)
        assign(before, q)
        found = bounded_step(packed, T, q, rates, residual, dt)
        for j in range(len(q)):
            rates[DQ, j] = (q[j] - before[j]) / dt
            span[0, j], span[1, j] = min(span[0, j], q[j]), max(span[1, j], q[j])
        reached[k] = found[0] <= within[0] and found[1] <= within[1]


@compiled
def _interpolate(path: Vec, row: int, t: float, T: Vec) -> None:
    after = min(row + 1, len(path) - 1)
    span = path[after, 0] - path[row, 0]
    u = min(max((t - path[row, 0]) / span, 0.0), 1.0) if span > 0.0 else 0.0
    x, product = np.empty(7), 0.0
    for a in range(4):
        product += path[row, 4 + a] * path[after, 4 + a]
    sign = 1.0 if product >= 0.0 else -1.0
    size2 = 0.0
    for a in range(7):
        other = path[after, 1 + a] * (sign if a >= 3 else 1.0)
        x[a] = (1.0 - u) * path[row, 1 + a] + u * other
        size2 += x[a] * x[a] if a >= 3 else 0.0
    for a in range(3, 7):
        x[a] /= math.sqrt(size2)
    R, p = np.empty((3, 3)), np.empty(3)
    if read_pose(x, R, p):
        for a in range(3):
            T[a, 3] = p[a]
            for b in range(3):
                T[a, b] = R[a, b]
