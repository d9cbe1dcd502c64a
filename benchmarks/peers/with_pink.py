"""pink: one differential IK step a tick.

The least convergent damping; DAQP, its fastest solver here; no safe displacement, which
costs 3 mm. ``pink10`` takes the ten nearest pairs, as its examples.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
import pink
import pinocchio as pin
from pink.barriers import SelfCollisionBarrier
from pink.exceptions import NoSolutionFound
from pink.limits import ConfigurationLimit, VelocityLimit

from benchmarks.peers.problem import Problem
from benchmarks.peers.worker import iterate

VERSIONS = {name: version(name) for name in ("pin-pink", "pin", "qpsolvers", "daqp")}
_POSTURE = 1e-4  # chosen: of 1e-3 (its examples) … 1e-6 the most accurate, no drift
_LM = 1e-6  # chosen: as in its examples
_DAMPING = 1e-8  # chosen: the QP stays convex in singularities
_GAIN = 20.0  # its self-collision example's


class PinkSolver:
    """One robot."""

    def __init__(self, problem: Problem, variant: str, n_nearest: int) -> None:
        model = pin.buildModelFromUrdf(problem.urdf_pin)
        self._dt = problem.dt if variant != "cold" else 1.0
        self._columns = problem.columns(list(model.names[1:]))
        self.n_pairs, geometry, self._barriers = 0, None, []
        if variant == "with":
            geometry = pin.buildGeomFromUrdf(model, problem.urdf_pin, pin.COLLISION)
            ids = {g.name: k for k, g in enumerate(geometry.geometryObjects)}
            for a, b in problem.pairs:
                geometry.addCollisionPair(pin.CollisionPair(ids[a], ids[b]))
            self.n_pairs = n_nearest
            self._barriers = [
                SelfCollisionBarrier(
                    self.n_pairs,
                    gain=_GAIN,
                    safe_displacement_gain=0.0,
                    d_min=problem.keep,
                )
            ]
        home = np.empty(model.nq)
        home[self._columns] = problem.home
        self._configuration = pink.Configuration(
            model, model.createData(), home, collision_model=geometry
        )
        self._frames = [
            pink.FrameTask(limb.eef_link, 1.0, 1.0, lm_damping=_LM)
            for limb in problem.limbs
        ]
        self._posture = pink.PostureTask(cost=_POSTURE)
        self._posture.set_target(home)
        self._tasks = [*self._frames, self._posture]
        self._limits: list[Any] = [ConfigurationLimit(model)]
        if variant != "cold":
            self._limits.append(VelocityLimit(model))

    def prepare(self, T: np.ndarray) -> list[pin.SE3]:
        return [pin.SE3(pose) for pose in T]

    def reset(self, q: np.ndarray) -> None:
        own = np.empty_like(q)
        own[self._columns] = q
        self._configuration.update(own)
        self._posture.set_target(own)

    def step(self, targets: list[pin.SE3]) -> bool:
        for task, target in zip(self._frames, targets, strict=True):
            task.set_target(target)
        try:
            v = pink.solve_ik(
                self._configuration,
                self._tasks,
                self._dt,
                solver="daqp",
                damping=_DAMPING,
                limits=self._limits,
                barriers=self._barriers,
                safety_break=False,
            )
        except NoSolutionFound:
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


def make_solver(problem: Problem, variant: str) -> PinkSolver:
    """Make a solver."""
    return PinkSolver(problem, variant, len(problem.pairs))
