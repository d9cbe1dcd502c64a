"""The collision scene, its measurements, and scratch of kernels."""

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
    """k pairs of b bodies on m joints, driven by n positions."""

    tree: Tree
    bodies: Bodies
    pairs: Pairs


class Placed(NamedTuple):
    """Poses of m joints and b bodies: R (·, 3, 3) and p (·, 3), [m]."""

    R_joint: Vec
    p_joint: Vec
    R_body: Vec
    p_body: Vec


class Measured(NamedTuple):
    """Measurements of a scene in a period; shapes (k,), [m], unless stated.

    Attributes:
        distance: At the last command; a lower bound where large.
        speed: Largest speed that pairs are chosen for, shape (n,), [rad/s].
        max_change: Of distance until all joints have stopped.
        distance_to_meas: Smallest from command to q_meas; inf: unmeasured.
        max_change_to_meas: On that way.
        q_lag: From the last command to q_meas, shape (n,), [rad] or [m].
        normal: Last separating unit vector, shape (k, 3).
        rows: Gradients of near distances, shape (2 k, n).
        allowed: Closing speed of rows, shape (2 k,), [m/s].
        waits: A row's joints wait for others to open it, shape (2 k,).
        n_queries: Bodies placed and pairs checked, shape (1,).
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
        posture: The checked one, shape (n,), [rad] or [m], as the next four.
        q_between: Between it and the lagging robot.
        q_lag_max: Largest lag behind it.
        sync_stop_distance: Travel if joints rest together.
        max_change: Of distance by ``travel``.
        max_change_period: The same in one period.
        due: Next check, in periods of the stop.
        min_allowed: Least distance from command to robot.
        slack: Distance that may be lost.
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
    """Note a refusal: ``PAIR`` or ``TOOL`` and its index, or ``UNDECIDED``."""
    refused = collision.measured.refused
    refused[0], refused[1] = kind, index


@compiled
def place_bodies_at(scene: Scene, q: Vec, placed: Placed, n_queries: Vec) -> None:
    """Place joints and bodies at q, (n,); count the bodies."""
    n_queries[0] += len(scene.bodies.joint)
    R, p = placed.R_joint, placed.p_joint
    place_joints(scene.tree, q, R, p)
    place_bodies(scene.bodies, R, p, placed.R_body, placed.p_body)
