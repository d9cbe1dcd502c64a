"""placo: one differential IK step a tick."""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
import pinocchio as pin
import placo

from benchmarks.peers.problem import Problem
from benchmarks.peers.worker import iterate

VERSIONS = {name: version(name) for name in ("placo", "pin")}
_REGULARIZATION = 1e-6  # its examples'
_SEEN = 0.1  # [m] chosen: a pair is looked at from here on; nobody moves 0.1 m a tick


class PlacoSolver:
    """One robot."""

    def __init__(self, problem: Problem, variant: str) -> None:
        flags = 0 if variant == "with" else placo.Flags.ignore_collisions
        self._robot = placo.RobotWrapper(problem.urdf_pin, flags)
        self.n_pairs = 0
        if variant == "with":
            self._set_pairs(problem)
        self._columns = 7 + problem.columns(list(self._robot.joint_names()))
        self._solver = self._robot.make_solver()
        self._solver.mask_fbase(True)
        self._solver.dt = problem.dt
        self._solver.enable_joint_limits(True)
        self._solver.enable_velocity_limits(variant != "cold")
        self._eef = problem.limbs[0].eef_link
        self._frames = []
        for limb in problem.limbs:
            task = self._solver.add_frame_task(limb.eef_link, np.eye(4))
            task.configure(limb.name, "soft", 1.0, 1.0)
            self._frames.append(task)
        self._solver.add_regularization_task(_REGULARIZATION)
        if variant == "with":
            avoid = self._solver.add_avoid_self_collisions_constraint()
            avoid.configure("apart", "hard")
            avoid.self_collisions_margin = problem.keep
            avoid.self_collisions_trigger = _SEEN

    def _set_pairs(self, problem: Problem) -> None:
        geometry = self._robot.collision_model
        ids = {g.name: k for k, g in enumerate(geometry.geometryObjects)}
        geometry.removeAllCollisionPairs()
        for a, b in problem.pairs:
            geometry.addCollisionPair(pin.CollisionPair(ids[a], ids[b]))
        self.n_pairs = len(self._robot.distances())

    def prepare(self, T: np.ndarray) -> list[np.ndarray]:
        return [np.asfortranarray(pose) for pose in T]

    def reset(self, q: np.ndarray) -> None:
        own = self._robot.state.q
        own[self._columns] = q
        self._robot.state.q = own
        self._robot.update_kinematics()

    def step(self, targets: list[np.ndarray]) -> bool:
        for task, target in zip(self._frames, targets, strict=True):
            task.T_world_frame = target
        try:
            self._solver.solve(True)
        except RuntimeError:
            return False
        self._robot.update_kinematics()
        return True

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        q = self._robot.state.q[self._columns]
        return q, q

    def search(self, T: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, int]:
        targets, R, p = self.prepare(T), T[0, :3, :3], T[0, :3, 3]

        def error() -> tuple[float, float]:
            reached = self._robot.get_T_world_frame(self._eef)
            w = pin.log3(reached[:3, :3].T @ R)
            return np.linalg.norm(reached[:3, 3] - p), np.linalg.norm(w)

        return iterate(self, targets, starts, error)


def make_solver(problem: Problem, variant: str) -> PlacoSolver:
    """Make a solver."""
    return PlacoSolver(problem, variant)
