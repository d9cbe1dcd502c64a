"""A limb's distance to a target."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pinocchio as pin

from paprle.contracts.settings.core import GateSettings
from paprle.contracts.types import RobotInfo, Vec
from paprle.gate.gate import compute_command_limits
from paprle.ipc.records import row_to_pose
from paprle.robot.chain import Limb
from paprle.tracking.descent import AT_BOUND, Asked, descend

AT_SPEED = 0.97  # chosen: share of V


def find_asked(limb: Limb, config: Mapping[str, Any]) -> Asked:
    """Return the IK request of a limb, by config."""
    ik = config.get("ik") or {}
    own = (ik.get("limbs") or {}).get(limb.name) or {}
    given = {**ik, **{key: value for key, value in own.items() if value is not None}}
    weight = float(given.get("rotation_weight", 0.2))
    free = {"x": 3, "y": 4, "z": 5}.get(given.get("free_axis", "none"))
    rows = tuple(row for row in range(6) if row != free)
    if weight == 0.0 or len(limb.joint_names) < len(rows):
        return Asked(0.0, (0, 1, 2))  # position comes first, rotation gets the rest
    return Asked(weight, rows)


class TrackedLimb:
    """A limb with its own pinocchio data, for any thread."""

    def __init__(
        self,
        limb: Limb,
        robot: RobotInfo,
        gate: GateSettings,
        asked: Asked,
        sag: float = 0.0,
    ) -> None:
        self.limb, self.asked, self._sag = copy.copy(limb), asked, sag
        self.limb.data = limb.model.createData()
        self.indices = limb.indices
        self.bounds = tuple(
            limit[limb.indices] for limit in compute_command_limits(robot, gate)
        )
        self.ddq_max = robot.ddq_max[limb.indices]

    def find_obstacle(self, q: Vec, dq: Vec, target: Vec) -> tuple[str, str, bool]:
        """Return kind and words of an obstacle to a pose, and whether it is final.

        ``q`` and ``dq`` are requested, (n_l,); ``target`` is a pose row, (7,).
        """
        is_met, in_way = descend(self.limb, self.asked, q, target, self.bounds)
        names = self.limb.joint_names
        if not is_met and in_way.any():
            return "bound", f"{names[int(in_way.argmax())]} at its limit", True
        if not is_met:
            return "reach", "not reached from this posture", True
        fastest = self.find_fastest(dq)
        if fastest:
            return "velocity", fastest, False
        return "acceleration", "acceleration", False

    def find_fastest(self, dq: Vec) -> str:
        """Return the joint at V, for ``dq``, (n_l,), or ""."""
        fast = np.flatnonzero(np.abs(dq) >= AT_SPEED * self.limb.dq_max)
        return f"{self.limb.joint_names[fast[0]]} at its top speed" if len(fast) else ""

    def find_pinned(self, q: Vec) -> str:
        """Return the joint asked beyond its limit, q (n_l,), or ""."""
        low, high = self.bounds
        places = np.flatnonzero((q < low - AT_BOUND) | (q > high + AT_BOUND))
        return f"{self.limb.joint_names[places[0]]} at its limit" if len(places) else ""

    def find_gap(self, q: Vec, way: Sequence[pin.SE3]) -> tuple[float, float]:
        """Return the distance of q, (n_l,), to a way of T_base_eef, [m] and [rad]."""
        T = self.limb.fk(q)
        ends = list(zip(way, way[1:], strict=False)) or [(way[0], way[0])]
        pos = min(_find_distance(T.translation, a, b) for a, b in ends)
        if not self.asked.counts_rotation:
            return pos, 0.0
        return pos, min(self._find_angle(T.rotation, a, b) for a, b in ends)

    def lift(self, q: Vec, way: Sequence[Vec]) -> Vec:
        """Return measured joints, (n_l,), without what drives give way under load."""
        short = np.asarray(way) - q
        lifts = np.clip(short, -self._sag, self._sag)
        left = np.abs(short - lifts).max(axis=1)
        nearest = np.lexsort((np.abs(short).max(axis=1), left))[0]
        lifted: Vec = q + lifts[nearest]
        return lifted

    def find_joint_gap(self, q: Vec, way: Sequence[Vec]) -> tuple[float, float]:
        """Return distances of hand, [m], and joints, [rad] or [m], to request."""
        pos, _ = self.find_gap(q, [self.limb.fk(one) for one in way])
        beside = np.abs(q - np.clip(q, np.min(way, axis=0), np.max(way, axis=0)))
        return pos, float(beside.max())

    def _find_angle(self, R: Vec, begin: pin.SE3, end: pin.SE3) -> float:
        turn = pin.log3(begin.rotation.T @ end.rotation)
        own = pin.log3(begin.rotation.T @ R)
        R_near = begin.rotation @ pin.exp3(_clip_share(own, turn) * turn)
        left = pin.log3(R_near.T @ R)
        return float(np.linalg.norm([left[row - 3] for row in self.asked.rows[3:]]))


def to_way(rows: Sequence[Vec]) -> list[pin.SE3]:
    """Return the poses of complete rows, (7,)."""
    return [row_to_pose(row) for row in rows if np.isfinite(row).all()]


def _clip_share(point: Vec, way: Vec) -> float:
    length2 = float(way @ way)
    return min(max(float(point @ way) / length2, 0.0), 1.0) if length2 else 0.0


def _find_distance(p: Vec, begin: pin.SE3, end: pin.SE3) -> float:
    way = end.translation - begin.translation
    share = _clip_share(p - begin.translation, way)
    return float(np.linalg.norm(p - begin.translation - share * way))
