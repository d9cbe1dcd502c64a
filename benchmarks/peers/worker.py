"""Process of one peer: a JSON line per request.

``python -m benchmarks.peers.worker pink``, with the peer's Python; arrays are npz
files.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from benchmarks.peers.problem import Problem, Targets

TOL_POS, TOL_ROT = 1e-4, 1e-3  # [m], [rad]: cold solves
MAX_ITERATIONS = 100  # of a peer from one start
_WARM_UP = 5  # steps that are not counted, before each track


class Solver(Protocol):
    """A peer's solver; ``q`` has the problem's order."""

    n_pairs: int

    def prepare(self, T: np.ndarray) -> Any:
        """Convert a tick's targets, (n_limbs, 4, 4)."""

    def reset(self, q: np.ndarray) -> None:
        """Set the joints."""

    def step(self, targets: Any) -> bool:
        """Make one step; False without a solution."""

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        """Return joints, and its IK's alone, (n,) each."""

    def search(self, T: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, int]:
        """Return q of a distant pose, and the starts."""


def iterate(
    solver: Any, targets: Any, starts: np.ndarray, error: Callable[[], tuple]
) -> tuple[np.ndarray, int]:
    """Solve cold by repeated steps."""
    for n, q in enumerate(starts, start=1):
        solver.reset(q)
        for _ in range(MAX_ITERATIONS):
            err_pos, err_rot = error()
            if err_pos < TOL_POS and err_rot < TOL_ROT:
                return solver.read()[0], n
            if not solver.step(targets):
                break
    return solver.read()[0], len(starts)


class Worker:
    """Carries out requests."""

    def __init__(self, peer: str) -> None:
        self._module = importlib.import_module(f"benchmarks.peers.with_{peer}")
        self._solvers: dict[tuple[str, str], Solver] = {}
        self._solver: Solver
        self._targets: Targets
        self._native: list[Any] = []
        self._out: dict[str, np.ndarray] = {}
        self._starts: dict[int, np.ndarray] = {}

    def versions(self, _: dict) -> dict:
        """Return package versions."""
        return {"versions": self._module.VERSIONS}

    def begin(self, request: dict) -> dict:
        """Load a set of targets."""
        key = (request["problem"], request["variant"])
        if key not in self._solvers:
            problem = Problem.read(Path(key[0]))
            self._solvers[key] = self._module.make_solver(problem, key[1])
        self._solver = self._solvers[key]
        self._targets = targets = Targets.read(Path(request["targets"]))
        n, m = len(targets.T), targets.q_start.shape[1]
        self._native = [self._solver.prepare(T) for T in targets.T]
        self._out = {
            "q": np.full((n, m), np.nan),
            "q_ik": np.full((n, m), np.nan),
            "seconds": np.full(n, np.nan),
            "is_solved": np.zeros(n, dtype=bool),
        }
        starts = zip(targets.first.tolist(), targets.q_start, strict=True)
        self._starts = dict(starts)
        self._solver.reset(targets.q_start[0])
        for _ in range(_WARM_UP):
            self._solver.step(self._native[0])
        gc.collect()
        gc.freeze()
        gc.disable()
        return {"n_pairs": self._solver.n_pairs}

    def run(self, request: dict) -> dict:
        """Follow the targets for a turn, timing steps."""
        solver, out = self._solver, self._out

        def step(k: int) -> None:
            if k in self._starts:
                solver.reset(self._starts[k])
            native = self._native[k]
            began = time.perf_counter()
            out["is_solved"][k] = solver.step(native)
            out["seconds"][k] = time.perf_counter() - began
            out["q"][k], out["q_ik"][k] = solver.read()

        return _take_turn(step, request)

    def search(self, request: dict) -> dict:
        """Solve distant single targets, with times."""
        out, starts = self._out, np.load(request["starts"])
        out.setdefault("n_starts", np.zeros(len(starts), dtype=int))

        def search(k: int) -> None:
            began = time.perf_counter()
            found = self._solver.search(self._targets.T[k], starts[k])
            out["seconds"][k] = time.perf_counter() - began
            out["q"][k], out["n_starts"][k] = found

        return _take_turn(search, request)

    def save(self, request: dict) -> dict:
        """Write the results."""
        np.savez(request["out"], **self._out)
        return {}


def _take_turn(do: Callable[[int], None], request: dict) -> dict:
    k = request["start"]
    end = time.perf_counter() + request["seconds"]
    while k < request["stop"] and time.perf_counter() < end:
        do(k)
        k += 1
    return {"at": k}


def main() -> None:
    """Answer requests until the pipe ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not get between the answers
    worker = Worker(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        answer = getattr(worker, request["do"])(request)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
