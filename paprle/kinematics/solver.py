"""The solver of one limb's inverse kinematics, as the rest of PAPRLE calls it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.config.check import check_made
from paprle.contracts.errors import CommandError
from paprle.contracts.settings.core import IkSettings
from paprle.contracts.types import Vec
from paprle.kinematics.branch_switch import solve_timed
from paprle.kinematics.global_ik import N_EVALUATIONS, make_spread, search
from paprle.kinematics.task import MOBILITY, Q_MAX, Q_MIN, pack, unpack
from paprle.robot.chain import Limb

IkConfig = IkSettings

_LEAST_REACH = 1e-12  # [rad] chosen: no way at all, as a positive number


class IkSolution(NamedTuple):
    """Result of one solve.

    Attributes:
        q: Joint positions, shape (n_l,), [rad]; the very ``q_start`` where that is as
            good as asked, or nothing better was found.
        is_converged: Both errors are within the tolerances.
        err_pos: Distance of the eef from its target, [m]; NaN for an unusable target.
        err_rot: Angle of the eef from its target, [rad]; with a free axis the angle
            between that axis and the target's.
        n_iterations: Steps computed.
    """

    q: Vec
    is_converged: bool
    err_pos: float
    err_rot: float
    n_iterations: int


def estimate_sigma_min(limb: Limb, q: Vec, settings: IkSettings | None = None) -> float:
    """Return how far a limb is from a singularity.

    Args:
        limb: The limb.
        q: Joint positions, shape (n_l,), [rad].
        settings: Gives the weights.

    Returns:
        Smallest singular value of Q^½ J W^½; of its position rows alone for a limb
        with fewer joints than its task has rows. Damping sets in below
        ``IkSettings.sigma_min``.
    """
    task = unpack(pack(limb, settings or IkSettings(), 0.0))
    k = task.terms.n_first
    weights = task.weights[:k, None] * task.joints[MOBILITY]
    A = weights * limb.jacobian(q)[task.rows[:k]]
    return float(np.linalg.svd(A, compute_uv=False)[-1])


class IkSolver:
    """Finds joints for poses of one limb's eef.

    With as many joints as the task has rows, or more, position and rotation are one
    task. What that leaves free follows the posture bias (``posture``), in proportion to
    the main motion: the null space, and a singular direction as far as it is damped.
    With fewer joints position comes first and rotation gets what that leaves. With
    joints to spare an arm that is stuck goes to another posture, with the hand in its
    place if it can (``second_start``).

    Attributes:
        limb: The limb.
        settings: Settings.
        packed: Both as kernels take them.
        spread: Where descents from afar start (``make_spread``), shape (4, n).
    """

    def __init__(
        self,
        limb: Limb,
        settings: IkSettings | None = None,
        *,
        position_margin: float = 0.0,
    ) -> None:
        """Prepare a solver, compiled: no later call has to wait for that.

        Args:
            limb: The limb.
            settings: Settings.
            position_margin: Kept from position limits, [rad]: the gate's own, so that
                nothing is asked that the gate would clip.

        Raises:
            ConfigError: If something is wrong in the settings.
        """
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
        """Move from a joint position towards a target pose: for streams of targets.

        Args:
            T_base_eef: Target pose of the eef in the limb's base.
            q_start: Where to start, shape (n_l,), [rad]; outside of its limits a joint
                moves inwards or not at all.
            max_step: Largest change of any joint, [rad]; the settings' when absent. A
                longer way is cut off there, its direction kept, or, with joints to
                spare, the hand in its place while it turns.
            dt: Time since the last call, [s]: no joint goes farther than its V allows
                in it, and together they go where that leads nearest. Without it time is
                nobody's business.

        Returns:
            The best position found; the very ``q_start`` where it already meets the
            tolerances, or where target or start are unusable.

        Raises:
            CommandError: If the start has not one position a joint, the target is no
                SE3, ``max_step`` is no step, or ``dt`` no time.
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
        """Look for a pose from afar, for slow moves; jumps between branches.

        Args:
            T_base_eef: Target pose of the eef in the limb's base.
            q_start: Where to look first, shape (n_l,), [rad]; home when absent. Then
                from positions spread over the limits, the same ones in each call.

        Returns:
            Of the first solutions found the one nearest to the start; where there is
            none, what comes closest. The very start where it meets the tolerances
            already, or where target or start are unusable.

        Raises:
            CommandError: If the start has not one position a joint, or the target is
                no SE3.
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
        """Return a copy of a start for the kernels, which trust its length."""
        return self.limb.as_vector(q_start).copy()


def as_matrix(T_base_eef: pin.SE3) -> Vec:
    """Return a target as the kernels take it, shape (4, 4)."""
    try:
        return np.ascontiguousarray(T_base_eef.homogeneous)
    except AttributeError:
        raise CommandError(
            f"ik: expected a target of type pinocchio.SE3, got "
            f"{type(T_base_eef).__name__}; make one of a matrix with pinocchio.SE3(T)"
        ) from None
