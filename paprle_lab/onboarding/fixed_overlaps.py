"""Overlapping bodies that no limb moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import numpy as np

from paprle.robot import RobotModel
from paprle.robot.joint_tree import JointTree
from paprle.robot.tree import Urdf

_N_POSTURES = 64  # chosen: as many as tell what overlaps in every posture
_MOSTLY = 0.5  # chosen: of the postures of the held joints
_SEED = 0  # chosen: the same pairs each time


def find_held_overlaps(
    tree: Urdf, robot: RobotModel, held: Collection[str]
) -> tuple[tuple[str, str], ...]:
    """Return links that touch at home and in most postures between."""
    joints = JointTree(tree, robot.joint_names, robot.mimics)
    is_held = np.array([name in held for name in robot.joint_names])
    touching = [
        pair
        for pair in robot.find_collisions(robot.home)
        if is_held[joints.find_columns(*pair)].all()
    ]
    if not touching:
        return ()
    low = np.where(np.isfinite(robot.q_min), robot.q_min, -np.pi)
    high = np.where(np.isfinite(robot.q_max), robot.q_max, np.pi)
    rng = np.random.default_rng(_SEED)
    counts: Counter[tuple[str, str]] = Counter()
    for q in rng.uniform(low, high, (_N_POSTURES, len(low))):
        counts.update(robot.find_collisions(np.where(is_held, q, robot.home)))
    return tuple(pair for pair in touching if counts[pair] >= _MOSTLY * _N_POSTURES)
