"""Collision bodies and pairs as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

from paprle.compiled import compiled
from paprle.contracts.errors import ConfigError
from paprle.contracts.types import Vec
from paprle.robot.arrays import Bodies, Pairs, make_reach
from paprle.robot.bodies.reach import compute_reach
from paprle.robot.bodies.shapes import (
    BALL,
    BOX,
    CAPSULE,
    CYLINDER,
    DISC,
    HALF_SPACE,
    SPHERE,
)
from paprle.robot.tree import Primitive

if TYPE_CHECKING:
    from paprle.contracts.settings.core import GateSettings
    from paprle.robot.model import RobotModel

_KINDS: Mapping[str, int] = {
    "sphere": SPHERE,
    "capsule": CAPSULE,
    "box": BOX,
    "cylinder": CYLINDER,
    "ground": HALF_SPACE,
}


@compiled
def place_bodies(bodies: Bodies, R_joint: Vec, p_joint: Vec, R: Vec, p: Vec) -> None:
    """Write body poses in the root to R, (nb, 3, 3), and p, (nb, 3), [m]."""
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


def to_arrays(
    primitives: Sequence[Primitive], places: Mapping[str, tuple[int, pin.SE3]]
) -> Bodies:
    """Return bodies as arrays; links without a place are in the scene."""
    joints, T_joint_body, kinds, sizes = [], [], [], []
    for body in primitives:
        joint, T_joint_link = places.get(body.link, (-1, pin.SE3.Identity()))
        kind, size, turn = _KINDS[body.shape], _size(body), np.eye(3)
        if kind == BOX:
            # The longest side along z, without a mirror.
            order = np.roll(np.arange(3), 2 - int(np.argmax(size[:3])))
            size[:3], turn = size[:3][order], turn[:, order]
        joints.append(joint)
        T_joint_body.append(
            T_joint_link * body.T_link_body * pin.SE3(turn, np.zeros(3))
        )
        kinds.append(kind)
        sizes.append(size)
    size = np.array(sizes).reshape(-1, 5)
    wide = np.hypot(size[:, 0], size[:, 1]) + size[:, DISC]
    is_endless = np.array(kinds, dtype=np.int64) == HALF_SPACE
    ball = np.where(is_endless, np.inf, size[:, BALL])
    return Bodies(
        joint=np.array(joints, dtype=np.int64),
        R=np.array([T.rotation for T in T_joint_body]).reshape(-1, 3, 3),
        p=np.array([T.translation for T in T_joint_body]).reshape(-1, 3),
        kind=np.array(kinds, dtype=np.int64),
        size=size,
        sphere=np.hypot(wide, size[:, 2]) + ball,
        capsule=wide + ball,
    )


def _size(body: Primitive) -> Vec:
    size = np.zeros(5)
    if body.shape == "box":
        size[:3] = 0.5 * np.array(body.size)
    elif body.shape != "ground":
        size[DISC if body.shape == "cylinder" else BALL] = body.size[0]
        size[2] = 0.5 * sum(body.size[1:])
    return size


def make_bodies(
    robot: RobotModel, settings: GateSettings
) -> tuple[Bodies, Pairs, tuple[tuple[str, str], ...]]:
    """Return bodies of robot and scene, pairs to keep apart, and their links.

    A pair nearer than its clearance at home keeps 90 % of its distance there.

    Raises:
        ConfigError: If the scene is invalid, or a body's place unbounded.
    """
    model = robot.make_collision_model(settings.scene)
    bodies = to_arrays(model.bodies, robot.link_places)
    a = np.array([one for one, _ in model.body_pairs], dtype=np.int64)
    b = np.array([two for _, two in model.body_pairs], dtype=np.int64)
    keep = model.find_kept(settings.clearance_self, settings.clearance_scene)
    with np.errstate(invalid="ignore"):  # what has no bound is refused here
        reach = compute_reach(robot.tree, robot.q_min, robot.q_max, bodies, (a, b))
    endless = np.flatnonzero(~np.isfinite(reach).all(axis=0))
    if len(endless):
        pair = " and ".join(model.pairs[endless[0]])
        raise ConfigError(
            f"robot: {pair} have unbounded reach: a prismatic joint mimics a joint "
            "without limits; add limits in the URDF or in limits.q_min and limits.q_max"
        )
    return bodies, Pairs(a, b, keep, make_reach(reach)), tuple(model.pairs)
