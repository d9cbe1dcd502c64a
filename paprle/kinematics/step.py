"""One step towards a target: weighted damped least squares, limits inside.

    Δq = W Jᵀ (J W Jᵀ + λ² Q⁻¹)⁻¹ e

with joint mobilities W, task weights Q = diag(I, r² I) and the body Jacobian J
(``design.md`` 6.2; PAPRLE's Eq. 6 as printed has no effect, ``requirements.md`` 5.4);
here with A = Q^½ J W^½, b = Q^½ e and y = W^-½ Δq. ``linear`` says how it is damped.

A joint that would leave its limits is set onto its limit and the rest is solved again.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from paprle.compiled import compiled
from paprle.kinematics.linear import invert_damped
from paprle.kinematics.pose import Pose, find_jacobian, make_pose
from paprle.kinematics.task import Task
from paprle.robot.arrays import Bools
from paprle.types import Vec

_POSTURE_GAIN = 0.05  # [1] chosen: share of the way home in one solve
_POSTURE_SHARE = 0.2  # [1] chosen: of the main motion, so that it rests when that does
_TINY = 1e-24  # [rad] chosen: no way at all, as a positive number


class Point(NamedTuple):
    """A joint position with its linearisation; arrays to write into.

    Attributes:
        q: Joint positions, shape (n,), [rad].
        q_start: Where the solve started, shape (n,), [rad].
        pose: Where everything is.
        e: Error, shape (6,), [m] over [rad].
        J: Body Jacobian, shape (6, n).
        A: Weighted rows of the task, shape (k, n); columns of fixed joints are zero.
        b: Weighted error, shape (k,).
        is_free: Which joints the rest is solved for, shape (n,).
        y: Weighted step, shape (n,).
        home: Weighted way home, shape (n,); zero where it is of no interest.
        step: Step, shape (n,), [rad].
    """

    q: Vec
    q_start: Vec
    pose: Pose
    e: Vec
    J: Vec
    A: Vec
    b: Vec
    is_free: Bools
    y: Vec
    home: Vec
    step: Vec


@compiled
def make_point(task: Task, q: Vec) -> Point:
    """Return room for a point that stands at q."""
    n, k = len(q), len(task.rows)
    return Point(
        q,
        q.copy(),
        make_pose(len(task.tree.parent)),
        np.empty(6),
        np.empty((6, n)),
        np.empty((k, n)),
        np.empty(k),
        np.empty(n, dtype=np.bool_),
        np.empty(n),
        np.empty(n),
        np.empty(n),
    )


@compiled
def linearise(task: Task, at: Point) -> None:
    """Write Jacobian, weighted rows and weighted error; the pose is that at q."""
    find_jacobian(task, at.pose, at.J)
    for i in range(len(task.rows)):
        row = task.rows[i]
        at.b[i] = task.weights[i] * at.e[row]
        for j in range(len(at.q)):
            at.A[i, j] = task.weights[i] * task.mobility[j] * at.J[row, j]


@compiled
def find_step(task: Task, at: Point, radius: float, is_first: bool) -> float:
    """Write the step from a linearised point, within limits and radius.

    Args:
        task: The limb.
        at: Where it stands; A and b are used up.
        radius: Largest change of any joint, [rad].
        is_first: Lean towards home.

    Returns:
        Size of what the second task adds, [rad].
    """
    n_free = 0
    for j in range(len(at.q)):
        at.is_free[j] = task.mobility[j] > 0.0
        at.step[j] = 0.0
        at.home[j] = task.mobility[j] * (task.home[j] - at.q[j])
        n_free += 1 if at.is_free[j] else 0
    aside = _solve_free(task, at, n_free, is_first)
    largest = 0.0
    for j in range(len(at.q)):
        largest = max(largest, abs(at.step[j]))
    if largest > radius:
        for j in range(len(at.q)):
            at.step[j] *= radius / largest
        for i in range(len(at.b)):
            at.b[i] *= radius / largest
    for rest in range(n_free - 1, -1, -1):
        if not _fix_worst(task, at):
            break
        aside = _solve_free(task, at, rest, is_first)
    return aside


@compiled
def _fix_worst(task: Task, at: Point) -> bool:
    """Set the joint that leaves its limits most onto its limit; False if none does."""
    worst, excess, way = -1, 0.0, 0.0
    for j in range(len(at.q)):
        lower = min(task.q_min[j] - at.q[j], 0.0)
        upper = max(task.q_max[j] - at.q[j], 0.0)
        allowed = min(max(at.step[j], lower), upper)
        if abs(at.step[j] - allowed) > excess:
            worst, excess, way = j, abs(at.step[j] - allowed), allowed
    if worst < 0:
        return False
    for i in range(len(at.b)):
        at.b[i] -= at.A[i, worst] * way / task.mobility[worst]
        at.A[i, worst] = 0.0
    at.is_free[worst] = False
    at.step[worst], at.home[worst] = way, 0.0
    return True


@compiled
def _solve_free(task: Task, at: Point, n_free: int, is_first: bool) -> float:
    """Write the step of the free joints; returns the size of the second task's part."""
    k, aside = task.n_first, 0.0
    if n_free > 0:
        A, G = at.A[:k], np.empty((k, k))
        weakness = _solve(A, at.b[:k], min(k, n_free), task, G, at.y)
        if n_free > k and len(at.b) > k:
            aside = _add_second_task(task, at, n_free, G, weakness)
        elif is_first and (n_free > k or weakness > 0.0):
            _add_posture(at, A, G)
    for j in range(len(at.q)):
        if at.is_free[j]:
            at.step[j] = task.mobility[j] * at.y[j] if n_free > 0 else 0.0
    return aside


@compiled
def _solve(A: Vec, b: Vec, rank: int, task: Task, G: Vec, y: Vec) -> float:
    """Write y = Aᵀ G b and G; returns how close to a singularity A is, 0 to 1."""
    size = 0.0
    for i in range(len(b)):
        size += b[i] * b[i]
    M = np.empty((len(b), len(b)))
    square(A, M)
    weakness, _ = invert_damped(
        M, rank, math.sqrt(size), task.damping, task.sigma_min, G
    )
    for j in range(A.shape[1]):
        y[j] = 0.0
    for i in range(len(b)):
        part = 0.0
        for c in range(len(b)):
            part += G[i, c] * b[c]
        for j in range(A.shape[1]):
            y[j] += A[i, j] * part
    return weakness


@compiled
def square(A: Vec, M: Vec) -> None:
    """Write A Aᵀ."""
    for i in range(A.shape[0]):
        for j in range(i + 1):
            M[i, j] = 0.0
            for c in range(A.shape[1]):
                M[i, j] += A[i, c] * A[j, c]
            M[j, i] = M[i, j]


@compiled
def _take_from(A: Vec, G: Vec, x: Vec) -> None:
    """Take out of x what A can see of it: x −= Aᵀ G A x."""
    k = len(G)
    seen = np.empty(k)
    for i in range(k):
        seen[i] = 0.0
        for j in range(len(x)):
            seen[i] += A[i, j] * x[j]
    for i in range(k):
        part = 0.0
        for c in range(k):
            part += G[i, c] * seen[c]
        for j in range(len(x)):
            x[j] -= A[i, j] * part


@compiled
def _add_second_task(
    task: Task, at: Point, n_free: int, G: Vec, weakness: float
) -> float:
    """Add to y what turns the eef and leaves it in place.

    It fades out at singularities of the first task, where it would not stay in place.

    Returns:
        The size of what was added.
    """
    k, n = task.n_first, len(at.q)
    A, b, A_rest = at.A[:k], at.b[k:].copy(), at.A[k:].copy()
    if weakness > 0.0:
        M = np.empty((k, k))
        square(A, M)
        invert_damped(M, k, 0.0, task.damping, task.sigma_min, G)
    for i in range(len(b)):
        for j in range(n):
            b[i] -= A_rest[i, j] * at.y[j]
        _take_from(A, G, A_rest[i])
    z, H = np.empty(n), np.empty((len(b), len(b)))
    _solve(A_rest, b, min(len(b), n_free - k), task, H, z)
    size = 0.0
    for j in range(n):
        at.y[j] += (1.0 - weakness) * z[j]
        size += z[j] * z[j]
    return (1.0 - weakness) * math.sqrt(size)


@compiled
def _add_posture(at: Point, A: Vec, G: Vec) -> None:
    """Let y lean towards home in what the task leaves free, while it moves."""
    z = at.home.copy()
    _take_from(A, G, z)
    size, main = 0.0, 0.0
    for j in range(len(z)):
        size += z[j] * z[j]
        main += at.y[j] * at.y[j]
    allowed = _POSTURE_SHARE * math.sqrt(main)
    gain = min(_POSTURE_GAIN, allowed / max(math.sqrt(size), _TINY))
    for j in range(len(z)):
        at.y[j] += gain * z[j]
