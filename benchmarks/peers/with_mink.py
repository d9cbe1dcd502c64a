"""mink: one differential IK step a tick."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import mink
import mujoco
import numpy as np

from benchmarks.peers.problem import Problem
from benchmarks.peers.worker import iterate

VERSIONS = {name: version(name) for name in ("mink", "mujoco", "qpsolvers", "daqp")}
_POSTURE = 1e-4  # chosen: of 1e-2 (its examples) … 1e-6 the most accurate, no drift
_LM = 1e-6  # as in its examples
_DAMPING = 1e-8  # chosen: the QP stays convex in singularities
_SEEN = 0.1  # [m] chosen: a pair is looked at from here on; nobody moves 0.1 m a tick


class MinkSolver:
    """One robot."""

    def __init__(self, problem: Problem, variant: str) -> None:
        spec = mujoco.MjSpec.from_string(Path(problem.urdf).read_text())
        spec.compiler.fusestatic = False
        spec.compiler.balanceinertia = True
        spec.compiler.boundmass, spec.compiler.boundinertia = 1e-4, 1e-7
        model = spec.compile()
        self._dt = problem.dt if variant != "cold" else 1.0
        names = [model.joint(k).name for k in range(model.njnt)]
        self._columns = problem.columns(names)
        self._configuration = mink.Configuration(model)
        self._frames = [
            mink.FrameTask(limb.eef_link, "body", 1.0, 1.0, lm_damping=_LM)
            for limb in problem.limbs
        ]
        self._posture = mink.PostureTask(model, cost=_POSTURE)
        self._tasks = [*self._frames, self._posture]
        self._limits: list[Any] = [mink.ConfigurationLimit(model)]
        self.n_pairs = 0
        if variant != "cold":
            speeds = dict(zip(problem.joint_names, problem.dq_max, strict=True))
            self._limits.append(mink.VelocityLimit(model, speeds))
        if variant == "with":
            limit = mink.CollisionAvoidanceLimit(
                model,
                [([a], [b]) for a, b in problem.pairs],
                minimum_distance_from_collisions=problem.keep,
                collision_detection_distance=_SEEN,
            )
            self.n_pairs = len(limit.geom_id_pairs)
            self._limits.append(limit)

    def prepare(self, T: np.ndarray) -> list[mink.SE3]:
        return [mink.SE3.from_matrix(pose) for pose in T]

    def reset(self, q: np.ndarray) -> None:
        own = np.empty_like(q)
        own[self._columns] = q
        self._configuration.update(own)
        self._posture.set_target(own)

    def step(self, targets: list[mink.SE3]) -> bool:
        for task, target in zip(self._frames, targets, strict=True):
            task.set_target(target)
        try:
            v = mink.solve_ik(
                self._configuration,
                self._tasks,
                self._dt,
                solver="daqp",
                damping=_DAMPING,
                limits=self._limits,
            )
        except mink.NoSolutionFound:
            return False
        self._configuration.integrate_inplace(v, self._dt)
        return True

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        q = self._configuration.q[self._columns]
        return q, q

    def search(self, T: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, int]:
        targets = self.prepare(T)
        self._frames[0].set_target(targets[0])

        def error() -> tuple[float, float]:
            e = self._frames[0].compute_error(self._configuration)
            return float(np.linalg.norm(e[:3])), float(np.linalg.norm(e[3:]))

        return iterate(self, targets, starts, error)


def make_solver(problem: Problem, variant: str) -> MinkSolver:
    """Make a solver."""
    return MinkSolver(problem, variant)
