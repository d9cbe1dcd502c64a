"""Bodies that may collide, as arrays for kernels, and the pairs to keep apart."""

from __future__ import annotations

from typing import NamedTuple

from paprle.compiled import compiled
from paprle.robot.arrays import Ints
from paprle.types import Vec

SPHERE, CAPSULE, BOX, CYLINDER, HALF_SPACE = range(5)
"""Kinds of bodies; the order is that in which ``measure_pair`` takes two of them."""

DISC, BALL = 3, 4
"""Columns of ``Bodies.size`` behind the half extents."""


class Bodies(NamedTuple):
    """Convex bodies, each on one joint; nb of them.

    A box has its longest side along z, so that z is the long axis of every body.

    Attributes:
        joint: Joint of ``RobotModel.tree`` that moves it, -1: the root, shape (nb,).
        R: Its rotation in that joint, shape (nb, 3, 3).
        p: Its centre in that joint, shape (nb, 3), [m].
        kind: ``SPHERE`` and so on, shape (nb,).
        size: Half extents along its axes, radius of its disc, radius of its ball,
            shape (nb, 5), [m].
        sphere: Radius of its bounding sphere, shape (nb,), [m].
        capsule: Radius of the enclosing capsule on the line of half length
            ``size[2]`` along z, shape (nb,), [m].
    """

    joint: Ints
    R: Vec
    p: Vec
    kind: Ints
    size: Vec
    sphere: Vec
    capsule: Vec


class Pairs(NamedTuple):
    """Pairs of bodies to keep apart; k of them, of a robot of n joints.

    Attributes:
        a: One body, shape (k,).
        b: The other, shape (k,).
        keep: Clearance to hold, shape (k,), [m].
        reach: How fast its distance can change at most with each joint of the robot's
            vector, whatever the configuration within limits, shape (k, n), [m/rad]
            or [m/m].
    """

    a: Ints
    b: Ints
    keep: Vec
    reach: Vec


@compiled
def place_bodies(bodies: Bodies, R_joint: Vec, p_joint: Vec, R: Vec, p: Vec) -> None:
    """Write the pose of every body in the root.

    Args:
        bodies: The bodies.
        R_joint: Rotations of the joints, shape (m, 3, 3).
        p_joint: Their origins, shape (m, 3), [m].
        R: Takes the bodies' rotations, shape (nb, 3, 3).
        p: Takes their centres, shape (nb, 3), [m].
    """
    for i in range(len(bodies.joint)):
        k = bodies.joint[i]
        for r in range(3):
            if k < 0:
                p[i, r] = bodies.p[i, r]
                for c in range(3):
                    R[i, r, c] = bodies.R[i, r, c]
                continue
            x, y, z = R_joint[k, r, 0], R_joint[k, r, 1], R_joint[k, r, 2]
            p[i, r] = p_joint[k, r] + (
                x * bodies.p[i, 0] + y * bodies.p[i, 1] + z * bodies.p[i, 2]
            )
            for c in range(3):
                R[i, r, c] = (
                    x * bodies.R[i, 0, c]
                    + y * bodies.R[i, 1, c]
                    + z * bodies.R[i, 2, c]
                )
