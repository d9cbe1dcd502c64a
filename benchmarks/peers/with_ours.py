"""This product by its public API: the IK of all limbs, then the gate."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from benchmarks.peers.problem import Problem
from paprle import Gate, GateConfig, IkConfig, IkSolver, RobotModel
from paprle.kinematics import LimbsSolver
from paprle.settings import LimbSettings, LimitSettings, RobotSettings

VERSIONS = {name: version(name) for name in ("paprle", "numpy", "numba")}
_AHEAD = 0.3  # [rad] that of a session


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
    """One robot; the IK starts from its own last answer, as in a session."""

    def __init__(self, problem: Problem, variant: str) -> None:
        self._robot = load_model(problem)
        self._dt = problem.dt
        self._limbs = list(self._robot.limbs.values())
        config, ik_config = GateConfig(), IkConfig()
        margin = config.position_margin if variant != "cold" else 0.0
        self._ik = IkSolver(self._limbs[0], ik_config, position_margin=margin)
        self._all = LimbsSolver(self._limbs, ik_config, position_margin=margin)
        self._reach = np.full(len(self._limbs), ik_config.max_step)
        # of the bare description the gate limits joints alone
        kept = self._robot if variant == "with" else self._robot.info
        self._gate = Gate(kept, config)
        self.n_pairs = self._robot.n_collision_pairs if variant == "with" else 0
        self._T_base_root = find_bases(problem)
        self.reset(self._robot.home)

    def prepare(self, T: np.ndarray) -> Any:
        """One pose for the solver of one limb, arrays for that of several."""
        bases = self._T_base_root
        poses = [b * pin.SE3(pose) for b, pose in zip(bases, T, strict=True)]
        if len(poses) == 1:
            return poses[0]
        R = np.array([pose.rotation for pose in poses])
        return R, np.array([pose.translation for pose in poses])

    def reset(self, q: np.ndarray) -> None:
        self._gate.reset(q)
        self._q = q.copy()

    def step(self, targets: Any) -> bool:
        q = self._seed()
        if len(self._limbs) == 1:
            q = self._ik.solve(targets, q).q  # all of its joints are the robot's
        else:
            self._all.solve(*targets, q, self._reach)
        dq = (q - self._q) / self._dt
        self._q = q
        self._gate.step(q, self._dt, dq_des=dq)
        return True

    def _seed(self) -> np.ndarray:
        """The last answer, no farther ahead of the arm than in a session."""
        q = self._q.copy()
        ahead = q - self._gate.q_cmd
        if np.abs(ahead).max() > _AHEAD:
            for limb in self._limbs:
                part = limb.take(ahead)
                share = min(1.0, _AHEAD / max(float(np.abs(part).max()), _AHEAD))
                q[limb.indices] -= (1.0 - share) * part
        return q

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        return self._gate.q_cmd, self._q

    def search(self, T: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, int]:
        """One call; it restarts by itself."""
        return self._ik.solve_global(self.prepare(T), starts[0]).q, 1


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
