"""The quadratic program of a period in which something would come too near (C1).

    min ‖v − v_wanted‖²   so that   low ≤ v ≤ high,   g·v ≥ −allowed

so that motion slides along an obstacle. The box is hard, the rows are soft: clearance
is held by the verification that follows, whatever comes out of here.
"""

from __future__ import annotations

from collections.abc import Callable

import daqp
import numpy as np

from paprle.contracts.types import Vec

_SOFT = 8  # spec: daqp's bit for a constraint that may be violated if necessary
_MOST = 200  # chosen: iterations; a dozen are usual
_SOLVED = (1, 2)  # spec: daqp's exit flags optimal and soft optimal
_PENALTY = 1e4  # chosen: of a soft row in the reference solver

Solver = Callable[[Vec, Vec, Vec, Vec, Vec], Vec | None]
"""Takes wanted, low, high, shape (n,), rows (m, n), allowed (m,); returns v."""


def solve_daqp(wanted: Vec, low: Vec, high: Vec, rows: Vec, allowed: Vec) -> Vec | None:
    """Solve with DAQP: exact, 10–20 µs; None where it fails."""
    n, m = len(wanted), len(rows)
    upper = np.concatenate((high, np.full(m, 1e30)))
    lower = np.concatenate((low, -allowed))
    sense = np.zeros(n + m, dtype=np.int32)
    sense[n:] = _SOFT
    v, _, flag, _ = daqp.solve(
        np.eye(n), -wanted, rows, upper, lower, sense, iter_limit=_MOST
    )
    return np.asarray(v) if flag in _SOLVED else None


def solve_osqp(wanted: Vec, low: Vec, high: Vec, rows: Vec, allowed: Vec) -> Vec | None:
    """Solve with OSQP, the reference: slower, and exact to 1e-6 [rad/s] only."""
    import osqp  # noqa: PLC0415 - a reference that few install
    from scipy import sparse  # noqa: PLC0415

    n, m = len(wanted), len(rows)
    # one slack a row makes it soft
    cost = sparse.diags(np.concatenate((np.ones(n), np.full(m, _PENALTY)))).tocsc()
    A = sparse.bmat([[sparse.eye(n), None], [rows, sparse.eye(m)]], format="csc")
    problem = osqp.OSQP()
    problem.setup(
        cost,
        np.concatenate((-wanted, np.zeros(m))),
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


def solve_avoidance_qp(
    solver: Solver, wanted: Vec, low: Vec, high: Vec, rows: tuple[Vec, Vec]
) -> Vec | None:
    """Return the velocity in the box that comes nearest to what is wanted.

    Args:
        solver: One of ``SOLVERS``.
        wanted: Wanted velocity, shape (n,), [rad/s].
        low: Lower corner of the box, shape (n,), [rad/s].
        high: Upper corner.
        rows: Gradients, shape (m, n), and allowed closing speeds, shape (m,), [m/s].

    Returns:
        The velocity, inside the box; None where there is none that can be trusted.
    """
    problem = (wanted, low, high, *rows)
    # solvers were seen to hang for minutes, or to drop bounds, when given NaN
    if not all(np.isfinite(part).all() for part in problem):
        return None
    try:
        v = np.asarray(solver(*problem), dtype=np.float64)
    except Exception:  # noqa: BLE001 - a foreign library; whoever asks brakes instead
        return None
    if v.shape != wanted.shape or not np.isfinite(v).all():
        return None
    return np.minimum(np.maximum(v, low), high)
