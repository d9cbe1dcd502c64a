"""A pose from afar: Levenberg-Marquardt inside limits, started again where it is stuck.

For slow moves, homing and onboarding; its answers jump between branches, so that it is
nothing for a stream of targets. All starts are the same ones in each call.
"""

from __future__ import annotations

import math

import numpy as np

from paprle.compiled import compiled
from paprle.kinematics.linear import invert
from paprle.kinematics.pose import find_error
from paprle.kinematics.step import Point, linearise, make_point, square
from paprle.kinematics.task import PackedTask, Task, unpack
from paprle.kinematics.track import Found, is_met, is_usable, iterate
from paprle.robot.chain import Limb
from paprle.types import Vec

_N_EVALUATIONS = 3000  # chosen: together some 5 ms where there is no solution
_N_DESCENT = 60  # measured: of 30 … 200 the fewest evaluations in all
_N_CHOICES = 4  # chosen: descents of which the nearest solution is taken
_DAMPING = 0.3  # [1] measured: of 0.01 … 10 the fewest evaluations
_RELAX, _TIGHTEN = 0.3, 4.0  # [1] chosen: after steps that lower the error or do not
_MOST_DAMPING = 1e9  # [1] chosen: of the squared error; smaller steps lead nowhere
_LEAST_PROGRESS = 0.99  # [1] chosen: of the squared error
_N_SLOW = 5  # chosen: steps with less progress than that
_POSITION_FIRST = 1e3  # [1] chosen: how much more a metre is worth than a turn's


def make_spread(limb: Limb, q_min: Vec, q_max: Vec) -> Vec:
    """Return what starts all over the limits are made from.

    Args:
        limb: The limb.
        q_min: Lower limits, shape (n,), [rad].
        q_max: Upper ones.

    Returns:
        Shape (4, n): lowest and highest start, at most one turn apart, [rad]; step in
        that range, [1]; and the period of the joint, 0 for none, [rad].
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
def search(packed: PackedTask, spread: Vec, T: Vec, q: Vec) -> Found:
    """Find a target from afar.

    Args:
        packed: The limb.
        spread: See ``make_spread``.
        T: Target pose T_base_eef, shape (4, 4).
        q: Where to look first, shape (n,), [rad]; becomes the nearest of the first
            solutions, or what comes closest.

    Returns:
        What is left, and the number of poses tried; NaN where target or start are
        unusable.
    """
    if not is_usable(T, q):
        return math.nan, math.nan, 0, False, False
    task = unpack(packed)
    q_start, at = q.copy(), make_point(task, q.copy())
    best_pos, best_rot = find_error(task, T, q, at.pose, at.e)
    is_converged, is_moved = is_met(task, best_pos, best_rot), False
    best, n_done, attempt = math.inf, 1, 0
    while not is_moved or n_done < _N_EVALUATIONS:
        if is_converged and (not is_moved or attempt >= _N_CHOICES):
            break
        _start(task, spread, attempt, q_start, at.q)
        pos, rot, n = _descend(task, T, at)
        if len(task.rows) > task.n_first and not is_met(task, pos, rot):
            pos, rot, extra, _, _ = iterate(task, T, at, math.inf)
            n += extra
        _unwind(task, spread[3], q_start, at.q)
        is_solution = is_met(task, pos, rot)
        score = _score(task, pos, rot)
        if is_solution:
            score = _distance(at.q, q_start) - 1e6
        if score < best:
            best, best_pos, best_rot = score, pos, rot
            q[:] = at.q
            is_moved = True
        is_converged = is_converged or is_solution
        n_done += n
        attempt += 1
    return best_pos, best_rot, n_done, is_moved, is_converged


@compiled
def _start(task: Task, spread: Vec, attempt: int, q_start: Vec, q: Vec) -> None:
    """Write where a descent starts: at the start itself, then all over the limits."""
    for j in range(len(q)):
        if task.mobility[j] == 0.0:
            q[j] = q_start[j]
        elif attempt == 0:
            q[j] = min(max(q_start[j], task.q_min[j]), task.q_max[j])
        else:
            share = 0.5 + attempt * spread[2, j]
            share -= math.floor(share)
            q[j] = spread[0, j] + share * (spread[1, j] - spread[0, j])


@compiled
def _descend(task: Task, T: Vec, at: Point) -> tuple[float, float, int]:
    """Lower the weighted error as far as it goes; returns what is left, and tries."""
    pos, rot = find_error(task, T, at.q, at.pose, at.e)
    damping, n_slow, n_done = _DAMPING, 0, 1
    q, k = np.empty(len(at.q)), len(task.rows)
    M, G = np.empty((k, k)), np.empty((k, k))
    cost = _cost(task, pos, rot)
    while not is_met(task, pos, rot) and n_done < _N_DESCENT and n_slow < _N_SLOW:
        linearise(task, at)
        _hold_at_limits(task, at)
        square(at.A, M)
        new = math.inf
        while not new < cost and damping < _MOST_DAMPING:
            if invert(M, damping * cost, G):
                _try(task, at, G, q)
                pos, rot = find_error(task, T, q, at.pose, at.e)
                new = _cost(task, pos, rot)
                n_done += 1
            damping *= _TIGHTEN
        if not new < cost:
            break
        n_slow += 1 if new > _LEAST_PROGRESS * cost else 0
        damping *= _RELAX / _TIGHTEN
        at.q[:] = q
        cost = new
    pos, rot = find_error(task, T, at.q, at.pose, at.e)
    return pos, rot, n_done


@compiled
def _cost(task: Task, pos: float, rot: float) -> float:
    return pos * pos + task.rotation_weight**2 * rot * rot


@compiled
def _hold_at_limits(task: Task, at: Point) -> None:
    """Take out joints at a limit that the error pushes outwards."""
    for j in range(len(at.q)):
        push = 0.0
        for i in range(len(at.b)):
            push += at.A[i, j] * at.b[i]
        if (push > 0.0 and at.q[j] >= task.q_max[j]) or (
            push < 0.0 and at.q[j] <= task.q_min[j]
        ):
            for i in range(len(at.b)):
                at.A[i, j] = 0.0


@compiled
def _try(task: Task, at: Point, G: Vec, q: Vec) -> None:
    """Write where the damped step leads, within limits."""
    for j in range(len(q)):
        step = 0.0
        for i in range(len(at.b)):
            for c in range(len(at.b)):
                step += at.A[i, j] * G[i, c] * at.b[c]
        step *= task.mobility[j]
        low, high = min(task.q_min[j], at.q[j]), max(task.q_max[j], at.q[j])
        q[j] = min(max(at.q[j] + step, low), high)


@compiled
def _unwind(task: Task, period: Vec, q_start: Vec, q: Vec) -> None:
    """Turn joints by whole turns as near to the start as their limits allow."""
    for j in range(len(q)):
        if period[j] > 0.0:
            turns = math.floor((q_start[j] - q[j]) / period[j] + 0.5)
            while turns != 0.0:
                turned = q[j] + turns * period[j]
                if task.q_min[j] <= turned <= task.q_max[j]:
                    q[j] = turned
                    break
                turns -= math.copysign(1.0, turns)


@compiled
def _distance(q: Vec, q_start: Vec) -> float:
    """Return the largest change of any joint, [rad]."""
    largest = 0.0
    for j in range(len(q)):
        largest = max(largest, abs(q[j] - q_start[j]))
    return largest


@compiled
def _score(task: Task, pos: float, rot: float) -> float:
    """Return how bad an error is."""
    if len(task.rows) > task.n_first:
        return _POSITION_FIRST * pos + task.rotation_weight * rot
    return math.sqrt(_cost(task, pos, rot))
