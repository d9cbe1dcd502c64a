"""Limbs that mirror each other in the root's xz plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from paprle.contracts.types import Vec
from paprle.robot.arrays import Tree, place_joints
from paprle.robot.chain import Limb

_MIRROR = np.array([1.0, -1.0, 1.0])
_ANGLE = 0.01  # [rad] chosen: makers round π to 3.14 and 1.57
_OFF = 2e-3  # [m] chosen: makers round lengths, too


class Twin(NamedTuple):
    """A limb's mirror image, with joint signs, (n_l,)."""

    limb: Limb
    signs: Vec


def find_twins(tree: Tree, limbs: Sequence[Limb]) -> dict[str, Twin]:
    """Return limbs' images, by the first of both names."""
    twins: dict[str, Twin] = {}
    taken: set[str] = set()
    ordered = sorted(limbs, key=lambda limb: limb.name)  # whatever the file's order
    for k, limb in enumerate(ordered):
        for other in ordered[k + 1 :]:
            signs = _find_signs(tree, other, limb)
            if signs is not None and not {limb.name, other.name} & taken:
                twins[limb.name] = Twin(other, signs)
                taken |= {limb.name, other.name}
    return twins


def _find_signs(tree: Tree, limb: Limb, other: Limb) -> Vec | None:
    if len(limb.indices) != len(other.indices):
        return None
    m, n = len(tree.parent), 1 + int(tree.column.max())
    R, p = np.empty((m, 3, 3)), np.empty((m, 3))
    place_joints(tree, np.zeros(n), R, p)
    signs = []
    for own, others in zip(limb.indices, other.indices, strict=True):
        i, k = (int(np.flatnonzero(tree.column == c)[0]) for c in (own, others))
        if tree.is_prismatic[i] != tree.is_prismatic[k]:
            return None
        axis = R[i] @ tree.axis[i]
        image = _MIRROR * (R[k] @ tree.axis[k])
        if not tree.is_prismatic[k]:
            image = -image  # a mirror turns the sense of a rotation around
        along = float(axis @ image)
        off = p[i] - _MIRROR * p[k]
        if not tree.is_prismatic[i]:
            off = off - (off @ axis) * axis
        if abs(along) < np.cos(_ANGLE) or np.linalg.norm(off) > _OFF:
            return None
        signs.append(np.sign(along))
    return np.array(signs)
