"""A robot's joints and bodies as arrays, with forward kinematics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from paprle.compiled import compiled, inlined
from paprle.contracts.types import RobotInfo, Vec
from paprle.robot.tree import Urdf

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Tree(NamedTuple):
    """m joints, parents first, driven by a vector of n positions.

    A position is ``scale · q[column] + offset``; a mimic reads its source's column.

    Attributes:
        parent: -1 for the root, (m,).
        R: In the parent at q = 0, (m, 3, 3).
        p: Origin there, (m, 3), [m].
        axis: Unit vectors in the joint's frame, (m, 3).
        offset: (m,), [rad] or [m].
    """

    parent: Ints
    R: Vec
    p: Vec
    axis: Vec
    is_prismatic: Bools
    column: Ints
    scale: Vec
    offset: Vec


class Bodies(NamedTuple):
    """nb convex bodies, each on one joint, with their long axis along z.

    Attributes:
        joint: Of ``RobotModel.tree``, -1 for the root, (nb,).
        R: In the joint, (nb, 3, 3).
        p: Centre there, (nb, 3), [m].
        size: Half extents, radii of disc and ball, (nb, 5), [m].
        sphere: Bounding radius, (nb,), [m].
        capsule: Radius of the enclosing capsule along z, (nb,), [m].
    """

    joint: Ints
    R: Vec
    p: Vec
    kind: Ints
    size: Vec
    sphere: Vec
    capsule: Vec


class ReachTable(NamedTuple):
    """Posture-independent bounds on the change of distances, as a sparse table.

    Attributes:
        starts: First entry by pair, and the last end, (k + 1,).
        column: Joint, (nnz,).
        rate: (nnz,), [m/rad] or [m/m].
    """

    starts: Ints
    column: Ints
    rate: Vec


class Pairs(NamedTuple):
    """k pairs of bodies, (k,), and the clearance to keep, (k,), [m]."""

    a: Ints
    b: Ints
    keep: Vec
    reach: ReachTable


def make_reach(dense: Vec) -> ReachTable:
    """Return the nonzero entries of a table, (n, k)."""
    pair, column = np.nonzero(dense.T)
    starts = np.searchsorted(pair, np.arange(dense.shape[1] + 1)).astype(np.int64)
    return ReachTable(starts, column.astype(np.int64), dense[column, pair])


@inlined
def bound_change(reach: ReachTable, k: int, travel: Vec) -> float:
    """Return a bound on pair k's change of distance, [m], for travel (n,)."""
    change = 0.0
    for at in range(reach.starts[k], reach.starts[k + 1]):
        change += reach.rate[at] * travel[reach.column[at]]
    return change


class TreeJoint(NamedTuple):
    """One joint of a tree under construction."""

    parent: int
    placement: pin.SE3
    axis: Vec
    is_prismatic: bool
    column: int
    scale: float = 1.0
    offset: float = 0.0


def make_tree(joints: Sequence[TreeJoint]) -> Tree:
    """Return joints, parents first, as arrays."""
    m = len(joints)
    return Tree(
        parent=np.array([j.parent for j in joints], dtype=np.int64),
        R=np.array([j.placement.rotation for j in joints]).reshape(m, 3, 3),
        p=np.array([j.placement.translation for j in joints]).reshape(m, 3),
        axis=np.array([j.axis for j in joints], dtype=np.float64).reshape(m, 3),
        is_prismatic=np.array([j.is_prismatic for j in joints], dtype=np.bool_),
        column=np.array([j.column for j in joints], dtype=np.int64),
        scale=np.array([j.scale for j in joints], dtype=np.float64),
        offset=np.array([j.offset for j in joints], dtype=np.float64),
    )


def make_robot_tree(
    urdf: Urdf, info: RobotInfo
) -> tuple[Tree, dict[str, tuple[int, pin.SE3]]]:
    """Return a robot's movable joints, and joint (-1: none) and pose by link."""
    columns = {name: k for k, name in enumerate(info.joint_names)}
    mimics = {mimic.joint: mimic for mimic in info.mimics}
    place: dict[str, tuple[int, pin.SE3]] = {urdf.root: (-1, pin.SE3.Identity())}
    joints: list[TreeJoint] = []
    for joint in urdf.joints:
        parent, T_joint_parent = place[joint.parent]
        T_joint_child = T_joint_parent * joint.T_parent_joint
        if not joint.is_movable:
            place[joint.child] = (parent, T_joint_child)
            continue
        mimic = mimics.get(joint.name)
        place[joint.child] = (len(joints), pin.SE3.Identity())
        joints.append(
            TreeJoint(
                parent=parent,
                placement=T_joint_child,
                axis=joint.axis,
                is_prismatic=joint.kind == "prismatic",
                column=columns[mimic.source if mimic else joint.name],
                scale=mimic.multiplier if mimic else 1.0,
                offset=mimic.offset if mimic else 0.0,
            )
        )
    return make_tree(joints), place


@compiled
def place_joints(tree: Tree, q: Vec, R: Vec, p: Vec) -> None:
    """Write joint poses in the root to R, (m, 3, 3), and p, (m, 3), [m]."""
    for i in range(len(tree.parent)):
        position = tree.scale[i] * q[tree.column[i]] + tree.offset[i]
        x, y, z = tree.axis[i, 0], tree.axis[i, 1], tree.axis[i, 2]
        k, slides = tree.parent[i], tree.is_prismatic[i]
        s, c = (0.0, 1.0) if slides else (math.sin(position), math.cos(position))
        for a in range(3):
            if k < 0:
                here = tree.p[i, a]
                u, v, w = tree.R[i, a, 0], tree.R[i, a, 1], tree.R[i, a, 2]
            else:
                r0, r1, r2 = R[k, a, 0], R[k, a, 1], R[k, a, 2]
                here = p[k, a] + r0 * tree.p[i, 0] + r1 * tree.p[i, 1]
                here += r2 * tree.p[i, 2]
                u = r0 * tree.R[i, 0, 0] + r1 * tree.R[i, 1, 0] + r2 * tree.R[i, 2, 0]
                v = r0 * tree.R[i, 0, 1] + r1 * tree.R[i, 1, 1] + r2 * tree.R[i, 2, 1]
                w = r0 * tree.R[i, 0, 2] + r1 * tree.R[i, 1, 2] + r2 * tree.R[i, 2, 2]
            # a row of R turned about the axis (Rodrigues)
            along = u * x + v * y + w * z
            p[i, a] = here + along * position if slides else here
            along *= 1.0 - c
            R[i, a, 0] = c * u + along * x + s * (v * z - w * y)
            R[i, a, 1] = c * v + along * y + s * (w * x - u * z)
            R[i, a, 2] = c * w + along * z + s * (u * y - v * x)
