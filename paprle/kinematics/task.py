"""What the kernels know of one limb and its task, in few arrays.

Handing an array to a kernel costs about as much as inverting a 6 × 6 matrix in it, so a
limb goes in as three arrays and is taken apart inside.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paprle.compiled import compiled
from paprle.robot.arrays import Bools, Ints, Tree
from paprle.robot.chain import Limb
from paprle.settings import IkSettings
from paprle.types import Vec

FULL_TASK = 6
_AXES = {"none": -1, "x": 0, "y": 1, "z": 2}
_N_COUNTS = 6


class Task(NamedTuple):
    """A limb of n joints, m with those that mimic, and what is asked of it.

    Attributes:
        tree: Its joints.
        R_eef: Rotation of the eef in the last joint, shape (3, 3).
        p_eef: Its origin there, shape (3,), [m].
        q_min: Lower position limits with their margin, shape (n,), [rad] or [m].
        q_max: Upper ones, shape (n,).
        home: Where freedom that is left leans to, shape (n,).
        mobility: W^½, shape (n,).
        weights: Q^½ of the rows of the task, shape (k,), [1] or [m/rad].
        rows: Which of the six rows of a twist these are, shape (k,).
        n_first: How many of them come first; the others get what these leave.
        free_axis: Axis of the eef about which it may turn, -1 for none.
        max_iterations: Steps in one solve.
        tol_pos: Arrived below this distance, [m].
        tol_rot: Arrived below this angle, [rad].
        damping: λ₀.
        sigma_min: ε.
        rotation_weight: r, [m/rad].
    """

    tree: Tree
    R_eef: Vec
    p_eef: Vec
    q_min: Vec
    q_max: Vec
    home: Vec
    mobility: Vec
    weights: Vec
    rows: Ints
    n_first: int
    free_axis: int
    max_iterations: int
    tol_pos: float
    tol_rot: float
    damping: float
    sigma_min: float
    rotation_weight: float


class PackedTask(NamedTuple):
    """A task in three arrays.

    Attributes:
        floats: All its numbers.
        ints: Sizes and indices.
        slides: ``Tree.is_prismatic``.
    """

    floats: Vec
    ints: Ints
    slides: Bools


def pack(limb: Limb, settings: IkSettings, position_margin: float) -> PackedTask:
    """Return a limb's task.

    With as many joints as the task has rows, or more, position and rotation are one
    task; with fewer, position comes first and rotation gets what that leaves.

    Args:
        limb: The limb.
        settings: What is asked of it.
        position_margin: Kept from position limits, [rad].
    """
    tree, s, n = limb.tree, settings, len(limb.joint_names)
    free_axis = _AXES[s.free_axis]
    rows = [0, 1, 2]
    if s.rotation_weight > 0.0:
        rows += [3 + axis for axis in range(3) if axis != free_axis]
    n_first = len(rows) if n >= len(rows) else 3
    margin = np.minimum(position_margin, (limb.q_max - limb.q_min) / 2.0)
    mobility = np.sqrt([s.mobility.get(j, 1.0) for j in limb.joint_names])
    weights = np.where(np.array(rows) < 3, 1.0, s.rotation_weight)
    scalars = [s.tol_pos, s.tol_rot, s.damping, s.sigma_min, s.rotation_weight]
    floats = [tree.R, tree.p, tree.axis, tree.scale, tree.offset]
    floats += [limb.R_eef, limb.p_eef, limb.q_min + margin, limb.q_max - margin]
    floats += [limb.home, mobility, weights, np.array(scalars)]
    counts = [len(tree.parent), n, len(rows), n_first, free_axis, s.max_iterations]
    return PackedTask(
        floats=np.concatenate([np.ravel(x) for x in floats]),
        ints=np.concatenate([counts, tree.parent, tree.column, rows]),
        slides=tree.is_prismatic.copy(),
    )


@compiled
def unpack(packed: PackedTask) -> Task:
    """Return views of a packed task."""
    x, ints = packed.floats, packed.ints
    m, n, k = ints[0], ints[1], ints[2]
    parent, column = _N_COUNTS, _N_COUNTS + m
    p, axis, scale, offset = 9 * m, 12 * m, 15 * m, 16 * m
    eef, limits = 17 * m, 17 * m + 12
    home = limits + 2 * n
    weights, scalars = home + 2 * n, home + 2 * n + k
    return Task(
        tree=Tree(
            parent=ints[parent:column],
            R=x[:p].reshape(m, 3, 3),
            p=x[p:axis].reshape(m, 3),
            axis=x[axis:scale].reshape(m, 3),
            is_prismatic=packed.slides,
            column=ints[column : column + m],
            scale=x[scale:offset],
            offset=x[offset:eef],
        ),
        R_eef=x[eef : eef + 9].reshape(3, 3),
        p_eef=x[eef + 9 : limits],
        q_min=x[limits : limits + n],
        q_max=x[limits + n : home],
        home=x[home : home + n],
        mobility=x[home + n : weights],
        weights=x[weights:scalars],
        rows=ints[column + m :],
        n_first=ints[3],
        free_axis=ints[4],
        max_iterations=ints[5],
        tol_pos=x[scalars],
        tol_rot=x[scalars + 1],
        damping=x[scalars + 2],
        sigma_min=x[scalars + 3],
        rotation_weight=x[scalars + 4],
    )
