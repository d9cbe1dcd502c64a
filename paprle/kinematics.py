"""Inverse kinematics of one limb: weighted damped least squares, limits inside.

Each iteration solves

    Δq = W Jᵀ (J W Jᵀ + λ² Q⁻¹)⁻¹ e,        λ² = λ₀² (1 − σ/ε)² where σ < ε, else 0,

with joint mobilities W, task weights Q = diag(I, r² I), body Jacobian J and σ the
smallest singular value of Q^½ J W^½ (``design.md`` 6.2; PAPRLE's Eq. 6 as printed has
no effect, ``requirements.md`` 5.4). The error e is the position error in the axes of
the eef over the rotation vector log₃(Rᵀ R_target). Against log₆ this keeps metres
apart from radians where a target cannot be reached (the nearest point stays the
nearest point whatever the rotation lacks), is as exact to first order, and cheaper.

A joint that would leave its limits is set onto its limit and the rest is solved again.
A step is taken only if it lowers the weighted error, so that a target that cannot be
reached is approached, never circled. It tracks; it does not search: there are no
restarts, no other branch is ever looked for, and it never raises.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.robot_chain import Limb
from paprle.settings import IkSettings
from paprle.types import Vec

IkConfig = IkSettings

_FULL_TASK = 6
_LARGEST_ITERATION = 0.5  # [rad] chosen: farther the linearisation means little
_POSTURE_GAIN = 0.05  # [1] chosen: share of the way home in one solve
_POSTURE_SHARE = 0.2  # [1] chosen: of the main motion, so that it rests when that does
_CURVATURE = 1.0  # [m/rad²] chosen: reach of an arm; what a step aside may cost
_LEAST_PROGRESS = 0.98  # [1] chosen: of the squared error; slower is as good as arrived
_LEAST_STEP = 1e-11  # [rad] chosen: far below any encoder
_N_BACKTRACKS = 3  # chosen: 1/64 of the step; if that is no better, nothing is
_FARTHEST = 1e6  # [m] chosen: a target beyond is no measurement


@dataclass(frozen=True, slots=True, kw_only=True)
class IkSolution:
    """Result of one solve.

    Attributes:
        q: Joint positions, shape (n_l,), [rad]; ``q_start`` itself where that is as
            good as asked.
        is_converged: Both errors are within the tolerances.
        err_pos: Distance of the eef from its target, [m]; NaN for an unusable target.
        err_rot: Angle of the eef from its target, [rad].
        n_iterations: Linear problems solved.
    """

    q: Vec
    is_converged: bool
    err_pos: float
    err_rot: float
    n_iterations: int


class DampedStep(NamedTuple):
    """Solution y of min ‖A y − b‖² + λ²‖y‖², and what it leaves free.

    Attributes:
        y: Shape (k,).
        projector: Onto the null space of A, shape (k, k).
        damping: λ/λ₀, from 0 to 1.
    """

    y: Vec
    projector: Vec
    damping: float


class _Point(NamedTuple):
    """A joint position with its linearisation."""

    q: Vec
    e: Vec
    J: Vec
    err_pos: float
    err_rot: float


def damped_step(A: Vec, b: Vec, n_free: int, settings: IkSettings) -> DampedStep:
    """Solve one damped least-squares problem.

    Args:
        A: Weighted Jacobian Q^½ J W^½, shape (m, k); columns of fixed joints are zero.
        b: Weighted error Q^½ e, shape (m,).
        n_free: Number of columns that are not zero.
        settings: Gives λ₀ and ε.

    Returns:
        The step in weighted joints, Δq = W^½ y.
    """
    rank = min(A.shape[0], n_free)
    s2, V = np.linalg.eigh(A @ A.T)
    s2, V = s2[-rank:], V[:, -rank:]
    sigma = math.sqrt(max(float(s2[0]), 0.0))
    damping = max(0.0, 1.0 - sigma / settings.sigma_min)
    B = V.T @ A
    scale = 1.0 / np.maximum(s2 + (settings.damping * damping) ** 2, 1e-24)
    y = ((b @ V) * scale) @ B
    projector = np.eye(A.shape[1]) - (B.T / np.maximum(s2, 1e-24)) @ B
    return DampedStep(y, projector, damping)


def estimate_sigma_min(
    limb: Limb, q: Vec, settings: IkSettings | None = None
) -> float:
    """Return how far a limb is from a singularity.

    Args:
        limb: The limb.
        q: Joint positions, shape (n_l,), [rad].
        settings: Gives the weights.

    Returns:
        Smallest singular value of Q^½ J W^½; of its position rows alone for a limb
        with fewer than six joints. Damping sets in below ``IkSettings.sigma_min``.
    """
    solver = IkSolver(limb, settings or IkSettings())
    A = solver.weigh(limb.jacobian(q))[: solver.n_rows]
    return float(np.linalg.svd(A, compute_uv=False)[-1])


class IkSolver:
    """Tracks poses of one limb's eef; not for two threads at once.

    With six joints or more position and rotation are one task; joints beyond six lean
    towards home in the null space, in proportion to the main motion. With fewer than
    six joints position comes first and rotation gets what that leaves.

    Attributes:
        limb: The limb.
        settings: Settings.
        n_rows: Rows of the first task: 6, or 3 where it is position alone.
    """

    def __init__(
        self,
        limb: Limb,
        settings: IkSettings | None = None,
        *,
        position_margin: float = 0.0,
    ) -> None:
        """Prepare a solver.

        Args:
            limb: The limb.
            settings: Settings.
            position_margin: Kept from position limits, [rad]; the gate's own, so that
                nothing is asked that the gate would clip.
        """
        self.limb = limb
        self.settings = settings or IkSettings()
        r = self.settings.rotation_weight
        mobility = [self.settings.mobility.get(j, 1.0) for j in limb.joint_names]
        self._sqrt_w: Vec = np.sqrt(np.array(mobility))
        self._sqrt_Q: Vec = np.array([1.0, 1.0, 1.0, r, r, r])
        self._weights: Vec = self._sqrt_Q[:, None] * self._sqrt_w
        self._merit = self._sqrt_Q.copy()
        self.n_rows = _FULL_TASK
        if len(mobility) < _FULL_TASK or r == 0.0:
            self.n_rows = 3
            self._merit[3:] = 0.0
        margin = np.minimum(position_margin, (limb.q_max - limb.q_min) / 2.0)
        self._q_min: Vec = limb.q_min + margin
        self._q_max: Vec = limb.q_max - margin

    def weigh(self, J: Vec) -> Vec:
        """Return Q^½ J W^½, shape (6, n_l)."""
        return self._weights * J

    def solve(
        self, T_base_eef: pin.SE3, q_start: Vec, *, max_step: float | None = None
    ) -> IkSolution:
        """Move from a joint position towards a target pose.

        Args:
            T_base_eef: Target pose of the eef in the limb's base.
            q_start: Where to start, shape (n_l,), [rad].
            max_step: Largest change of any joint, [rad]; the settings' when absent.
                A longer way is cut off there, its direction kept.

        Returns:
            The best position found; ``q_start`` itself where it already meets the
            tolerances, or where target or start are unusable.
        """
        reach = self.settings.max_step if max_step is None else max_step
        R_d, p_d = T_base_eef.rotation, T_base_eef.translation
        point = None
        if _is_usable(R_d, p_d, q_start):
            point = self._linearise(q_start, R_d, p_d)
        if point is None or not math.isfinite(point.err_pos + point.err_rot):
            return _unusable(q_start)
        n_iterations = 0
        while n_iterations < self.settings.max_iterations and not self._is_met(point):
            first = n_iterations == 0
            step, aside = self._compute_step(point, min(reach, _LARGEST_ITERATION), first)
            n_iterations += 1
            trial = self._advance(point, (step, aside), (q_start, reach), (R_d, p_d))
            if trial is None:
                break
            is_slow = self._cost(trial) > _LEAST_PROGRESS * self._cost(point)
            point = trial
            if (is_slow and aside < _LEAST_STEP) or _is_at(point.q, q_start, reach):
                break
        return IkSolution(
            q=point.q,
            is_converged=self._is_met(point),
            err_pos=point.err_pos,
            err_rot=point.err_rot,
            n_iterations=n_iterations,
        )

    def _is_met(self, point: _Point) -> bool:
        """Tell whether the tolerances are met."""
        s = self.settings
        is_turned = point.err_rot <= s.tol_rot or s.rotation_weight == 0.0
        return point.err_pos <= s.tol_pos and is_turned

    def _cost(self, point: _Point) -> float:
        """Return the squared weighted error of the first task."""
        b = self._merit * point.e
        return float(b @ b)

    def _linearise(self, q: Vec, R_d: Vec, p_d: Vec) -> _Point:
        """Compute error and Jacobian at q."""
        model, data, frame = self.limb.model, self.limb.data, self.limb.frame_id
        pin.computeJointJacobians(model, data, q)
        T = pin.updateFramePlacement(model, data, frame)
        J = pin.getFrameJacobian(model, data, frame, pin.LOCAL)
        R_t = T.rotation.T
        e = np.empty(6)
        e[:3] = R_t @ (p_d - T.translation)
        e[3:] = pin.log3(R_t @ R_d)
        p, r = e[:3], e[3:]
        return _Point(q, e, J, math.sqrt(p @ p), math.sqrt(r @ r))

    def _compute_step(
        self, point: _Point, radius: float, first: bool
    ) -> tuple[Vec, float]:
        """Return Δq within limits and radius, and how much of it is no main task."""
        A, b = self.weigh(point.J), self._sqrt_Q * point.e
        lower = np.minimum(self._q_min - point.q, 0.0)
        upper = np.maximum(self._q_max - point.q, 0.0)
        step, aside = self._solve_free(A, b, point.q, first)
        largest = float(np.abs(step).max())
        if largest > radius:
            b, step, aside = (b * (radius / largest), step * (radius / largest), aside)
        fixed = np.zeros(len(step))
        is_free = self._sqrt_w > 0.0
        while True:
            over = np.maximum(step - upper, lower - step)
            worst = int(over.argmax())
            if over[worst] <= 0.0:
                break
            fixed[worst] = upper[worst] if step[worst] > 0.0 else lower[worst]
            is_free[worst] = False
            if not is_free.any():
                return fixed, aside
            rest, aside = self._solve_free(
                A * is_free, b - self._sqrt_Q * (point.J @ fixed), point.q, first
            )
            step = np.where(is_free, rest, fixed)
        largest = float(np.abs(step).max())
        return (step if largest <= radius else step * (radius / largest)), aside

    def _solve_free(
        self, A: Vec, b: Vec, q: Vec, first: bool
    ) -> tuple[Vec, float]:
        """Solve the tasks over the columns of A that are not zero."""
        n_free = int(A.any(axis=0).sum()) or 1
        main = damped_step(A[: self.n_rows], b[: self.n_rows], n_free, self.settings)
        y, z = main.y, None
        if self.n_rows < _FULL_TASK and n_free > self.n_rows:
            A2 = A[self.n_rows :] @ main.projector
            b2 = b[self.n_rows :] - A[self.n_rows :] @ y
            z = damped_step(A2, b2, n_free - self.n_rows, self.settings).y
        elif first and n_free > self.n_rows:
            z = self._lean(main, q)
        if z is None:
            return self._sqrt_w * y, 0.0
        return self._sqrt_w * (y + z), math.sqrt(z @ z)

    def _lean(self, main: DampedStep, q: Vec) -> Vec:
        """Return a step home in the null space, small against the main one."""
        z = main.projector @ (self._sqrt_w * (self.limb.home - q))
        size, allowed = math.sqrt(z @ z), math.sqrt(main.y @ main.y) * _POSTURE_SHARE
        gain = min(_POSTURE_GAIN, allowed / size) if size > 0.0 else 0.0
        return z * (gain * (1.0 - main.damping))

    def _advance(
        self,
        point: _Point,
        step: tuple[Vec, float],
        bound: tuple[Vec, float],
        target: tuple[Vec, Vec],
    ) -> _Point | None:
        """Take the step, or the part of it that lowers the error; None if none does."""
        dq, aside = step
        q_start, reach = bound
        q_min = np.minimum(self._q_min, point.q)
        q_max = np.maximum(self._q_max, point.q)
        for _ in range(_N_BACKTRACKS + 1):
            if np.abs(dq).max() < _LEAST_STEP:
                return None
            q = np.minimum(np.maximum(point.q + dq, q_min), q_max)
            trial = self._linearise(_within(q, q_start, reach), *target)
            allowed = math.sqrt(self._cost(point)) + _CURVATURE * aside * aside
            if self._cost(trial) < allowed * allowed:
                return trial
            dq, aside = dq * 0.25, aside * 0.25
        return None


def _is_usable(R: Vec, p: Vec, q_start: Vec) -> bool:
    """Tell whether a target is a pose, and the start a number; NaN fails each test."""
    is_rotation = abs(float(np.vdot(R, R)) - 3.0) < 1e-6  # chosen: beyond rounding
    is_near = float(np.abs(p).max()) < _FARTHEST
    return is_rotation and is_near and bool(np.isfinite(q_start).all())


def _unusable(q_start: Vec) -> IkSolution:
    """Return the start as it is."""
    return IkSolution(
        q=q_start, is_converged=False, err_pos=math.nan, err_rot=math.nan, n_iterations=0
    )


def _within(q: Vec, q_start: Vec, reach: float) -> Vec:
    """Return q, or the point on the way to it that is within reach of q_start."""
    way = q - q_start
    largest = float(np.abs(way).max())
    return q if largest <= reach else q_start + way * (reach / largest)


def _is_at(q: Vec, q_start: Vec, reach: float) -> bool:
    """Tell whether q has come as far as it may."""
    return bool(np.abs(q - q_start).max() >= reach * (1.0 - 1e-9))
