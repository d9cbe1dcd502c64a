"""Forward kinematics of all end-effectors in one pass."""

from __future__ import annotations

import numpy as np

from paprle.compiled import compiled
from paprle.contracts.types import Vec
from paprle.robot.arrays import Ints, Tree, place_joints
from paprle.robot.model import RobotModel
from paprle.robot.pose_rows import write_pose


class Eefs:
    """Poses of all eefs in their limbs' bases."""

    def __init__(self, robot: RobotModel) -> None:
        limbs = tuple(robot.limbs.values())
        sizes = [len(limb.tree.parent) for limb in limbs]
        ends = np.cumsum(sizes)
        chains = [limb.tree for limb in limbs]
        parts = [np.concatenate(arrays) for arrays in zip(*chains, strict=True)]
        tree = Tree(*parts)
        firsts = np.repeat(ends - sizes, sizes)
        columns = [limb.indices[limb.tree.column] for limb in limbs]
        self._tree = tree._replace(
            parent=np.where(tree.parent < 0, -1, tree.parent + firsts),
            column=np.concatenate(columns),
        )
        self._last: Ints = ends - 1
        self._R = np.array([limb.R_eef for limb in limbs])
        self._p = np.array([limb.p_eef for limb in limbs])

    def place(self, q: Vec, rows: Vec) -> None:
        """Write pose rows by limb, (m, 7), at q, (n,)."""
        place_eefs(self._tree, self._last, self._R, self._p, q, rows)


@compiled
def place_eefs(
    tree: Tree, last: Ints, R_eef: Vec, p_eef: Vec, q: Vec, rows: Vec
) -> None:
    """Write the pose rows of all eefs in their bases, (m, 7), at q, (n,).

    ``R_eef``, (m, 3, 3), and ``p_eef``, (m, 3), [m], are in each limb's last joint,
    (m,).
    """
    R_all, p_all = np.empty(tree.R.shape), np.empty(tree.p.shape)
    T = np.empty((4, 4))
    place_joints(tree, q, R_all, p_all)
    for i in range(len(last)):
        k = last[i]
        for a in range(3):
            T[a, 3] = p_all[k, a]
            for b in range(3):
                T[a, 3] += R_all[k, a, b] * p_eef[i, b]
                T[a, b] = (
                    R_all[k, a, 0] * R_eef[i, 0, b]
                    + R_all[k, a, 1] * R_eef[i, 1, b]
                    + R_all[k, a, 2] * R_eef[i, 2, b]
                )
        write_pose(T, rows[i])
