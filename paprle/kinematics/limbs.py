"""All limbs of a robot in one call, for streams of targets.

Limbs share no joint, so that each has its own solve, exactly that of ``IkSolver``; what
they share is the way into compiled code, which costs as much as a solve.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from paprle.compiled import compiled
from paprle.kinematics.task import PackedTask, pack
from paprle.kinematics.track import approach
from paprle.robot.arrays import Bools, Ints
from paprle.robot.chain import Limb
from paprle.settings import IkSettings
from paprle.types import Vec

Left = tuple[Vec, Vec, bool]
"""Distances [m] and angles [rad] of the limbs, shape (m,); whether all arrived."""


class PackedLimbs(NamedTuple):
    """Packed tasks of m limbs, one after another.

    Attributes:
        floats: See ``PackedTask``.
        ints: See there.
        slides: See there.
        begins: Where each limb's part of these begins, shape (m + 1, 3).
    """

    floats: Vec
    ints: Ints
    slides: Bools
    begins: Ints


class LimbsSolver:
    """Tracks poses of several limbs of one robot at once."""

    def __init__(
        self,
        limbs: Sequence[Limb],
        settings: IkSettings | None = None,
        *,
        position_margin: float = 0.0,
    ) -> None:
        """Prepare a solver, compiled.

        Args:
            limbs: The limbs, m of them.
            settings: Settings of all of them.
            position_margin: Kept from position limits, [rad].
        """
        tasks = [
            pack(limb, settings or IkSettings(), position_margin) for limb in limbs
        ]
        sizes = [[len(part) for part in task] for task in tasks]
        self._packed = PackedLimbs(
            np.concatenate([task.floats for task in tasks]),
            np.concatenate([task.ints for task in tasks]),
            np.concatenate([task.slides for task in tasks]),
            np.concatenate(
                [np.zeros((1, 3), dtype=np.int64), np.cumsum(sizes, axis=0)]
            ),
        )

    def solve(self, R: Vec, p: Vec, q: Vec, reach: Vec) -> Left:
        """Move limbs towards their targets.

        Args:
            R: Rotations of the targets T_base_eef, shape (m, 3, 3).
            p: Their origins, shape (m, 3), [m]; NaN where nothing is asked of a limb.
            q: Where the robot starts, shape (n,), [rad]; limbs that are asked move
                there to the best position found.
            reach: Largest change of any joint of a limb, shape (m,), [rad].

        Returns:
            What is left; NaN for limbs of which nothing is asked, or nothing usable.
        """
        return track_limbs(self._packed, R, p, q, reach)


@compiled
def track_limbs(packed: PackedLimbs, R: Vec, p: Vec, q: Vec, reach: Vec) -> Left:
    """Move limbs towards targets; see ``LimbsSolver.solve``."""
    m = len(p)
    err_pos, err_rot, is_converged = np.empty(m), np.empty(m), True
    for i in range(m):
        begin, end = packed.begins[i], packed.begins[i + 1]
        ints = packed.ints[begin[1] : end[1]]
        task = PackedTask(
            packed.floats[begin[0] : end[0]], ints, packed.slides[begin[2] : end[2]]
        )
        n = ints[1]
        q_limb = np.empty(n)
        for j in range(n):
            q_limb[j] = q[ints[len(ints) - n + j]]
        err_pos[i], err_rot[i], _, is_moved, is_met = approach(
            task, R[i], p[i], q_limb, reach[i]
        )
        is_converged = is_converged and (is_met or p[i, 0] != p[i, 0])
        if is_moved:
            for j in range(n):
                q[ints[len(ints) - n + j]] = q_limb[j]
    return err_pos, err_rot, is_converged
