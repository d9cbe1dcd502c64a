"""One limb and its task in few arrays, since each costs time."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from paprle.compiled import compiled, inlined
from paprle.contracts.settings.core import IkSettings
from paprle.contracts.types import Vec
from paprle.robot.arrays import Bools, Ints, Tree
from paprle.robot.chain import Limb
from paprle.robot.limits import find_margin

Q_MIN, Q_MAX, HOME, MOBILITY = range(4)
"""Rows of ``Task.joints``: limits with their margin, home [rad], and W^½."""
Q, START, TRIAL, STEP, Y, WAY, FREE, REACH = range(4, 12)
"""Further rows of ``Workspace.joints``: where the limb stands, where the solve started
and where it may go next; the step, the same weighted, the weighted posture bias, [rad];
1 for joints that a step is solved for; and how far a joint may go, [rad]."""
_N_ROWS = 12
_AXES = {"none": -1, "x": 0, "y": 1, "z": 2}
_N_COUNTS = 6


class Terms(NamedTuple):
    """The numbers of a task.

    Attributes:
        n_first: Rows that come first; the others get what these leave.
        free_axis: -1 for none.
        tol_pos: [m].
        tol_rot: [rad].
        damping: λ₀.
        sigma_min: ε.
        rotation_weight: r, [m/rad].
    """

    n_first: int
    free_axis: int
    max_iterations: int
    tol_pos: float
    tol_rot: float
    damping: float
    sigma_min: float
    rotation_weight: float


class Task(NamedTuple):
    """A limb of n joints, mimics too, and its task.

    Attributes:
        joints: See ``Q_MIN`` …, (4, n).
        rows: Of a twist, (k,).
        weights: Q^½ of these, (k,), [1] or [m/rad].
    """

    tree: Tree
    joints: Vec
    rows: Ints
    weights: Vec
    terms: Terms


class Workspace(NamedTuple):
    """Arrays that a solve writes into.

    Attributes:
        R: Of joints, the eef's last, (m, 3, 3).
        p: (m, 3), [m].
        e: Error in the eef's axes, (6,), [m] over [rad].
        A: Q^½ J W^½, (k, n).
        b: Q^½ e, (k,).
        joints: See ``Q_MIN`` …, ``Q`` …, (12, n).
    """

    R: Vec
    p: Vec
    R_target: Vec
    p_target: Vec
    e: Vec
    A: Vec
    b: Vec
    joints: Vec


class PackedTask(NamedTuple):
    """A task as numbers, sizes and indices, and ``Tree.is_prismatic``."""

    floats: Vec
    ints: Ints
    slides: Bools


def list_rows(settings: IkSettings) -> list[int]:
    """Return the rows of a twist in a limb's task."""
    rows = [0, 1, 2]
    if settings.rotation_weight > 0.0:
        free_axis = _AXES[settings.free_axis]
        rows += [3 + axis for axis in range(3) if axis != free_axis]
    return rows


def pack(limb: Limb, settings: IkSettings, position_margin: float) -> PackedTask:
    """Return a limb's task; the margin, [rad], is less in a narrow range.

    With fewer joints than rows, position comes first.
    """
    tree, s, n, m = limb.tree, settings, len(limb.home), len(limb.tree.parent)
    free_axis = _AXES[s.free_axis]
    rows = list_rows(s)
    counts = [m + 1, n, len(rows), len(rows) if n >= len(rows) else 3]
    margin = find_margin(limb.q_min, limb.q_max, position_margin)
    weights = np.where(np.array(rows) < 3, 1.0, s.rotation_weight)
    mobility = np.sqrt([s.mobility.get(j, 1.0) for j in limb.joint_names])
    numbers = np.array(
        [s.tol_pos, s.tol_rot, s.damping, s.sigma_min, s.rotation_weight]
    )
    still, up = np.zeros(1), np.array([0.0, 0.0, 1.0])
    floats = [tree.R, limb.R_eef, tree.p, limb.p_eef, tree.axis, up]
    floats += [tree.scale, still, tree.offset, still]
    floats += [limb.q_min + margin, limb.q_max - margin, limb.home, mobility]
    floats += [weights, numbers]
    parent, column = np.append(tree.parent, m - 1), np.append(tree.column, 0)
    return PackedTask(
        floats=np.concatenate([np.ravel(x) for x in floats]),
        ints=np.concatenate(
            [counts, [free_axis, s.max_iterations], parent, column, rows]
        ),
        slides=np.append(tree.is_prismatic, False),
    )


@compiled
def unpack(packed: PackedTask) -> Task:
    """Return views of a packed task."""
    x, ints = packed.floats, packed.ints
    m, n, k = ints[0], ints[1], ints[2]
    p, axis, scale, offset = 9 * m, 12 * m, 15 * m, 16 * m
    joints, weights = 17 * m, 17 * m + 4 * n
    numbers = weights + k
    column = _N_COUNTS + m
    return Task(
        Tree(
            ints[_N_COUNTS:column],
            x[:p].reshape(m, 3, 3),
            x[p:axis].reshape(m, 3),
            x[axis:scale].reshape(m, 3),
            packed.slides,
            ints[column : column + m],
            x[scale:offset],
            x[offset:joints],
        ),
        x[joints:weights].reshape(4, n),
        ints[column + m : column + m + k],
        x[weights:numbers],
        Terms(
            ints[3],
            ints[4],
            ints[5],
            x[numbers],
            x[numbers + 1],
            x[numbers + 2],
            x[numbers + 3],
            x[numbers + 4],
        ),
    )


@compiled
def make_workspace(task: Task, R_target: Vec, p_target: Vec, q: Vec) -> Workspace:
    """Return the workspace of a solve from q, (n,)."""
    m, k, n = len(task.tree.parent), len(task.rows), len(q)
    joints = np.empty((_N_ROWS, n))
    for row in range(len(task.joints)):
        assign(joints[row], task.joints[row])
    assign(joints[Q], q)
    for j in range(n):
        joints[REACH, j] = math.inf
    return Workspace(
        np.empty((m, 3, 3)),
        np.empty((m, 3)),
        R_target,
        p_target,
        np.empty(6),
        np.empty((k, n)),
        np.empty(k),
        joints,
    )


@inlined
def assign(target: Vec, source: Vec) -> None:
    """Copy a vector; NumPy's way takes seconds to compile."""
    for j in range(len(source)):
        target[j] = source[j]
