"""Upstream PAPRLE's algorithm, from its description.

``requirements.md`` 5.3: steps of a gain times Jᵀ (J Jᵀ + damping)⁻¹ e with
e = log₆(T_eef⁻¹ T_des), the damping on all 36 entries; at most 30 iterations, until
the norm, metres and radians together, is below eps. Then position limits are clipped,
colliding targets dropped, steps clipped to speed limits (0.8). Contacts are coal's,
there MuJoCo's.
"""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
import pinocchio as pin

from benchmarks.peers.problem import Problem, ProblemLimb
from benchmarks.peers.worker import TOL_POS, TOL_ROT

VERSIONS = {"pin": version("pin")}
_N_ITERATIONS = 30
_GAINS = {  # gain, damping, eps: its configuration by robot
    "papras_7dof": (0.1, 0.05, 1e-2),
    "papras_7dof_2arm": (0.1, 0.05, 1e-2),
    "g1": (0.05, 0.1, 1e-3),
}
_OTHER_GAINS = (0.05, 0.075, 1e-3)


class _LimbIk:
    def __init__(self, model: pin.Model, problem: Problem, limb: ProblemLimb) -> None:
        locked = [k for k, n in enumerate(model.names) if k and n not in limb.joints]
        self._model = pin.buildReducedModel(model, locked, pin.neutral(model))
        self._data = self._model.createData()
        self._frame = self._model.getFrameId(limb.eef_link)
        gains = _GAINS.get(problem.name.removesuffix("_capsules"), _OTHER_GAINS)
        self._gain, self._damping, self._eps = gains
        names = list(self._model.names[1:])
        self.columns = np.array([problem.joint_names.index(name) for name in names])

    def measure(self, target: pin.SE3, q: np.ndarray) -> tuple[float, float]:
        pin.forwardKinematics(self._model, self._data, q)
        T = pin.updateFramePlacement(self._model, self._data, self._frame)
        error = T.actInv(target)
        return np.linalg.norm(error.translation), np.linalg.norm(
            pin.log3(error.rotation)
        )

    def solve(self, target: pin.SE3, q: np.ndarray) -> np.ndarray:
        for _ in range(_N_ITERATIONS):
            pin.forwardKinematics(self._model, self._data, q)
            T = pin.updateFramePlacement(self._model, self._data, self._frame)
            error = pin.log6(T.actInv(target)).vector
            if np.linalg.norm(error) < self._eps:
                break
            J = pin.computeFrameJacobian(self._model, self._data, q, self._frame)
            v = J.T @ np.linalg.solve(J @ J.T + self._damping, error)
            q = pin.integrate(self._model, q, v * self._gain)
        return q


class UpstreamSolver:
    """One robot."""

    def __init__(self, problem: Problem, variant: str) -> None:
        self._model = pin.buildModelFromUrdf(problem.urdf_pin)
        self._data = self._model.createData()
        self._columns = problem.columns(list(self._model.names[1:]))
        self._limbs = [_LimbIk(self._model, problem, x) for x in problem.limbs]
        self._low, self._high = np.array(problem.q_min), np.array(problem.q_max)
        self._most = np.array(problem.dq_max) * problem.dt
        self._geometry = None
        self.n_pairs = 0
        self._own = np.empty(self._model.nq)
        if variant == "with":
            self._add_bodies(problem)
        self.reset(np.array(problem.home))

    def _add_bodies(self, problem: Problem) -> None:
        geometry = pin.buildGeomFromUrdf(self._model, problem.urdf_pin, pin.COLLISION)
        ids = {g.name: k for k, g in enumerate(geometry.geometryObjects)}
        for a, b in problem.pairs:
            geometry.addCollisionPair(pin.CollisionPair(ids[a], ids[b]))
        self._geometry, self._contacts = geometry, geometry.createData()
        self.n_pairs = len(geometry.collisionPairs)

    def prepare(self, T: np.ndarray) -> list[pin.SE3]:
        return [pin.SE3(pose) for pose in T]

    def reset(self, q: np.ndarray) -> None:
        self._q = self._q_ik = q.copy()

    def step(self, targets: list[pin.SE3]) -> bool:
        wanted = self._q.copy()
        for limb, target in zip(self._limbs, targets, strict=True):
            wanted[limb.columns] = limb.solve(target, wanted[limb.columns])
        self._q_ik = wanted
        wanted = np.clip(wanted, self._low, self._high)
        if self._geometry is not None and self._touches(wanted):
            wanted = self._q
        self._q = self._q + np.clip(wanted - self._q, -self._most, self._most)
        return True

    def _touches(self, q: np.ndarray) -> bool:
        self._own[self._columns] = q
        return pin.computeCollisions(
            self._model, self._data, self._geometry, self._contacts, self._own, True
        )

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        return self._q, self._q_ik

    def search(self, T: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, int]:
        """Run 25 ticks of IK from each start."""
        target, limb, low, high = pin.SE3(T[0]), self._limbs[0], self._low, self._high
        for n, start in enumerate(starts, start=1):
            q = start
            for _ in range(25):
                previous, q = q, np.clip(limb.solve(target, q), low, high)
                if (q == previous).all():
                    break
            err_pos, err_rot = limb.measure(target, q)
            if err_pos < TOL_POS and err_rot < TOL_ROT:
                return q, n
        return q, len(starts)


def make_solver(problem: Problem, variant: str) -> UpstreamSolver:
    """Make a solver."""
    return UpstreamSolver(problem, variant)
