"""pink with the ten nearest pairs."""

from __future__ import annotations

from benchmarks.peers import with_pink
from benchmarks.peers.problem import Problem

VERSIONS = with_pink.VERSIONS
_N_NEAREST = 10  # its examples'


def make_solver(problem: Problem, variant: str) -> with_pink.PinkSolver:
    """Make a solver."""
    return with_pink.PinkSolver(problem, variant, _N_NEAREST)
