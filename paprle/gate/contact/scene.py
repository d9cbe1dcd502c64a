"""The collision scene, its measurements in a period, and the scratch of kernels."""

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
    """Measurements of a scene in a period; shapes (k,), [m], unless stated.

    Attributes:
        at_command: Poses at the last command.
        distance: Distance at the last command; a lower bound where large.
        near: Pairs that matter in this period, ascending.
        n_near: Their number, shape (1,).
        speed: Largest speed that they are chosen for, shape (n,), [rad/s].
        max_change: Largest change of distance until every joint has stopped.
        distance_to_meas: Smallest distance between command and q_meas; inf: unmeasured.
        max_change_to_meas: Largest change of distance on that way.
        q_lag: From the last command to q_meas, shape (n,), [rad] or [m].
        normal: Unit vector that separated each pair last, shape (k, 3).
        rows: Gradients of the distance of near pairs, shape (2 k, n).
        allowed: Largest closing speed of each row, shape (2 k,), [m/s].
        waits: Whether its joints wait for others to open the pair, shape (2 k,).
        n_queries: Bodies placed and pairs checked, shape (1,).
        pair: The pair of each row, shape (2 k,).
        refused: Kind of the last refusal, and pair or limb, shape (2,).
        refused_row: Gradient of that pair, shape (n,), [m/rad].
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
    """Scratch of one kernel; shapes (k,), [m], unless stated.

    Attributes:
        placed: Poses in the posture that is checked.
        posture: That posture, shape (n,), [rad] or [m], as the next four.
        q_between: A posture between it and the robot behind it.
        q_lag_max: Largest lag behind it.
        travel: Travel of each joint.
        sync_stop_distance: Travel if joints come to rest together.
        max_change: Largest change of each distance by that.
        max_change_period: The same in one period of a stop.
        due: Next check of each pair, in periods of the stop.
        pending: Pairs still to be checked.
        min_allowed: Smallest allowed distance from command to robot during a stop.
        distance_lower_bound: Bound in the posture that is checked.
        slack: Distance that each pair may lose from there.
        witness: Last witness points and normal, shape (9,).
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
    """Data of the clearance kernels."""

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
    """Place every joint and body in a posture q, shape (n,); count the bodies."""
    n_queries[0] += len(scene.bodies.joint)
    R, p = placed.R_joint, placed.p_joint
    place_joints(scene.tree, q, R, p)
    place_bodies(scene.bodies, R, p, placed.R_body, placed.p_body)
