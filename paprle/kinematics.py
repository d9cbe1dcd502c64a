"""Inverse kinematics of one limb: weighted damped least squares, limits inside.

Each iteration solves

    Δq = W Jᵀ (J W Jᵀ + λ² Q⁻¹)⁻¹ e

with joint mobilities W, task weights Q = diag(I, r² I) and the body Jacobian J
(``design.md`` 6.2; PAPRLE's Eq. 6 as printed has no effect, ``requirements.md`` 5.4).

Damping: λ² = λ₀² (1 − σ/ε)² · ‖Q^½ e‖ / 25 mm where σ, the smallest singular value of
Q^½ J W^½, is below ε, else 0: continuous. It fades with the error, so that the last
micrometres converge as fast at a singularity as anywhere (targets within 0.1 rad: over
99 % converge, against 70 % without that factor), and it grows with it as does the
curvature that Gauss-Newton leaves out: a straight elbow that is pulled at does not
overshoot into its other branch.

Error: e is the position error in the axes of the eef over the rotation vector
log₃(Rᵀ R_target). Against log₆ this keeps metres apart from radians where a target
cannot be reached (the nearest point stays the nearest whatever the rotation lacks), is
exact to the same order, and cheaper.

A joint that would leave its limits is set onto its limit and the rest is solved again.
A step is taken only if it lowers the weighted error, so that a target out of reach is
approached, never circled. This tracks; it does not search: no restarts, no other
branch is ever looked for, and it never raises.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.robot.chain import Limb
from paprle.settings import IkSettings
from paprle.types import Vec

IkConfig = IkSettings

_FULL_TASK = 6
_LARGEST_ITERATION = 0.5  # [rad] chosen: farther, the linearisation means little
_COARSE_ERROR = 0.025  # [m] measured: of 1 … 100 mm the best in converging, recovering
_POSTURE_GAIN = 0.05  # [1] chosen: share of the way home in one solve
_POSTURE_SHARE = 0.2  # [1] chosen: of the main motion, so that it rests when that does
_CURVATURE = 1.0  # [m/rad²] chosen: reach of an arm; what a step aside may cost
_LEAST_ASIDE = 1e-3  # [rad] chosen: the rest waits for the next solve
_LEAST_PROGRESS = 0.98  # [1] chosen: of the squared error; slower is as good as arrived
_LEAST_STEP = 1e-11  # [rad] chosen: far below any encoder
_N_BACKTRACKS = 3  # chosen: 1/64 of the step; if that is no better, nothing is
_N_SEEDS = 20  # chosen: together 10 ms where there is no solution
_N_ROUNDS = 5  # chosen: of max_iterations each; what needs more is stuck
_FARTHEST = 1e6  # [m] chosen: a target beyond is no measurement
_ROTATION_ERROR = 1e-6  # [1] chosen: of ‖R‖²; far beyond rounding
_TINY = 1e-24  # [1] chosen: below the rounding of any squared singular value


@dataclass(frozen=True, slots=True, kw_only=True)
class IkSolution:
    """Result of one solve.

    Attributes:
        q: Joint positions, shape (n_l,), [rad]; the very ``q_start`` where that is as
            good as asked, or nothing better was found.
        is_converged: Both errors are within the tolerances.
        err_pos: Distance of the eef from its target, [m]; NaN for an unusable target.
        err_rot: Angle of the eef from its target, [rad].
        n_iterations: Steps computed.
    """

    q: Vec
    is_converged: bool
    err_pos: float
    err_rot: float
    n_iterations: int


class DampedStep(NamedTuple):
    """Solution of min ‖A y − b‖² + λ²‖y‖², and what it leaves free.

    Attributes:
        y: Shape (k,).
        damping: 1 − σ/ε, from 0 to 1.
        lambda2: λ².
        rows: Orthogonal rows that span those of A, shape (rank, k).
        s2: Their squared lengths: the squared singular values of A.
    """

    y: Vec
    damping: float
    lambda2: float
    rows: Vec
    s2: Vec

    def project(self, X: Vec) -> Vec:
        """Return the rows of X, shape (…, k), without what A can see of them."""
        return X - ((X @ self.rows.T) / self.s2) @ self.rows


class _Problem(NamedTuple):
    """Target, start, and how far from the start a joint may come."""

    R: Vec
    p: Vec
    q_start: Vec
    reach: float


class _Point(NamedTuple):
    """A joint position with its linearisation."""

    q: Vec
    e: Vec
    J: Vec
    err_pos: float
    err_rot: float
    cost: float


def solve_damped(A: Vec, b: Vec, n_free: int, settings: IkSettings) -> DampedStep:
    """Solve one damped least-squares problem.

    Args:
        A: Weighted Jacobian Q^½ J W^½, shape (m, k); columns of fixed joints are zero.
        b: Weighted error Q^½ e, shape (m,).
        n_free: Number of the other columns.
        settings: Gives λ₀ and ε.

    Returns:
        The step in weighted joints, Δq = W^½ y.
    """
    rank = min(A.shape[0], n_free)
    s2, V = np.linalg.eigh(A @ A.T)
    s2, V = np.maximum(s2[-rank:], _TINY), V[:, -rank:]
    damping = max(0.0, 1.0 - math.sqrt(s2[0]) / settings.sigma_min)
    rows = V.T @ A
    lambda2 = 0.0
    if damping > 0.0:
        coarseness = math.sqrt(b @ b) / _COARSE_ERROR
        lambda2 = coarseness * (settings.damping * damping) ** 2
    y = ((b @ V) / (s2 + lambda2)) @ rows
    return DampedStep(y, damping, lambda2, rows, s2)


def estimate_sigma_min(limb: Limb, q: Vec, settings: IkSettings | None = None) -> float:
    """Return how far a limb is from a singularity.

    Args:
        limb: The limb.
        q: Joint positions, shape (n_l,), [rad].
        settings: Gives the weights.

    Returns:
        Smallest singular value of Q^½ J W^½; of its position rows alone for a limb
        with fewer than six joints. Damping sets in below ``IkSettings.sigma_min``.
    """
    solver = IkSolver(limb, settings)
    A = solver.weigh(limb.jacobian(q))[: solver.n_rows]
    return float(np.linalg.svd(A, compute_uv=False)[-1])


class IkSolver:
    """Tracks poses of one limb's eef; not for two threads at once.

    With six joints or more, position and rotation are one task, and what that leaves
    free leans towards home, in proportion to the main motion: the null space of more
    than six joints, and a singular direction as far as it is damped. With fewer than
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
            position_margin: Kept from position limits, [rad]: the gate's own, so that
                nothing is asked that the gate would clip.
        """
        self.limb = limb
        self.settings = settings or IkSettings()
        r = self.settings.rotation_weight
        mobility = [self.settings.mobility.get(j, 1.0) for j in limb.joint_names]
        is_full = len(mobility) >= _FULL_TASK and r > 0.0
        self.n_rows = _FULL_TASK if is_full else 3
        self._has_second_task = len(mobility) < _FULL_TASK and r > 0.0
        self._sqrt_w: Vec = np.sqrt(np.array(mobility))
        self._is_free = self._sqrt_w > 0.0
        self._n_free = int(np.count_nonzero(self._is_free))
        self._sqrt_Q: Vec = np.array([1.0, 1.0, 1.0, r, r, r])
        self._weights: Vec = self._sqrt_Q[:, None] * self._sqrt_w
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
            q_start: Where to start, shape (n_l,), [rad]; outside of its limits a joint
                moves inwards or not at all.
            max_step: Largest change of any joint, [rad]; the settings' when absent. A
                longer way is cut off there, its direction kept.

        Returns:
            The best position found; the very ``q_start`` where it already meets the
            tolerances, or where target or start are unusable.
        """
        reach = self.settings.max_step if max_step is None else max_step
        problem = _Problem(T_base_eef.rotation, T_base_eef.translation, q_start, reach)
        if not _is_usable(problem):
            return IkSolution(
                q=q_start,
                is_converged=False,
                err_pos=math.nan,
                err_rot=math.nan,
                n_iterations=0,
            )
        point = self._linearise(q_start, problem)
        point, n_iterations = self._iterate(point, problem)
        return IkSolution(
            q=point.q,
            is_converged=self._is_met(point),
            err_pos=point.err_pos,
            err_rot=point.err_rot,
            n_iterations=n_iterations,
        )

    def search(self, T_base_eef: pin.SE3, q_start: Vec) -> IkSolution:
        """Look for a pose from afar, for slow moves; jumps between branches.

        Args:
            T_base_eef: Target pose of the eef in the limb's base.
            q_start: Where to look first, shape (n_l,), [rad]; then from home, then
                from positions spread over the limits, the same ones in each call.

        Returns:
            The first position that converged, else the one with the smallest error.
        """
        spread = np.random.default_rng(0)
        low, high = np.maximum(self._q_min, -math.pi), np.minimum(self._q_max, math.pi)
        best = self.solve(T_base_eef, q_start)
        for attempt in range(_N_SEEDS):
            q = q_start if attempt == 0 else np.clip(self.limb.home, low, high)
            if attempt > 1:
                q = spread.uniform(low, high)
            for _ in range(_N_ROUNDS):
                found = self.solve(T_base_eef, q, max_step=math.inf)
                q, is_stuck = found.q, found.q is q
                if found.is_converged or is_stuck:
                    break
            if self._score(found) < self._score(best):
                best = found
            if best.is_converged or math.isnan(best.err_pos):
                break
        return best

    def _score(self, found: IkSolution) -> float:
        return found.err_pos + self.settings.rotation_weight * found.err_rot

    def _iterate(self, point: _Point, problem: _Problem) -> tuple[_Point, int]:
        """Step until the target is met, or no further step is worth it."""
        radius = min(problem.reach, _LARGEST_ITERATION)
        for n_iterations in range(self.settings.max_iterations):
            if self._is_met(point):
                return point, n_iterations
            step, aside = self._compute_step(point, radius, n_iterations == 0)
            trial = self._advance(point, step, aside, problem)
            if trial is None:
                return point, n_iterations + 1
            is_slow = trial.cost > _LEAST_PROGRESS * point.cost
            is_there = aside > 0.0 and trial.err_pos <= self.settings.tol_pos
            point = trial
            if (is_slow or is_there) and aside < _LEAST_ASIDE:
                return point, n_iterations + 1
        return point, self.settings.max_iterations

    def _is_met(self, point: _Point) -> bool:
        """Tell whether the tolerances are met."""
        s = self.settings
        is_turned = point.err_rot <= s.tol_rot or s.rotation_weight == 0.0
        return point.err_pos <= s.tol_pos and is_turned

    def _linearise(self, q: Vec, problem: _Problem) -> _Point:
        """Compute error and Jacobian at q."""
        model, data, frame = self.limb.model, self.limb.data, self.limb.frame_id
        pin.computeJointJacobians(model, data, q)
        T = pin.updateFramePlacement(model, data, frame)
        # shape (6,) comes back for a limb of one joint
        J = pin.getFrameJacobian(model, data, frame, pin.LOCAL).reshape(6, -1)
        R_t = T.rotation.T
        e = np.empty(6)
        e[:3] = d = R_t @ (problem.p - T.translation)
        e[3:] = w = pin.log3(R_t @ problem.R)
        d2, w2 = float(d @ d), float(w @ w)
        r2 = self.settings.rotation_weight**2 if self.n_rows == _FULL_TASK else 0.0
        return _Point(q, e, J, math.sqrt(d2), math.sqrt(w2), d2 + r2 * w2)

    def _compute_step(
        self, point: _Point, radius: float, is_first: bool
    ) -> tuple[Vec, float]:
        """Return Δq within limits and radius, and the size of its second task."""
        A, b = self.weigh(point.J), self._sqrt_Q * point.e
        way_home = self._sqrt_w * (self.limb.home - point.q) if is_first else None
        step, aside = self._solve_free(A, b, self._n_free, way_home)
        largest = _largest(step)
        if largest > radius:
            step, b = step * (radius / largest), b * (radius / largest)
        lower = np.minimum(self._q_min - point.q, 0.0)
        upper = np.maximum(self._q_max - point.q, 0.0)
        fixed, is_free = np.zeros(len(step)), self._is_free.copy()
        for n_free in range(self._n_free - 1, -1, -1):
            over = np.abs(step - np.minimum(np.maximum(step, lower), upper))
            worst = int(over.argmax())
            if over[worst] <= 0.0:
                break
            fixed[worst] = upper[worst] if step[worst] > 0.0 else lower[worst]
            is_free[worst] = False
            step = fixed
            if n_free > 0:
                rest = b - self._sqrt_Q * (point.J @ fixed)
                way_home = None if way_home is None else way_home * is_free
                step, aside = self._solve_free(A * is_free, rest, n_free, way_home)
                step = np.where(is_free, step, fixed)
        return step, aside

    def _solve_free(
        self, A: Vec, b: Vec, n_free: int, way_home: Vec | None
    ) -> tuple[Vec, float]:
        """Solve the tasks over the free joints, ``n_free`` columns of A."""
        m = self.n_rows
        main = solve_damped(A[:m], b[:m], n_free, self.settings)
        if n_free > m and self._has_second_task:
            A2, b2 = main.project(A[m:]), b[m:] - A[m:] @ main.y
            z = solve_damped(A2, b2, n_free - m, self.settings).y
            z = z * (1.0 - main.damping)
            return self._sqrt_w * (main.y + z), math.sqrt(z @ z)
        if way_home is None or (n_free <= m and main.damping == 0.0):
            return self._sqrt_w * main.y, 0.0
        z = way_home - ((main.rows @ way_home) / (main.s2 + main.lambda2)) @ main.rows
        size, allowed = math.sqrt(z @ z), _POSTURE_SHARE * math.sqrt(main.y @ main.y)
        gain = min(_POSTURE_GAIN, allowed / max(size, _TINY))
        return self._sqrt_w * (main.y + gain * z), 0.0

    def _advance(
        self, point: _Point, dq: Vec, aside: float, problem: _Problem
    ) -> _Point | None:
        """Take as much of the step as lowers the error; None if none of it does."""
        q_min, q_max = (
            np.minimum(self._q_min, point.q),
            np.maximum(self._q_max, point.q),
        )
        for _ in range(_N_BACKTRACKS + 1):
            q = np.minimum(np.maximum(point.q + dq, q_min), q_max)  # against rounding
            way = q - problem.q_start
            largest = _largest(way)
            if largest > problem.reach:
                q = problem.q_start + way * (problem.reach / largest)
            if _largest(q - point.q) < _LEAST_STEP:
                return None
            trial = self._linearise(q, problem)
            allowed = math.sqrt(point.cost) + _CURVATURE * aside * aside
            if trial.cost < allowed * allowed:
                return trial
            dq, aside = dq * 0.25, aside * 0.25
        return None


def _is_usable(problem: _Problem) -> bool:
    """Tell whether the target is a pose and the start finite; NaN fails each test."""
    R, p, q = problem.R, problem.p, problem.q_start
    is_rotation = abs(float(np.vdot(R, R)) - 3.0) < _ROTATION_ERROR
    return is_rotation and float(p @ p) < _FARTHEST**2 and math.isfinite(q @ q)


def _largest(x: Vec) -> float:
    """Return max |x|; over so few numbers twice as fast as NumPy's."""
    return float(max(map(abs, x.tolist())))
