"""One period of inverse kinematics within the gate's limits (decision 0011).

    min ‖A y − b‖² + λ² ‖y − y_wish‖²,   A = Q^½ J W^½, b = Q^½ e, y = W^-½ Δq

within a box of velocities that V, A and stopping allow; y_wish is for the null space.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from paprle.compiled import compiled, inlined
from paprle.contracts.types import Vec
from paprle.kinematics.box_qp import solve_box
from paprle.kinematics.newton_ik import IkResult, is_met, is_usable, split_pose
from paprle.kinematics.pose import find_error, is_beyond, linearise
from paprle.kinematics.posture import find_posture_bias
from paprle.kinematics.task import (
    MOBILITY,
    Q_MAX,
    Q_MIN,
    PackedTask,
    Q,
    Task,
    Terms,
    Workspace,
    assign,
    make_workspace,
    unpack,
)
from paprle.robot.braking import compute_braking_velocity, compute_stopping_speed

DQ_MAX, DDQ_MAX, DQ, Q_LAST_REACHED = range(4)
"""Rows of ``rates``: V, A, the velocity of the last period, and where the target was
last met, [rad]."""
LOW, HIGH, BIAS, _DX = range(4)
"""Rows of ``bounds_and_bias``: box, y_wish, and the motion of this period, [rad]."""
_DAMPING = 1e-6  # [1] chosen: λ² on the target: too little to be seen in the answer
_CURVATURE = 1.0  # [1/m] measured: λ² by the residual; 0.3 to 3 are nearly as good
_CATCH_UP = 0.3  # [1] measured: of A, for the residual; 0.2 to 0.5 are as good
# [1] measured: with joints to spare, of a target at rest, which itself needs none of A;
# 0.7 and 0.9 come back later
_CATCH_UP_AT_REST = 0.5
_AT_REST = 0.01  # [m/s] chosen: of the target; 0.1 is as good
_NULLSPACE_DAMPING_TIME = 0.022  # [s] measured: of the velocity there; ± a third
_SINGULAR_DAMPING_TIME = 0.3  # [s] measured: with no joint to spare; 0.2 to 0.5 do, too
_LOST = 1e-4  # [m] chosen: with a larger residual a target is no longer followed
_SECOND = 0.01  # [1] chosen: of the weight of rotation; position stays within 20 µm
_N_POSITION = 3  # rows of a task that are position
_NEAR = 0.01  # [m] chosen: what is missed by more is out of reach; 0.02 is as good
_MOST_PULL = 0.03  # [m] measured: rotation pulls by 0.3 rad at most; 0.1 loses angle
_LITTLE = 0.02  # [m/rad] chosen: rotation that weighs less does not yield farther than
_MOST_LAG = 0.3  # [rad] chosen: this
_YIELDING = 0.15  # [1] measured: of the weight of rotation; 0.1 and 0.2 are as good
_YIELDING_CURVATURE = 0.05  # [1/m] measured: then; 0.03 is as good, 0.3 loses 5 %
_RETURN = 1e-2  # [m²/rad²] measured: a third of it loses one return of 100
# [m] measured: half of that weight; near the target it is next to nothing, or the bias
# would hold a limb back that has to go on
_FAR = 0.1
_GROWTH = 1.5  # [1] measured: with 2 one return of 100 is lost, with 1 millimetres
_MEMORY = 1.0  # [s] chosen: of those joints; an arm stretches out in half as long
_POSTURE_RATE = (
    1.0  # [1/s] measured: way home in the free motion; 0.5 to 1.5 are as good
)
_POSTURE_SHARE = 0.5  # [1] chosen: of the speed, so that it rests when that does
_CLOSE = 0.1  # [1] chosen: of the tolerances; nearer is no better
_WITHIN = 1.0 - 1e-9  # chosen: of V and A; rounding must not make it more than they
_LEAST_STEP = 1e-9  # [rad] chosen: far below any encoder
_LEAPT = 20.0  # [m/s] chosen: what moves faster has not moved but is another target
_TINY = 1e-24  # [rad] chosen: no way at all, as a positive number


class QuadraticForm(NamedTuple):
    """Form ½ yᵀ H y − gᵀ y, H = Aᵀ A + λ², (n, n), and g = Aᵀ b + λ² y_wish, (n,)."""

    H: Vec
    g: Vec


@compiled
def bounded_step(
    packed: PackedTask, T: Vec, q: Vec, rates: Vec, residual: Vec, dt: float
) -> IkResult:
    """Return the error after a period's move towards T, (4, 4); NaN if unusable.

    ``q``, (n,), [rad], ``residual``, the weighted error, (6,), [m], and the last row of
    ``rates`` (``DQ_MAX`` …), (4, n), [rad/s], [rad/s²], [rad/s], [rad], are changed; a
    ``dt`` of 0, [s], moves nothing.
    """
    R_target, p_target = np.empty((3, 3)), np.empty(3)
    split_pose(T, R_target, p_target)
    if not is_usable(R_target, p_target, q):
        residual[:] = 0.0
        return math.nan, math.nan, 0, False, False
    task = unpack(packed)
    terms = task.terms
    work = make_workspace(task, R_target, p_target, q)
    err_pos, err_rot = find_error(task.tree, terms.free_axis, work, q)
    is_there = is_met(terms, err_pos, err_rot)
    fastest = 0.0
    for j in range(len(q)):
        fastest = max(fastest, abs(rates[DQ, j]))
    if dt <= 0.0 or (is_there and fastest * dt < _LEAST_STEP):
        return err_pos, err_rot, 0, False, is_there
    bounds_and_bias = np.zeros((4, len(q)))
    _fill_bounds_and_bias(task, q, rates, residual, dt, bounds_and_bias)
    residual_before = residual.copy()
    n, err_pos, err_rot = iterate_qp(
        task, work, bounds_and_bias, rates, residual, dt, 1.0
    )
    if _leaves_box(task, residual, err_rot):
        assign(residual, residual_before)
        assign(work.joints[Q], q)
        for j in range(len(q)):
            bounds_and_bias[_DX, j] = 0.0
        find_error(task.tree, terms.free_axis, work, q)
        pull = max(terms.rotation_weight * err_rot, _TINY)
        yielding = _YIELDING * min(1.0, _MOST_PULL / pull)
        more, err_pos, err_rot = iterate_qp(
            task, work, bounds_and_bias, rates, residual, dt, yielding
        )
        n += more
    is_followed = _measure(residual[: terms.n_first]) < _LOST
    for j in range(len(q)):
        if is_followed:
            way = work.joints[Q, j] - rates[Q_LAST_REACHED, j]
            rates[Q_LAST_REACHED, j] += min(dt / _MEMORY, 1.0) * way
        # against rounding
        low, high = min(task.joints[Q_MIN, j], q[j]), max(task.joints[Q_MAX, j], q[j])
        q[j] = min(max(work.joints[Q, j], low), high)
    return err_pos, err_rot, n, True, is_met(terms, err_pos, err_rot)


@inlined
def _fill_bounds_and_bias(
    task: Task, q: Vec, rates: Vec, residual: Vec, dt: float, bounds_and_bias: Vec
) -> None:
    joints, speed2, way2, n_moving = task.joints, 0.0, 0.0, 0
    for j in range(len(q)):
        mobility = joints[MOBILITY, j]
        if mobility > 0.0:
            low, high = _bound(task, q[j], j, rates, dt)
            bounds_and_bias[LOW, j], bounds_and_bias[HIGH, j] = (
                low * dt / mobility,
                high * dt / mobility,
            )
            bounds_and_bias[BIAS, j] = rates[DQ, j] * dt / mobility
            n_moving += 1
            speed2 += bounds_and_bias[BIAS, j] ** 2
    has_spare = n_moving > len(task.rows)
    for j in range(len(q)):
        bounds_and_bias[_DX, j] = joints[MOBILITY, j] * find_posture_bias(
            joints, j, q[j], has_spare
        )
        way2 += bounds_and_bias[_DX, j] ** 2
    keep = math.exp(-dt / _NULLSPACE_DAMPING_TIME)
    if not has_spare:
        followed = _LOST / (_LOST + _measure(residual[: len(task.rows)]))
        keep += followed * (math.exp(-dt / _SINGULAR_DAMPING_TIME) - keep)
    bias = _POSTURE_SHARE * math.sqrt(speed2) / max(math.sqrt(way2), _TINY)
    bias = min(bias, _POSTURE_RATE * dt)
    for j in range(len(q)):
        wish = (
            keep * bounds_and_bias[BIAS, j]
            + (1.0 - keep) * bias * bounds_and_bias[_DX, j]
        )
        bounds_and_bias[BIAS, j], bounds_and_bias[_DX, j] = wish, 0.0


@inlined
def _bound(task: Task, q: float, j: int, rates: Vec, dt: float) -> tuple[float, float]:
    V, A, v = _WITHIN * rates[DQ_MAX, j], _WITHIN * rates[DDQ_MAX, j], rates[DQ, j]
    below = q - min(task.joints[Q_MIN, j], q)
    above = max(task.joints[Q_MAX, j], q) - q
    brake = compute_braking_velocity(v, A, dt)
    low = max(-compute_stopping_speed(below, A, dt), v - A * dt, -V)
    high = min(compute_stopping_speed(above, A, dt), v + A * dt, V)
    return min(low, brake), max(high, brake)


@compiled
def iterate_qp(  # noqa: PLR0913, PLR0917 - kernels take arrays one by one
    task: Task,
    work: Workspace,
    bounds_and_bias: Vec,
    rates: Vec,
    residual: Vec,
    dt: float,
    rotation: float,
) -> tuple[int, float, float]:
    """Return steps and errors of a period; ``rotation`` is the share of its weight.

    ``residual`` takes the weighted error.
    """
    terms, k, n = task.terms, len(task.rows), bounds_and_bias.shape[1]
    form = QuadraticForm(np.empty((n, n)), np.empty(n))
    rest, x, bounds, share = np.zeros(k), np.empty(n), np.empty((2, n)), 1.0
    lost = _measure(residual[: terms.n_first])
    n_first, second, damping = _rank(terms, rotation, lost)
    _scale(residual[n_first:k], rotation)
    returning = 0.0
    has_spare = n > k
    if terms.n_first < k or (has_spare and is_beyond(task.tree, work.p_target)):
        near, far = lost**_GROWTH, _FAR**_GROWTH
        returning = _RETURN * near / (near + far)
    close = terms.tol_pos
    if terms.rotation_weight > 0.0:
        close = min(close, terms.rotation_weight * terms.tol_rot)
    steps, pos, rot = 0, math.nan, math.nan
    while steps < terms.max_iterations:
        linearise(task, work)
        _lower_second(work, n_first, second)
        _fill_square(work.A, damping + returning, form.H)
        if steps == 0:
            share = _find_rest(work, form, rates, residual, dt, rest)
        steps += 1
        _fill_slope(work, rest, bounds_and_bias, damping, form.g)
        if returning > 0.0:
            part = returning if has_spare else share * returning
            _add_return(work.joints, rates[Q_LAST_REACHED], part, form.g)
        for j in range(n):
            bounds[0, j] = bounds_and_bias[LOW, j] - bounds_and_bias[_DX, j]
            bounds[1, j] = bounds_and_bias[HIGH, j] - bounds_and_bias[_DX, j]
        solve_box(form.H, form.g, bounds[0], bounds[1], x)
        step = _go(task, work, bounds_and_bias, x)
        pos, rot = find_error(task.tree, terms.free_axis, work, work.joints[Q])
        for i in range(k):
            residual[i] = task.weights[i] * work.e[task.rows[i]]
            residual[i] *= second if i >= n_first else 1.0
            work.b[i] = residual[i] - rest[i]
        if step < _LEAST_STEP or _measure(work.b) < _CLOSE * close:
            break
    _scale(residual[n_first:k], 1.0 / rotation)
    return steps, pos, rot


@inlined
def _rank(terms: Terms, rotation: float, lost: float) -> tuple[int, float, float]:
    if rotation < 1.0:
        curvature = _YIELDING_CURVATURE * rotation / _YIELDING
        return _N_POSITION, rotation, _DAMPING + curvature * lost
    return terms.n_first, _SECOND, _DAMPING + _CURVATURE * lost


@inlined
def _scale(x: Vec, factor: float) -> None:
    for i in range(len(x)):
        x[i] *= factor


@inlined
def _leaves_box(task: Task, residual: Vec, err_rot: float) -> bool:
    n_moving, k = 0, len(task.rows)
    for j in range(task.joints.shape[1]):
        n_moving += 1 if task.joints[MOBILITY, j] > 0.0 else 0
    has_spare = n_moving > k > _N_POSITION
    may_yield = err_rot < _MOST_LAG or task.terms.rotation_weight >= _LITTLE
    is_near = _LOST < _measure(residual[:_N_POSITION]) < _NEAR
    return has_spare and may_yield and is_near


@inlined
def _lower_second(work: Workspace, n_first: int, weight: float) -> None:
    for i in range(n_first, len(work.b)):
        work.b[i] *= weight
        for j in range(work.A.shape[1]):
            work.A[i, j] *= weight


@inlined
def _add_return(joints: Vec, q_met: Vec, weight: float, g: Vec) -> None:
    for j in range(len(g)):
        if joints[MOBILITY, j] > 0.0:
            g[j] += weight * (q_met[j] - joints[Q, j]) / joints[MOBILITY, j]


@inlined
def _measure(x: Vec) -> float:
    size2 = 0.0
    for i in range(len(x)):
        size2 += x[i] * x[i]
    return math.sqrt(size2)


@inlined
def _fill_square(A: Vec, damping: float, H: Vec) -> None:
    for i in range(len(H)):
        for j in range(i + 1):
            product = 0.0
            for c in range(len(A)):
                product += A[c, i] * A[c, j]
            H[i, j] = H[j, i] = product
        H[i, i] += damping


@inlined
def _fill_slope(
    work: Workspace, rest: Vec, bounds_and_bias: Vec, damping: float, g: Vec
) -> None:
    """Write Aᵀ (b − rest) + λ² (y_wish − y)."""
    for j in range(len(g)):
        g[j] = damping * (bounds_and_bias[BIAS, j] - bounds_and_bias[_DX, j])
        for i in range(len(rest)):
            g[j] += work.A[i, j] * (work.b[i] - rest[i])


@inlined
def _go(task: Task, work: Workspace, bounds_and_bias: Vec, x: Vec) -> float:
    largest = 0.0
    for j in range(len(x)):
        way = task.joints[MOBILITY, j] * x[j]
        bounds_and_bias[_DX, j] += x[j]
        work.joints[Q, j] += way
        largest = max(largest, abs(way))
    return largest


@inlined
def _find_rest(
    work: Workspace,
    form: QuadraticForm,
    rates: Vec,
    residual: Vec,
    dt: float,
    rest: Vec,
) -> float:
    k, n, leap, catch_up = len(rest), len(form.g), 0.0, _CATCH_UP
    for i in range(k):
        leap += (work.b[i] - residual[i]) ** 2
    if n > k and leap < (_AT_REST * dt) ** 2:
        catch_up = _CATCH_UP_AT_REST
    if leap > (_LEAPT * dt) ** 2:
        assign(residual[:k], work.b)
    if _measure(residual[:k]) == 0.0:
        return 1.0
    bounds, x = np.empty((2, n)), np.empty(n)
    for j in range(n):
        form.g[j] = 0.0
        for i in range(k):
            form.g[j] += work.A[i, j] * residual[i]
        bounds[0, j], bounds[1, j] = -math.inf, math.inf
    solve_box(form.H, form.g, bounds[0], bounds[1], x)
    share = 1.0
    for j in range(n):
        way = abs(work.joints[MOBILITY, j] * x[j])
        if way > _TINY:
            pace = compute_stopping_speed(way, catch_up * rates[DDQ_MAX, j], dt)
            share = min(share, pace * dt / way)
    for i in range(k):
        rest[i] = (1.0 - share) * residual[i]
    return share
