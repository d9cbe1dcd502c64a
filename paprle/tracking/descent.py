"""Reach of a target by Levenberg-Marquardt descent within joint limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.contracts.types import Vec
from paprle.ipc.records import row_to_pose
from paprle.robot.chain import Limb

Bools = npt.NDArray[np.bool_]

REACHED_POS = (
    1e-3  # [m] chosen: a tenth of what a hand notices; far above IK's rounding
)
REACHED_ROT = 0.01  # [rad] chosen: 0.6°, as far as 1 mm at 0.1 m from the hand's origin
AT_BOUND = 1e-3  # [rad] or [m] chosen: 0.06°; joints slow down for the last of it
N_STEPS = 25  # chosen: five are usual; more where the arm is nearly stretched
DAMPING = 1e-3  # [m/rad] chosen: at first; a step that fails has 3 times as much
N_VAIN, WORTH = 4, 0.01  # chosen: so many steps in a row that bring less end it
LONGEST_STEP = 0.3  # [rad] chosen: the arm is not linear any farther
HELPFUL = 0.1  # chosen: cosine between what is left and what a joint does about it


class Asked(NamedTuple):
    """IK request of a limb.

    ``rotation_weight`` is [m/rad], 0: position alone; ``rows`` are linear first.
    """

    rotation_weight: float
    rows: tuple[int, ...]

    @property
    def counts_rotation(self) -> bool:
        """Whether orientation errors count."""
        return self.rotation_weight > 0.0


def descend(
    limb: Limb, asked: Asked, q: Vec, target: Vec, bounds: Sequence[Vec]
) -> tuple[bool, Bools]:
    """Return whether a target row, (7,), is reached, and blocked joints, (n,)."""
    T_target = row_to_pose(target)
    e, A = _linearise(limb, asked, q, T_target)
    damping, held, n_vain = DAMPING, np.zeros(len(q), dtype=bool), 0
    for _ in range(N_STEPS):
        if _is_met(asked, e) or n_vain == N_VAIN:
            break
        held = _find_held(e, A, q, bounds)
        way = _step(e, np.where(held, 0.0, A), damping)
        further: Vec = np.clip(q + way, *bounds)
        e_further, A_further = _linearise(limb, asked, further, T_target)
        rest = float(np.linalg.norm(e_further) / np.linalg.norm(e))
        n_vain = n_vain + 1 if rest > 1.0 - WORTH else 0
        if rest < 1.0:
            q, e, A = further, e_further, A_further
            damping = max(damping / 3.0, DAMPING)
        else:
            damping *= 3.0
    return _is_met(asked, e), _find_held(e, A, q, bounds)


def _linearise(limb: Limb, asked: Asked, q: Vec, T_target: pin.SE3) -> tuple[Vec, Vec]:
    """Return the remaining way and its derivative, weighted, [m]."""
    T = limb.fk(q).actInv(T_target)
    e = np.concatenate([T.translation, asked.rotation_weight * pin.log3(T.rotation)])
    A = limb.jacobian(q) * np.repeat([1.0, asked.rotation_weight], 3)[:, None]
    rows = list(asked.rows)
    return e[rows], A[rows]


def _is_met(asked: Asked, e: Vec) -> bool:
    is_near = bool(np.linalg.norm(e[:3]) <= REACHED_POS)
    turned = float(np.linalg.norm(e[3:]))
    return is_near and turned <= asked.rotation_weight * REACHED_ROT


def _step(e: Vec, A: Vec, damping: float) -> Vec:
    square = A.T @ A + damping**2 * np.eye(A.shape[1])
    way: Any = np.linalg.solve(square, A.T @ e)
    longest = float(np.abs(way).max())
    step: Vec = way * min(1.0, LONGEST_STEP / max(longest, 1e-12))
    return step


def _find_held(e: Vec, A: Vec, q: Vec, bounds: Sequence[Vec]) -> Bools:
    slope = A.T @ e
    steep = HELPFUL * np.linalg.norm(A, axis=0) * np.linalg.norm(e)
    at_low, at_high = q <= bounds[0] + AT_BOUND, q >= bounds[1] - AT_BOUND
    return np.asarray((at_low & (slope < -steep)) | (at_high & (slope > steep)))
