"""This product by its public API: ``IkSolver`` for each limb, then ``Gate``."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import numpy as np
import pinocchio as pin

from benchmarks.peers.problem import Problem
from paprle import Gate, GateConfig, IkConfig, IkSolver, RobotModel
from paprle.settings import LimbSettings, LimitSettings, RobotSettings

VERSIONS = {name: version(name) for name in ("paprle", "numpy", "numba")}


def load_model(problem: Problem) -> RobotModel:
    """Load the robot from the URDF that everybody gets."""
    home = dict(zip(problem.joint_names, problem.home, strict=True))
    limbs = {
        limb.name: LimbSettings(
            base_link=limb.base_link,
            eef_link=limb.eef_link,
            joints=tuple(limb.joints),
            home=tuple(home[joint] for joint in limb.joints),
        )
        for limb in problem.limbs
    }
    limits = LimitSettings(velocity_scale=1.0, ddq_max=max(problem.ddq_max))
    ignored = tuple((a, b) for a, b in problem.ignored)
    settings = RobotSettings(
        urdf=problem.urdf, limbs=limbs, limits=limits, ignore_collisions=ignored
    )
    return RobotModel.from_settings(settings, problem.name, Path())


class OurSolver:
    """One robot: IK warm-started from its own last answer, as in a session."""

    def __init__(self, problem: Problem, variant: str) -> None:
        self._robot = load_model(problem)
        self._dt = problem.dt
        self._limbs = list(self._robot.limbs.values())
        config = GateConfig()
        margin = config.position_margin if variant != "cold" else 0.0
        self._iks = [
            IkSolver(limb, IkConfig(), position_margin=margin) for limb in self._limbs
        ]
        self._gate = Gate(self._robot, config)
        self.n_pairs = self._robot.n_collision_pairs if variant == "with" else 0
        self._T_base_root = find_bases(problem)
        self.reset(self._robot.home)

    def prepare(self, T: np.ndarray) -> list[pin.SE3]:
        bases = self._T_base_root
        return [b * pin.SE3(pose) for b, pose in zip(bases, T, strict=True)]

    def reset(self, q: np.ndarray) -> None:
        self._gate.reset(q)
        self._q = q.copy()
        self._q_limbs = [limb.take(q) for limb in self._limbs]

    def step(self, targets: list[pin.SE3]) -> bool:
        q = self._q.copy()
        for k, target in enumerate(targets):
            found = self._iks[k].solve(target, self._q_limbs[k]).q
            self._q_limbs[k] = q[self._limbs[k].indices] = found
        dq = (q - self._q) / self._dt
        self._q = q
        self._gate.step(q, self._dt, dq_des=dq)
        return True

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        return self._gate.q_cmd, self._q

    def search(self, T: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, int]:
        """One call; it restarts by itself."""
        target = self.prepare(T)[0]
        return self._iks[0].solve_global(target, starts[0]).q, 1


def find_bases(problem: Problem) -> list[pin.SE3]:
    """T_base_root of each limb; bases stand still."""
    model = pin.buildModelFromUrdf(problem.urdf_pin)
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    names = [limb.base_link for limb in problem.limbs]
    return [data.oMf[model.getFrameId(name)].inverse() for name in names]


def make_solver(problem: Problem, variant: str) -> OurSolver:
    """Make a solver."""
    return OurSolver(problem, variant)
