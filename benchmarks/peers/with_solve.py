"""``IkSolver.solve`` alone: no period, gate, V or A."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from benchmarks.peers import with_ours
from benchmarks.peers.problem import Problem
from paprle import GateConfig, IkConfig, IkSolver

VERSIONS = with_ours.VERSIONS


class KinematicSolver:
    """One robot, limb by limb."""

    def __init__(self, problem: Problem) -> None:
        robot = with_ours.load_model(problem)
        margin = GateConfig().position_margin
        self._limbs = list(robot.limbs.values())
        self._solvers = [
            IkSolver(limb, IkConfig(), position_margin=margin) for limb in self._limbs
        ]
        self._T_base_root = with_ours.find_bases(problem)
        self.n_pairs = 0
        self.reset(robot.home)

    def prepare(self, T: np.ndarray) -> list[pin.SE3]:
        bases = zip(self._T_base_root, T, strict=True)
        return [pin.SE3(T_base_root @ pose) for T_base_root, pose in bases]

    def reset(self, q: np.ndarray) -> None:
        self._q = q.copy()

    def step(self, targets: list[pin.SE3]) -> bool:
        q = self._q
        for limb, solver, T in zip(self._limbs, self._solvers, targets, strict=True):
            q = limb.put(q, solver.solve(T, limb.take(q)).q)
        self._q = q
        return True

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        return self._q, self._q


def make_solver(problem: Problem, _: str) -> KinematicSolver:
    """Make a solver, for scenarios without collision."""
    return KinematicSolver(problem)
