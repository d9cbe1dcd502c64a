"""Check of joints against the robot's limits."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from paprle.contracts.kit.known_motion import find_misfit
from paprle.contracts.types import RobotInfo
from paprle.leaders.dataset.config import ColumnSettings
from paprle.leaders.dataset.limbs import LimbRows


class JointLimits:
    """Limits of the played joints."""

    def __init__(self, robot: RobotInfo | None = None) -> None:
        self._by_name: dict[str, tuple[float, float]] = {}
        if robot is not None:
            bounds = zip(robot.q_min, robot.q_max, strict=True)
            self._by_name = dict(zip(robot.joint_names, bounds, strict=True))

    def find_reach(self, joint: str) -> float:
        """Return a joint's largest angle, [rad]; 0: not of this robot."""
        return max(map(abs, self._by_name.get(joint, (0.0,))))

    def find_misfit(
        self, rows: Mapping[str, LimbRows], limbs: Mapping[str, ColumnSettings]
    ) -> str:
        """Return the joint most beyond its limits, or ""."""
        for limb, own in rows.items():
            if own.q is None:
                continue
            names = tuple(limbs[limb].joints)
            found = [self._by_name.get(name) for name in names]
            given = [
                None if bound is None else q
                for q, bound in zip(own.q.T, found, strict=True)
            ]
            low, high = np.array([bound or (0.0, 0.0) for bound in found]).T
            if misfit := find_misfit(given, names, low, high):
                return misfit
        return ""
