"""Pairs of bodies too thick to ever be clear.

A pair never as far apart as the gate's clearance carries no information.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

import numpy as np

from paprle.contracts.settings.core import GateSettings
from paprle.robot import RobotModel

_N_POSTURES = 200  # chosen: what comes apart in one of a hundred is seen
_MOSTLY = 0.5  # chosen: of the postures, as for meshes
_SEED = 0  # chosen: the same pairs each time


def find_overdrawn(
    robot: RobotModel, links: Collection[str]
) -> tuple[tuple[str, str], ...]:
    """Return pairs of ``links`` that mostly touch and are never clear.

    Pairs that touch in all postures are left to the user.
    """
    if not links:
        return ()
    low = np.where(np.isfinite(robot.q_min), robot.q_min, -np.pi)
    high = np.where(np.isfinite(robot.q_max), robot.q_max, np.pi)
    rng = np.random.default_rng(_SEED)
    postures = rng.uniform(low, high, (_N_POSTURES, len(low)))
    counts = Counter(pair for q in postures for pair in robot.find_collisions(q))
    found = {
        pair
        for pair, n in counts.items()
        if _MOSTLY * _N_POSTURES <= n < _N_POSTURES and set(pair) <= set(links)
    }
    bodies = robot.make_collision_model({})
    for q in postures if found else ():
        nearest: dict[tuple[str, str], float] = {}
        for pair, distance in zip(bodies.pairs, bodies.clearances(q), strict=True):
            nearest[pair] = min(nearest.get(pair, np.inf), float(distance))
        found = {
            pair for pair in found if nearest[pair] < GateSettings().clearance_self
        }
    return tuple(sorted(found))
