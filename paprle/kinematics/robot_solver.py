"""All limbs of a robot in one compiled call."""

from __future__ import annotations

import math

import numpy as np

from paprle.compiled import compiled
from paprle.contracts.errors import CommandError
from paprle.contracts.settings.core import IkSettings
from paprle.contracts.types import Vec
from paprle.kinematics.bounded_ik import (
    DDQ_MAX,
    DQ,
    DQ_MAX,
    Q_LAST_REACHED,
    bounded_step,
)
from paprle.kinematics.newton_ik import IkResult, newton_solve
from paprle.kinematics.seed import SEED_BOUND, clamp_seed_to_command
from paprle.kinematics.task import PackedTask, pack
from paprle.robot import RobotModel
from paprle.robot.arrays import Bools, Ints

_LAST = 4
"""Row of ``LimbSolver``'s motion after ``bounded_step``'s: the last answer, [rad]."""
_LEAST_STEP = 1e-9  # [rad] chosen: no step, as a positive number


class LimbSolver:
    """Joints of a whole robot for the poses of its limbs.

    Calls continue the last answer's velocity and residual, others start from rest.
    """

    def __init__(
        self, robot: RobotModel, ik: IkSettings, position_margin: float
    ) -> None:
        limbs = tuple(robot.limbs.values())
        settings = [ik.of_limb(limb.name) for limb in limbs]
        tasks = [
            pack(limb, own, position_margin)
            for limb, own in zip(limbs, settings, strict=True)
        ]
        parts = [*zip(*tasks, strict=True), [limb.indices for limb in limbs]]
        floats, ints, slides, joints = map(np.concatenate, parts)
        self._tasks = floats, ints, slides, joints
        sizes = [[len(array) for array in arrays] for arrays in parts]
        self._ends: Ints = np.cumsum(np.array(sizes), axis=1)
        self._max_step: Vec = np.array([own.max_step for own in settings])
        self._motion: Vec = np.zeros((5, len(robot.joint_names)))
        self._motion[DQ_MAX], self._motion[DDQ_MAX] = robot.dq_max, robot.ddq_max
        self._left: Vec = np.zeros((len(limbs), 6))
        self._dt: Vec = np.zeros(len(limbs))
        self._indices = [limb.indices for limb in limbs]
        self._dq_max = robot.dq_max
        m, n = len(limbs), len(robot.joint_names)
        self._shapes = (m, 4, 4), (m,), (n,), (n,), (n,), (m,)
        self.reset()

    def reset(self) -> None:
        """Forget the last answer; the next call starts from rest."""
        self._motion[_LAST] = np.nan

    def slow(self, limb: int, share: float) -> None:
        """Limit a limb to a share of its speed limits."""
        own = self._indices[limb]
        self._motion[DQ_MAX, own] = share * self._dq_max[own]

    def solve(
        self,
        T: Vec,
        is_asked: Bools,
        wanted: Vec,
        q_prev: Vec,
        q_cmd: Vec,
        dt: float | Vec = math.inf,
    ) -> tuple[Vec, Vec, bool]:
        """Move each limb toward its pose, or to wanted joints.

        Args:
            T: T_base_eef by limb, (m, 4, 4).
            is_asked: Limbs that have one, (m,).
            wanted: (n,), [rad] or [m]; NaN: any.
            q_prev: Last answer, (n,), [rad].
            q_cmd: Command, (n,), [rad]; limbs start near it.
            dt: Since the last answer, by limb or for all, [s], bounds motion by V and
                A. Infinite, or with fewer joints than rows, ``max_step`` does.

        Returns:
            Joints, (n,); errors, [m] over [rad], (2, m), NaN if not asked; and whether
            all were reached.

        Raises:
            CommandError: If a shape is wrong.
        """
        # kernels do not look where an array ends
        if not isinstance(dt, np.ndarray):
            self._dt.fill(dt)
            dt = self._dt
        shapes = (
            T.shape,
            is_asked.shape,
            wanted.shape,
            q_prev.shape,
            q_cmd.shape,
            dt.shape,
        )
        if shapes != self._shapes:
            raise CommandError(
                f"ik: expected targets, asked, wanted, q_prev, q_cmd and dt of shapes "
                f"{self._shapes}, got {shapes}; give all limbs and all joints"
            )
        q, errors = np.empty(len(q_prev)), np.empty((2, len(T)))
        is_met = solve_limbs(
            *self._tasks,
            self._ends,
            self._max_step,
            self._motion,
            self._left,
            dt,
            T,
            is_asked,
            wanted,
            q_prev.copy(),  # a read-only array would be compiled for once more
            q_cmd.copy(),
            q,
            errors,
        )
        return q, errors, is_met


@compiled
def solve_limbs(  # noqa: PLR0913, PLR0917 - a tuple of arrays costs a microsecond
    floats: Vec,
    ints: Ints,
    slides: Bools,
    joints: Ints,
    ends: Ints,
    max_step: Vec,
    motion: Vec,
    residual: Vec,
    dt: Vec,
    T: Vec,
    is_asked: Bools,
    wanted: Vec,
    q_prev: Vec,
    q_cmd: Vec,
    q: Vec,
    errors: Vec,
) -> bool:
    """Return whether all poses of ``LimbSolver.solve`` were reached; write joints.

    ``ends``, (4, m), ends each limb's parts of ``floats``, ``ints``, ``slides`` and
    ``joints``. ``motion``, (5, n), and ``residual``, (m, 6), are updated.
    """
    are_met = True
    for j in range(len(q)):
        q[j] = wanted[j] if math.isfinite(wanted[j]) else q_prev[j]
    begin = np.zeros(4, dtype=np.int64)
    for i in range(len(is_asked)):
        end = ends[:, i]
        own = joints[begin[3] : end[3]]
        q_limb = q_prev[own]
        pulled = clamp_seed_to_command(own, q_cmd, q_limb)
        errors[0, i], errors[1, i], is_moved = math.nan, math.nan, False
        if is_asked[i]:
            task = PackedTask(
                floats[begin[0] : end[0]],
                ints[begin[1] : end[1]],
                slides[begin[2] : end[2]],
            )
            if dt[i] < math.inf:
                rates = _recall(motion, own, q_limb, residual[i])
                found = bounded_step(task, T[i], q_limb, rates, residual[i], dt[i])
                for k in range(len(own)):
                    motion[Q_LAST_REACHED, own[k]] = rates[Q_LAST_REACHED, k]
            else:
                # q_des makes no leap, that of its start included
                reach = max(max_step[i] - pulled, _LEAST_STEP)
                found = _go_near(task, T[i], own, q_cmd, q_limb, reach)
                residual[i] = 0.0
            errors[0, i], errors[1, i], is_moved = found[0], found[1], found[3]
            are_met = are_met and found[4]
        for k in range(len(own)):
            if is_moved or not math.isfinite(wanted[own[k]]):
                q[own[k]] = q_limb[k]
        # what was drawn near has not gone there by itself, nor will it go on so
        _remember(motion, own, q_prev, q, dt[i] if pulled == 0.0 else math.inf)
        for k in range(4):
            begin[k] = end[k]
    return are_met


@compiled
def _go_near(
    task: PackedTask, T: Vec, own: Ints, q_cmd: Vec, q: Vec, reach: float
) -> IkResult:
    found, is_far = newton_solve(task, T, q, np.full(len(q), reach)), False
    for k in range(len(own)):
        low, high = q_cmd[own[k]] - SEED_BOUND, q_cmd[own[k]] + SEED_BOUND
        is_far = is_far or not low <= q[k] <= high
        q[k] = min(max(q[k], low), high)
    if not (is_far and found[3]):
        return found
    # what is left there
    pos, rot, n, _, is_met = newton_solve(task, T, q, np.full(len(q), _LEAST_STEP))
    return pos, rot, n, True, is_met


@compiled
def _recall(motion: Vec, own: Ints, q: Vec, residual: Vec) -> Vec:
    rates = np.empty((_LAST, len(own)))
    goes_on = True
    for k in range(len(own)):
        for row in range(_LAST):
            rates[row, k] = motion[row, own[k]]
        V = rates[DQ_MAX, k]
        rates[DQ, k] = min(max(rates[DQ, k], -V), V)  # the gate goes no faster
        goes_on = goes_on and q[k] == motion[_LAST, own[k]]
    if not goes_on:
        for k in range(len(own)):
            rates[DQ, k], rates[Q_LAST_REACHED, k] = 0.0, q[k]
        residual[:] = 0.0
    return rates


@compiled
def _remember(motion: Vec, own: Ints, q_prev: Vec, q: Vec, dt: float) -> None:
    for j in own:
        if dt > 0.0:
            motion[DQ, j] = (q[j] - q_prev[j]) / dt
        elif q_prev[j] != motion[_LAST, j]:
            motion[DQ, j] = 0.0  # else they are as fast as they were
        motion[_LAST, j] = q[j]
