"""Quadratic program of a period in which a body would come too near (C1).

    min ½ vᵀ M v − pᵀ v   so that   low ≤ v ≤ high,   g·v ≥ −allowed   (soft)

M = Σ Jᵀ Q J + Λ measures tool motion (decision 0012).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import daqp
import numpy as np

from paprle.contracts.types import Vec
from paprle.robot.arrays import Ints

_HARD = 0  # spec: daqp's bits for a constraint that may not be violated
_SOFT = 8  # spec: the bit for one that may be, if necessary
_GIVEN = 1e-6  # [m/s] chosen: more than rounding gains, and as good as nothing
_MOST = 200  # chosen: iterations; a dozen are usual
_SOLVED, _BROKEN = 1, 2  # spec: daqp's exit flags optimal and soft optimal
_PENALTY = 1e4  # chosen: of a soft row in the reference solver

Solver = Callable[[Vec, Vec, Vec, Vec, Vec, Vec], Vec | None]
"""Takes pull, low, high, shape (n,), rows (m, n), allowed (m,), metric (n, n)."""


class AvoidanceProblem(NamedTuple):
    """A quadratic program for the velocity of the next command.

    Attributes:
        pull: p, M times the wanted velocity, shape (n,).
        low: Lower corner of the box, shape (n,), [rad/s].
        rows: Gradients, shape (m, n), [m/rad].
        allowed: Closing speeds, shape (m,), [m/s].
        metric: M, positive definite, shape (n, n), [m²/rad²].
    """

    pull: Vec
    low: Vec
    high: Vec
    rows: Vec
    allowed: Vec
    metric: Vec

    def of(self, own: Ints, v: Vec) -> AvoidanceProblem:
        """Return the problem of some joints, (k,), the others at v."""
        rest = v.copy()
        rest[own] = 0.0
        return AvoidanceProblem(
            self.pull[own],
            self.low[own],
            self.high[own],
            np.ascontiguousarray(self.rows[:, own]),
            self.allowed + self.rows @ rest,
            np.ascontiguousarray(self.metric[np.ix_(own, own)]),
        )


def solve_daqp(
    pull: Vec, low: Vec, high: Vec, rows: Vec, allowed: Vec, metric: Vec
) -> Vec | None:
    """Return DAQP's exact solution (10–20 µs), or None.

    Broken rows are relaxed and solved again: a stiff penalty makes the solution jump.
    """
    problem = AvoidanceProblem(pull, low, high, rows, allowed, metric)
    v, flag = _ask_daqp(problem, _SOFT)
    if flag != _BROKEN:
        return v if flag == _SOLVED else None
    given = np.maximum(allowed, _GIVEN - rows @ v)
    again, flag = _ask_daqp(problem._replace(allowed=given), _HARD)
    return again if flag == _SOLVED else v


def _ask_daqp(problem: AvoidanceProblem, sense: int) -> tuple[Vec, int]:
    n, m = len(problem.pull), len(problem.rows)
    upper = np.concatenate((problem.high, np.full(m, 1e30)))
    lower = np.concatenate((problem.low, -problem.allowed))
    senses = np.zeros(n + m, dtype=np.int32)
    senses[n:] = sense
    v, _, flag, _ = daqp.solve(
        problem.metric,
        -problem.pull,
        problem.rows,
        upper,
        lower,
        senses,
        iter_limit=_MOST,
    )
    return np.asarray(v), flag


def solve_osqp(
    pull: Vec, low: Vec, high: Vec, rows: Vec, allowed: Vec, metric: Vec
) -> Vec | None:
    """Return OSQP's solution, a slower reference, exact to 1e-6 [rad/s]."""
    import osqp  # noqa: PLC0415 - a reference that few install
    from scipy import sparse  # noqa: PLC0415

    n, m = len(pull), len(rows)
    # one slack a row makes it soft
    soft = _PENALTY * np.trace(metric) / n
    cost = sparse.block_diag((metric, soft * sparse.eye(m)), format="csc")
    A = sparse.bmat([[sparse.eye(n), None], [rows, sparse.eye(m)]], format="csc")
    problem = osqp.OSQP()
    problem.setup(
        cost,
        np.concatenate((-pull, np.zeros(m))),
        A,
        np.concatenate((low, -allowed)),
        np.concatenate((high, np.full(m, np.inf))),
        verbose=False,
        eps_abs=1e-6,
        eps_rel=1e-6,
        polishing=True,
    )
    found = problem.solve(raise_error=False)
    is_solved = found.info.status in {"solved", "solved inaccurate"}
    return np.asarray(found.x[:n]) if is_solved else None


SOLVERS: dict[str, Solver] = {"daqp": solve_daqp, "osqp": solve_osqp}


def solve_avoidance_qp(solver: Solver, problem: AvoidanceProblem) -> Vec | None:
    """Return the velocity nearest to the wanted one, or None."""
    # solvers were seen to hang for minutes, or to drop bounds, when given NaN
    if not all(np.isfinite(part).all() for part in problem):
        return None
    try:
        v = np.asarray(solver(*problem), dtype=np.float64)
    except Exception:  # noqa: BLE001 - a foreign library; whoever asks brakes instead
        return None
    if v.shape != problem.pull.shape or not np.isfinite(v).all():
        return None
    return np.minimum(np.maximum(v, problem.low), problem.high)


def solve_limb_by_limb(
    solver: Solver, problem: AvoidanceProblem, limbs: Iterable[Ints], brake: Vec
) -> Vec | None:
    """Solve limbs one by one, others at ``brake``, (n,); None if all fail."""
    v, is_found = brake.copy(), False
    for own in limbs:
        part = solve_avoidance_qp(solver, problem.of(own, v))
        if part is not None:
            v[own], is_found = part, True
    return v if is_found else None
