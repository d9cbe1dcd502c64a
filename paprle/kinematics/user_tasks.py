"""Inverse kinematics of a whole robot with user tasks.

Each solution minimises Σ ‖W (r + J Δq)‖² + damping ‖Δq‖² within position and velocity
limits, as in pink and mink, by Gauss-Newton steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.contracts.errors import CommandError, ConfigError, suggest
from paprle.contracts.types import Vec
from paprle.kinematics.box_qp import solve_box
from paprle.robot import RobotModel

_N_STEPS = 10  # chosen: Gauss-Newton steps at most; two are usual in a stream
_LEAST_STEP = 1e-9  # [rad] chosen: a smaller step ends the iteration


class LinkKinematics:
    """Poses and Jacobians of all links at one configuration.

    An unknown link raises ConfigError.
    """

    def __init__(self, robot: RobotModel) -> None:
        self._tree = robot.make_joint_tree()
        self._data = self._tree.model.createData()
        self.update(robot.home)

    def update(self, q: Vec) -> None:
        """Compute all poses at q, (n,)."""
        self.q = q
        pin.computeJointJacobians(self._tree.model, self._data, self._tree.expand(q))

    def pose(self, link: str) -> pin.SE3:
        """Return a link's pose in the root link."""
        joint, T_joint_link = self._find(link)
        return self._data.oMi[joint] * T_joint_link

    def jacobian(self, link: str) -> Vec:
        """Return a link's Jacobian in the link, linear first, (6, n)."""
        joint, T_joint_link = self._find(link)
        model, data = self._tree.model, self._data
        J = pin.getJointJacobian(model, data, joint, pin.ReferenceFrame.LOCAL)
        J = T_joint_link.toActionMatrixInverse() @ J.reshape(6, -1)
        return self._tree.gather(J)

    def _find(self, link: str) -> tuple[int, pin.SE3]:
        if link not in self._tree.place:
            known = suggest(link, self._tree.place)
            raise ConfigError(f"task: no link is called '{link}'; {known}")
        return self._tree.place[link]


class IkTask(Protocol):
    """Any object with this method."""

    def linearise(self, links: LinkKinematics) -> tuple[npt.ArrayLike, npt.ArrayLike]:
        """Return weighted residual, (m,), and Jacobian ∂r/∂q, (m, n)."""


class FrameTask:
    """A link at the pose ``target`` in another, by default the root link."""

    def __init__(
        self,
        link: str,
        target: pin.SE3,
        *,
        relative_to: str = "",
        position_cost: float = 1.0,
        orientation_cost: float = 1.0,
    ) -> None:
        """Make a task with costs in [1/m] and [1/rad]."""
        self.target = target
        self._link, self._other = link, relative_to
        self._weights = np.repeat([position_cost, orientation_cost], 3)[:, None]

    def linearise(self, links: LinkKinematics) -> tuple[Vec, Vec]:
        """Return the weighted pose error log₆(T_target⁻¹ T) and its Jacobian."""
        T, J = links.pose(self._link), links.jacobian(self._link)
        if self._other:
            T = links.pose(self._other).actInv(T)
            J = J - T.toActionMatrixInverse() @ links.jacobian(self._other)
        error = self.target.actInv(T)
        residual = self._weights[:, 0] * pin.log6(error).vector
        return residual, self._weights * (pin.Jlog6(error) @ J)


class PostureTask:
    """Joints near a posture ``target``, (n,), [rad] or [m]."""

    def __init__(self, target: Vec, cost: float | Vec = 1e-3) -> None:
        self.target = target
        self._cost = np.broadcast_to(np.asarray(cost, float), target.shape)

    def linearise(self, links: LinkKinematics) -> tuple[Vec, Vec]:
        """Return the weighted distance from the posture and its Jacobian."""
        return self._cost * (links.q - self.target), np.diag(self._cost)


class TaskSolver:
    """Solves several tasks at once with all joints."""

    def __init__(
        self, robot: RobotModel, tasks: Sequence[IkTask], *, damping: float = 1e-6
    ) -> None:
        """Compile a solver; raise ConfigError for an unknown link."""
        self.links, self.tasks = LinkKinematics(robot), tasks
        self._robot, self._damping = robot, damping
        self.solve(robot.home, dt=0.0)

    def solve(self, q: npt.ArrayLike, dt: float) -> Vec:
        """Return the positions for the tasks, at most dt [s] · dq_max from q, (n,).

        A task whose residual is not finite stops all motion.

        Raises:
            CommandError: If q has another shape, or is not finite.
        """
        robot, start = self._robot, np.asarray(q, float)
        if start.shape != robot.home.shape or not np.isfinite(start).all():
            shape = robot.home.shape
            raise CommandError(f"q: expected finite values of shape {shape}, got {q!r}")
        reach = dt * robot.dq_max
        low = np.clip(robot.q_min, start - reach, start + reach)
        high = np.clip(robot.q_max, start - reach, start + reach)
        now, step = start.copy(), np.zeros_like(start)
        cost, H, g = self._linearise(now)
        for _ in range(_N_STEPS):
            if not np.isfinite(cost):
                return start
            solve_box(H, g, low - now, high - now, step)
            then = np.clip(now + step, low, high)
            cost_then, H_then, g_then = self._linearise(then)
            if cost_then > cost:  # too far for a square form: half the way at most
                low = 0.5 * (now + np.minimum(now, then))
                high = 0.5 * (now + np.maximum(now, then))
                continue
            now, cost, H, g = then, cost_then, H_then, g_then
            if np.abs(step).max() < _LEAST_STEP:
                break
        self.links.update(now)
        return now

    def _linearise(self, q: Vec) -> tuple[float, Vec, Vec]:
        self.links.update(q)
        cost, H, g = 0.0, self._damping * np.eye(q.size), np.zeros_like(q)
        for task in self.tasks:
            residual, J = (np.asarray(part) for part in task.linearise(self.links))
            cost += float(residual @ residual)
            H += J.T @ J
            g -= J.T @ residual
        return cost if np.isfinite(H).all() else np.nan, H, g
