"""The collision scene, its measurements in a period, and the scratch of kernels.

A kernel's scratch means nothing to another kernel. Poses are passed on under the name
of their posture.
"""

from __future__ import annotations

from typing import NamedTuple

from paprle.compiled import compiled, inlined
from paprle.contracts.types import Vec
from paprle.gate.contact.broad_phase import Blocks
from paprle.robot.arrays import Bodies, Ints, Pairs, Tree, place_joints
from paprle.robot.bodies.arrays import place_bodies

NOTHING, PAIR, TOOL, UNDECIDED = range(4)
"""Reasons to refuse a stop: none, a pair of bodies, a tool, not decided in time."""


class Scene(NamedTuple):
    """A collision scene: k pairs of b bodies on m joints, driven by n positions."""

    tree: Tree
    bodies: Bodies
    pairs: Pairs


class Placed(NamedTuple):
    """Poses of all joints and bodies in one posture.

    Attributes:
        R_joint: Rotations of joints, shape (m, 3, 3).
        p_joint: Their origins, shape (m, 3), [m].
        R_body: Rotations of bodies, shape (b, 3, 3).
        p_body: Their origins, shape (b, 3), [m].
    """

    R_joint: Vec
    p_joint: Vec
    R_body: Vec
    p_body: Vec


class Measured(NamedTuple):
    """Measurements of a scene in one period, begun by ``measure_all``.

    Attributes:
        at_command: Poses in the posture of the last command.
        distance: Of each pair at the last command, shape (k,), [m]; a lower bound
            where it is larger than ``max_change`` uses up.
        near: Pairs that something may come of in this period, ascending, shape (k,);
            of the others nothing below is written but a bound of ``distance``.
        n_near: How many there are, shape (1,).
        speed: The fastest that they are chosen for, shape (n,), [rad/s].
        max_change: Largest change of each distance until every joint, as fast as this
            period allows, has stopped, shape (k,), [m].
        distance_to_meas: Smallest distance of each pair that was measured between the
            last command and q_meas; inf: none was, shape (k,), [m].
        max_change_to_meas: Largest change of each distance on that way, shape (k,),
            [m].
        q_lag: From the last command to q_meas, shape (n,), [rad] or [m].
        normal: Unit vector along which each pair was apart when measured last, in
            this period or before; any at first, shape (k, 3).
        rows: Gradients of the distance of the pairs that matter, one or two of each,
            shape (2 k, n).
        allowed: Largest closing speed of each of them, shape (2 k,), [m/s].
        waits: Whether it is a row of joints that wait for others to open the pair,
            shape (2 k,).
        n_queries: Bodies placed and pairs checked so far, shape (1,).
        pair: Which pair each of them is of, shape (2 k,).
        refused: Why the last stop was refused, and the pair, or the limb of the tool,
            shape (2,).
        refused_row: Gradient of that pair where it is too near, shape (n,), [m/rad].
    """

    at_command: Placed
    near: Ints
    n_near: Ints
    speed: Vec
    distance: Vec
    max_change: Vec
    distance_to_meas: Vec
    max_change_to_meas: Vec
    q_lag: Vec
    normal: Vec
    rows: Vec
    allowed: Vec
    waits: Vec
    n_queries: Vec
    pair: Ints
    refused: Ints
    refused_row: Vec


class Scratch(NamedTuple):
    """Scratch of a kernel; its contents mean nothing once another one begins.

    Attributes:
        placed: Poses in the posture that is checked.
        posture: The posture that is checked, shape (n,).
        q_between: A posture between it and the robot behind it, shape (n,).
        q_lag_max: Largest lag behind it, shape (n,), [rad] or [m].
        travel: How far each joint goes, shape (n,), [rad] or [m].
        sync_stop_distance: How far it goes in another way, shape (n,), [rad] or [m].
        max_change: Largest change of each distance by that, shape (k,), [m].
        max_change_period: The same of one period of a stop, shape (k,), [m].
        due: When each has to be checked next, in periods of the stop, shape (k,).
        pending: Pairs that still have to be checked, shape (k,).
        min_allowed: Smallest distance between command and robot that each of them may
            have during a stop, shape (k,), [m].
        distance_lower_bound: Of each of them in the posture that is checked, shape
            (k,), [m].
        slack: How much nearer each of them may come from there, and from between
            there and the robot, shape (k,), [m].
        witness: Witness points and normal of the pair measured last, shape (9,).
    """

    placed: Placed
    posture: Vec
    q_between: Vec
    q_lag_max: Vec
    travel: Vec
    sync_stop_distance: Vec
    max_change: Vec
    max_change_period: Vec
    due: Vec
    pending: Ints
    min_allowed: Vec
    distance_lower_bound: Vec
    slack: Vec
    witness: Vec


class Collision(NamedTuple):
    """All that the kernels of clearance work with."""

    scene: Scene
    blocks: Blocks
    measured: Measured
    scratch: Scratch


@inlined
def refuse(collision: Collision, kind: int, index: int) -> None:
    """Note why a stop is refused: ``PAIR`` or ``TOOL`` and which, or ``UNDECIDED``."""
    refused = collision.measured.refused
    refused[0], refused[1] = kind, index


@compiled
def place_bodies_at(scene: Scene, q: Vec, placed: Placed, n_queries: Vec) -> None:
    """Place every joint and body in a posture.

    Args:
        scene: What is placed.
        q: The posture, shape (n,), [rad] or [m].
        placed: Takes the poses.
        n_queries: Count of queries; grows by the number of bodies, shape (1,).
    """
    n_queries[0] += len(scene.bodies.joint)
    R, p = placed.R_joint, placed.p_joint
    place_joints(scene.tree, q, R, p)
    place_bodies(scene.bodies, R, p, placed.R_body, placed.p_body)
