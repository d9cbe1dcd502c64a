"""Inverse kinematics of one limb."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.errors import CommandError
from paprle.contracts.settings.core import IkSettings
from paprle.contracts.types import Vec
from paprle.contracts.validation.check import check_made
from paprle.kinematics.branch_switch import solve_timed
from paprle.kinematics.global_ik import N_EVALUATIONS, make_spread, search
from paprle.kinematics.task import MOBILITY, Q_MAX, Q_MIN, pack, unpack
from paprle.robot.chain import Limb

IkConfig = IkSettings

_LEAST_REACH = 1e-12  # [rad] chosen: no way at all, as a positive number


class IkSolution(NamedTuple):
    """Result of one solve.

    Attributes:
        q: (n_l,), [rad]; ``q_start`` itself if none is better.
        err_pos: [m]; NaN if unusable.
        err_rot: Of the eef, or its free axis, [rad].
    """

    q: Vec
    is_converged: bool
    err_pos: float
    err_rot: float
    n_iterations: int


def estimate_sigma_min(limb: Limb, q: Vec, settings: IkSettings | None = None) -> float:
    """Return the smallest singular value of Q^½ J W^½.

    With fewer joints than rows, position rows count.
    """
    task = unpack(pack(limb, settings or IkSettings(), 0.0))
    k = task.terms.n_first
    weights = task.weights[:k, None] * task.joints[MOBILITY]
    A = weights * limb.jacobian(q)[task.rows[:k]]
    return float(np.linalg.svd(A, compute_uv=False)[-1])


class IkSolver:
    """Finds joints for poses of one limb's eef.

    With fewer joints than the task's rows, position comes first; with joints to spare,
    a stuck arm changes posture (``branch_switch``).
    """

    def __init__(
        self,
        limb: Limb,
        settings: IkSettings | None = None,
        *,
        position_margin: float = 0.0,
    ) -> None:
        """Compile a solver with the gate's margin, [rad], or raise ConfigError."""
        self.limb = limb
        if settings is not None:
            check_made(settings, "ik")
        self.settings = settings or IkSettings()
        self.packed = pack(limb, self.settings, position_margin)
        task = unpack(self.packed)
        self.spread = make_spread(limb, task.joints[Q_MIN], task.joints[Q_MAX])
        self.solve(limb.fk(limb.home), limb.home)
        self.solve_global(limb.fk(limb.home))

    def solve(
        self,
        T_base_eef: pin.SE3,
        q_start: Vec,
        *,
        max_step: float | None = None,
        dt: float | None = None,
    ) -> IkSolution:
        """Return the best position towards a target pose: for streams of targets.

        ``q_start`` is (n_l,), [rad]; outside its limits a joint moves inwards or not at
        all. No joint changes by more than ``max_step``, [rad], or V times ``dt``, [s],
        if given.

        Raises:
            CommandError: If the start is of another shape, the target no SE3, or
                ``max_step`` or ``dt`` negative.
        """
        farthest = float(self.settings.max_step if max_step is None else max_step)
        if not farthest >= 0.0:
            raise CommandError(
                f"ik: expected max_step of 0 or more [rad], got {farthest:g}; leave it "
                "out for that of the settings"
            )
        reach = np.full(len(self.limb.dq_max), farthest)
        if dt is not None:
            if not dt >= 0.0:
                raise CommandError(
                    f"ik: expected dt of 0 or more [s], got {dt:g}; leave it out where "
                    "something else keeps V"
                )
            reach = np.minimum(reach, self.limb.dq_max * dt)
        reach = np.maximum(reach, _LEAST_REACH)
        q = self._take(q_start)
        T = as_matrix(T_base_eef)
        err_pos, err_rot, n_iterations, is_moved, is_converged = solve_timed(
            self.packed, self.spread, T, q, reach, dt is not None
        )
        q = q if is_moved or type(q_start) is not np.ndarray else q_start
        return IkSolution(q, is_converged, err_pos, err_rot, n_iterations)

    def solve_global(
        self, T_base_eef: pin.SE3, q_start: Vec | None = None
    ) -> IkSolution:
        """Return a position for a pose from afar, for slow moves; jumps branches.

        It is the solution nearest to ``q_start`` (home if None) among the first found,
        or the closest position.

        Raises:
            CommandError: If the start is of another shape, or the target no SE3.
        """
        start = self.limb.home if q_start is None else q_start
        q = self._take(start)
        T = as_matrix(T_base_eef)
        err_pos, err_rot, n_tried, is_moved, is_converged = search(
            self.packed, self.spread, T, q, N_EVALUATIONS
        )
        q = q if is_moved or type(start) is not np.ndarray else start
        return IkSolution(q, is_converged, err_pos, err_rot, n_tried)

    def _take(self, q_start: Vec) -> Vec:
        return self.limb.as_vector(q_start).copy()


def as_matrix(T_base_eef: pin.SE3) -> Vec:
    """Return a target as a matrix, (4, 4)."""
    try:
        return np.ascontiguousarray(T_base_eef.homogeneous)
    except AttributeError:
        raise CommandError(
            f"ik: expected a target of type pinocchio.SE3, got "
            f"{type(T_base_eef).__name__}; make one of a matrix with pinocchio.SE3(T)"
        ) from None
