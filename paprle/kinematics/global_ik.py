"""Global inverse kinematics: Levenberg-Marquardt inside limits, with restarts.

For slow moves: answers jump between branches. All calls use the same starts.
"""

from __future__ import annotations

import math

import numpy as np

from paprle.compiled import compiled
from paprle.contracts.types import Vec
from paprle.kinematics.dls_step import pull_back, square
from paprle.kinematics.linear import invert
from paprle.kinematics.newton_ik import IkResult, is_met, is_usable, iterate, split_pose
from paprle.kinematics.pose import find_error, linearise
from paprle.kinematics.task import (
    MOBILITY,
    Q_MAX,
    Q_MIN,
    TRIAL,
    PackedTask,
    Q,
    Task,
    Terms,
    Workspace,
    Y,
    assign,
    make_workspace,
    unpack,
)
from paprle.robot.chain import Limb

N_EVALUATIONS = 2000  # measured: 1,000 find 99.9 %; 3 ms where there is no solution
_N_DESCENT = 60  # measured: of 30 … 200 the fewest evaluations in all
_N_CHOICES = 4  # chosen: descents of which the nearest solution is taken
_DAMPING = 0.3  # [1] measured: of 0.01 … 10 the fewest evaluations
_RELAX, _TIGHTEN = 0.3, 4.0  # [1] chosen: after steps that lower the error or do not
_MOST_DAMPING = 1e9  # [1] chosen: of the squared error; smaller steps lead nowhere
_LEAST_PROGRESS = 0.99  # [1] chosen: of the squared error
_N_SLOW = 5  # chosen: steps with less progress than that


def make_spread(limb: Limb, q_min: Vec, q_max: Vec) -> Vec:
    """Return the spread of starts over a limb's limits, (4, n).

    Rows: lowest and highest start, at most a turn apart, [rad]; step, [1]; period, 0:
    none, [rad].
    """
    n, tree = len(limb.home), limb.tree
    low, high = np.array(q_min), np.array(q_max)
    is_wide = high - low > 2.0 * math.pi
    low[is_wide] = np.maximum(low, limb.home - math.pi)[is_wide]
    high[is_wide] = np.minimum(high, limb.home + math.pi)[is_wide]
    root = 2.0  # of x^(n+1) = x + 1; its powers give the most even sequence
    for _ in range(60):
        root = (1.0 + root) ** (1.0 / (n + 1))
    step = root ** -np.arange(1.0, n + 1)
    is_plain = ~tree.is_prismatic & (tree.scale == 1.0)
    alone = np.bincount(tree.column, minlength=n) == 1
    plain = np.zeros(n, dtype=bool)
    plain[tree.column[is_plain]] = True
    return np.stack([low, high, step, np.where(plain & alone, 2.0 * math.pi, 0.0)])


@compiled
def search(packed: PackedTask, spread: Vec, T: Vec, q: Vec, most: int) -> IkResult:
    """Return the error of a search from afar, and poses tried; NaN if unusable.

    ``q``, (n,), [rad], is the first start, and becomes the nearest of the first
    solutions, or the closest position; T is (4, 4).
    """
    R_target, p_target = np.empty((3, 3)), np.empty(3)
    split_pose(T, R_target, p_target)
    if not is_usable(R_target, p_target, q):
        return math.nan, math.nan, 0, False, False
    task, start = unpack(packed), q.copy()
    work = make_workspace(task, R_target, p_target, start)
    pos, rot = find_error(task.tree, task.terms.free_axis, work, start)
    if is_met(task.terms, pos, rot):
        return pos, rot, 0, False, True
    rank, best, best_pos, best_rot, n_done = 3, math.inf, pos, rot, 1
    for attempt in range(most):
        put_start(work.joints, spread, attempt, start)
        pos, rot, n = descend(task, work)
        if len(task.rows) > task.terms.n_first:
            pos, rot, extra, _, _ = iterate(task, work)
            n += extra
        unwind(work.joints, spread[3], start)
        at, score = _score(task, pos, rot, _distance(work.joints[Q], start))
        if at < rank or (at == rank and score < best):
            rank, best, best_pos, best_rot = at, score, pos, rot
            assign(q, work.joints[Q])
        n_done += n
        if n_done >= most or (rank == 0 and attempt + 1 >= _N_CHOICES):
            break
    return best_pos, best_rot, n_done, True, rank == 0


@compiled
def _score(task: Task, pos: float, rot: float, distance: float) -> tuple[int, float]:
    terms = task.terms
    if is_met(terms, pos, rot):
        return 0, distance
    if len(task.rows) > terms.n_first and pos <= terms.tol_pos:
        return 1, rot
    return 2, _weigh_all(terms, pos, rot)


@compiled
def put_start(joints: Vec, spread: Vec, attempt: int, start: Vec) -> None:
    """Write a descent's start: the given one, then others within limits."""
    for j in range(len(start)):
        if joints[MOBILITY, j] == 0.0:
            joints[Q, j] = start[j]
        elif attempt == 0:
            joints[Q, j] = min(max(start[j], joints[Q_MIN, j]), joints[Q_MAX, j])
        else:
            share = 0.5 + attempt * spread[2, j]
            share -= math.floor(share)
            joints[Q, j] = spread[0, j] + share * (spread[1, j] - spread[0, j])


@compiled
def descend(task: Task, work: Workspace) -> tuple[float, float, int]:
    """Return distance [m], angle [rad] and poses tried of a descent."""
    terms, tree, joints = task.terms, task.tree, work.joints
    pos, rot = find_error(tree, terms.free_axis, work, joints[Q])
    damping, n_slow, n_done = _DAMPING, 0, 1
    M, G = np.empty((len(work.b), len(work.b))), np.empty((len(work.b), len(work.b)))
    while not is_met(terms, pos, rot) and n_done < _N_DESCENT and n_slow < _N_SLOW:
        linearise(task, work)
        _hold_at_limits(work.A, work.b, joints)
        square(work.A, M)
        cost = new = _weigh_all(terms, pos, rot)
        while not new < cost and damping < _MOST_DAMPING:
            if invert(M, damping * cost, G):
                _try(work.A, work.b, G, joints)
                pos, rot = find_error(tree, terms.free_axis, work, joints[TRIAL])
                new = _weigh_all(terms, pos, rot)
                n_done += 1
            damping *= _TIGHTEN
        if not new < cost:
            break
        assign(joints[Q], joints[TRIAL])
        n_slow += 1 if new > _LEAST_PROGRESS * cost else 0
        damping *= _RELAX / _TIGHTEN
    pos, rot = find_error(tree, terms.free_axis, work, joints[Q])
    return pos, rot, n_done


@compiled
def _weigh_all(terms: Terms, pos: float, rot: float) -> float:
    return pos * pos + terms.rotation_weight**2 * rot * rot


@compiled
def _hold_at_limits(A: Vec, b: Vec, joints: Vec) -> None:
    for j in range(A.shape[1]):
        push = 0.0
        for i in range(len(b)):
            push += A[i, j] * b[i]
        is_high = push > 0.0 and joints[Q, j] >= joints[Q_MAX, j]
        if is_high or (push < 0.0 and joints[Q, j] <= joints[Q_MIN, j]):
            for i in range(len(b)):
                A[i, j] = 0.0


@compiled
def _try(A: Vec, b: Vec, G: Vec, joints: Vec) -> None:
    y = joints[Y]
    for j in range(len(y)):
        y[j] = 0.0
    pull_back(A, G, b, y)
    for j in range(len(y)):
        q = joints[Q, j] + joints[MOBILITY, j] * y[j]
        joints[TRIAL, j] = min(max(q, joints[Q_MIN, j]), joints[Q_MAX, j])


@compiled
def unwind(joints: Vec, period: Vec, start: Vec) -> None:
    """Turn joints by whole turns nearest to the start, within limits."""
    for j in range(len(start)):
        q = joints[Q, j]
        if period[j] > 0.0 and joints[MOBILITY, j] > 0.0:
            turns = math.floor((start[j] - q) / period[j] + 0.5)
            while turns != 0.0:
                turned = q + turns * period[j]
                if joints[Q_MIN, j] <= turned <= joints[Q_MAX, j]:
                    joints[Q, j] = turned
                    break
                turns -= math.copysign(1.0, turns)


@compiled
def _distance(q: Vec, start: Vec) -> float:
    largest = 0.0
    for j in range(len(q)):
        largest = max(largest, abs(q[j] - start[j]))
    return largest
