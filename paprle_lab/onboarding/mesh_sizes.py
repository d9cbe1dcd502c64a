"""Detection of meshes in other units."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from paprle.contracts.errors import ConfigError
from paprle.contracts.types import Vec
from paprle.robot.tree import Urdf

_LARGEST = 20.0  # chosen: of the reach; a link of a fiftieth of it, in millimetres
_SMALLEST = 2e-3  # chosen: of the reach; twice the whole arm's length, in kilometres


def check_sizes(tree: Urdf, meshes: Mapping[str, list[Vec]]) -> list[str]:
    """Return doubts about far too small meshes.

    Raises:
        ConfigError: If one is larger than any link can be.
    """
    reach = _find_reach(tree)
    if reach == 0.0:  # nothing tells how large the robot is
        return []
    sizes = {
        link: float(max(np.ptp(one.reshape(-1, 3), axis=0).max() for one in parts))
        for link, parts in meshes.items()
    }
    problems = [
        f"{tree.path.name}: link {link}: expected a mesh of the robot's size, which "
        f"reaches {reach:.3g} m, got {size:.3g} m; is it in millimetres? Write "
        'scale="0.001 0.001 0.001" into its <mesh>, or, if it is a .dae, meter="0.001" '
        "into its <unit>"
        for link, size in sizes.items()
        if size > _LARGEST * reach
    ]
    if problems:
        raise ConfigError(problems)
    return [
        f"link {link}: its mesh is {1e3 * size:.2g} mm large, and the robot reaches "
        f"{reach:.3g} m; is the scale of its <mesh> right?"
        for link, size in sizes.items()
        if size < _SMALLEST * reach
    ]


def _find_reach(tree: Urdf) -> float:
    """Return the stretched length of the longest chain, [m]."""
    lengths = {tree.root: 0.0}
    for joint in tree.joints:
        length = float(np.linalg.norm(joint.T_parent_joint.translation))
        if joint.kind == "prismatic":
            length += max(abs(joint.lower), abs(joint.upper))
        lengths[joint.child] = lengths[joint.parent] + length
    return max(length for length in lengths.values() if np.isfinite(length))
