"""This product: a session's IK, then the gate."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import numpy as np
import pinocchio as pin

from benchmarks.peers.problem import Problem
from paprle import Gate, GateConfig, IkConfig, IkSolver, RobotModel
from paprle.contracts.settings.core import LimbSettings, RobotSettings
from paprle.contracts.settings.limits import LimitSettings
from paprle.kinematics.robot_solver import LimbSolver

VERSIONS = {name: version(name) for name in ("paprle", "numpy", "numba")}


def load_model(problem: Problem) -> RobotModel:
    """Load the robot from the common URDF."""
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
    """One robot; all limbs in one call."""

    def __init__(self, problem: Problem, variant: str) -> None:
        self._robot = load_model(problem)
        self._dt = problem.dt
        limbs = list(self._robot.limbs.values())
        config, ik_config = GateConfig(), IkConfig()
        self._limbs = LimbSolver(self._robot, ik_config, config.position_margin)
        self._is_asked = np.ones(len(limbs), dtype=np.bool_)
        self._anywhere = np.full(len(self._robot.joint_names), np.nan)
        self._first = IkSolver(limbs[0], ik_config)
        # of the bare description the gate limits joints alone
        kept = self._robot if variant == "with" else self._robot.info
        self._gate = Gate(kept, config, h=problem.dt)
        self.n_pairs = self._robot.n_collision_pairs if variant == "with" else 0
        self._T_base_root = find_bases(problem)
        self.reset(self._robot.home)

    def prepare(self, T: np.ndarray) -> np.ndarray:
        return np.array(
            [b @ pose for b, pose in zip(self._T_base_root, T, strict=True)]
        )

    def reset(self, q: np.ndarray) -> None:
        self._gate.reset(q)
        self._q = q.copy()

    def step(self, targets: np.ndarray) -> bool:
        q, _, _ = self._limbs.solve(
            targets,
            self._is_asked,
            self._anywhere,
            self._q,
            self._gate.q_cmd,
            self._dt,
        )
        self._q = q
        self._gate.step(q, self._dt)
        return True

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        return self._gate.q_cmd, self._q

    def search(self, T: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, int]:
        """Solve in one call, with its own restarts."""
        target = pin.SE3(self.prepare(T)[0])
        return self._first.solve_global(target, starts[0]).q, 1


def find_bases(problem: Problem) -> list[np.ndarray]:
    """Return the fixed T_base_root of each limb."""
    model = pin.buildModelFromUrdf(problem.urdf_pin)
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    names = [limb.base_link for limb in problem.limbs]
    places = [data.oMf[model.getFrameId(name)] for name in names]
    return [place.inverse().homogeneous for place in places]


def make_solver(problem: Problem, variant: str) -> OurSolver:
    """Make a solver."""
    return OurSolver(problem, variant)
