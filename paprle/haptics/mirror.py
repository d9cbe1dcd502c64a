"""Mapping of the follower to the leader's joints or eef (requirements P21).

Joints: q = (q_follower − offset) / gain, torques times gain. Poses, for R_cmd = L R K
and p_cmd = p₀ + s L (p − p_l0): (L R)ᵀ dp and (L R)ᵀ log(R_b R_aᵀ).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.contracts.types import LeaderInfo, Vec
from paprle.haptics.arm import Posture
from paprle.retargeting.pairing import LimbSource, Pairing
from paprle.retargeting.rules import RULES
from paprle.retargeting.state import Anchors
from paprle.robot import Limb, RobotModel


class JointLink(NamedTuple):
    """Robot joint driven by a leader joint."""

    row: int
    column: int
    gain: float
    offset: float


class JointMirror:
    """Map from robot to leader joints, shape (M,); several links average."""

    def __init__(self, links: Sequence[JointLink], n_rows: int) -> None:
        self._n = n_rows
        self._rows = np.array([link.row for link in links], dtype=np.int64)
        self._columns = np.array([link.column for link in links], dtype=np.int64)
        self._gain = np.array([link.gain for link in links])
        self._offset = np.array([link.offset for link in links])
        count = np.bincount(self._rows, minlength=n_rows).astype(np.float64)
        self.is_driven = count > 0
        self._share = 1.0 / (count[self._rows] * self._gain)
        self._missing = np.where(self.is_driven, 0.0, np.nan)

    def positions(self, q_robot: Vec) -> Vec:
        """Return the leader's positions, NaN: drives nothing."""
        values = (q_robot[self._columns] - self._offset) * self._share
        total: Vec = np.bincount(self._rows, values, self._n).astype(np.float64)
        return total + self._missing

    def efforts(self, tau_robot: Vec) -> Vec:
        """Return efforts at the leader's joints."""
        values = tau_robot[self._columns] * self._gain
        total: Vec = np.bincount(self._rows, values, self._n).astype(np.float64)
        return total + self._missing

    def held(self, held_robot: Vec) -> Vec:
        """Return held joints with direction, −1 … 1."""
        values = held_robot[self._columns] * np.sign(self._gain)
        total: Vec = np.bincount(self._rows, values, self._n).astype(np.float64)
        return np.minimum(np.maximum(total, -1.0), 1.0)

    def spread_largest(self, by_robot_joint: Vec) -> Vec:
        """Return the largest value over driven joints."""
        largest = np.zeros(self._n)
        np.maximum.at(largest, self._rows, by_robot_joint[self._columns])
        return largest

    @property
    def gain_squared(self) -> Vec:
        """Σ gain² over driven joints, which maps stiffness."""
        return np.bincount(self._rows, self._gain**2, self._n).astype(np.float64)

    def bounds(self, q_min: Vec, q_max: Vec) -> tuple[Vec, Vec]:
        """Return position limits at the leader's joints."""
        low, high = np.full(self._n, -np.inf), np.full(self._n, np.inf)
        a = (q_min[self._columns] - self._offset) / self._gain
        b = (q_max[self._columns] - self._offset) / self._gain
        np.maximum.at(low, self._rows, np.minimum(a, b))
        np.minimum.at(high, self._rows, np.maximum(a, b))
        return low, high


def find_links(
    robot: RobotModel, leader: LeaderInfo, pairing: Pairing
) -> list[JointLink]:
    """Return the joint links to this leader."""
    starts, at = {}, 0
    for name in leader.limbs:
        starts[name] = at
        at += count_joints(leader, name)
    links = []
    for name, driver in _list_pairs(pairing, leader):
        limb, leader_limb = robot.limbs[name], driver.leader_limb
        for column, source in zip(limb.indices, driver.joints, strict=False):
            if source is not None and source.leader_limb in starts:
                row = starts[source.leader_limb] + source.index
                links.append(JointLink(row, int(column), source.gain, source.offset))
        arm = leader.arms.get(leader_limb)
        if limb.gripper is not None and arm is not None and arm.gripper is not None:
            theirs, own = limb.gripper, arm.gripper
            gain = (theirs.open - theirs.closed) / (own.open - own.closed)
            offset = theirs.closed - gain * own.closed
            row = starts[leader_limb] + len(arm.joint_names)
            column = robot.joint_names.index(theirs.joint)
            links.append(JointLink(row, column, gain, offset))
    return links


def _list_pairs(pairing: Pairing, leader: LeaderInfo) -> list[tuple[str, LimbSource]]:
    return [
        (name, source)
        for name, pair in pairing.limbs.items()
        for source in pair.sources
        if source.leader_limb in leader.limbs and source.rule != "look_at"
    ]


def count_joints(leader: LeaderInfo, limb: str) -> int:
    """Return a limb's number of joints in ``leader_state``."""
    arm = leader.arms.get(limb)
    if arm is None:
        return len(leader.joint_names.get(limb, ()))
    return len(arm.joint_names) + (arm.gripper is not None)


class Displacements(NamedTuple):
    """Displacements of a limb's eef, linear first, shape (6,)."""

    gate: Vec
    follower: Vec
    model: Vec
    scale: float = 1.0


NONE = np.full(6, np.nan)
NONE.setflags(write=False)
NOWHERE = Displacements(NONE, NONE, NONE)


class CarryBack(NamedTuple):
    """Mapping of displacements to a leader limb.

    Attributes:
        is_by_pose: Into the axes of the leader's eef; else joint by joint.
        is_scaled: ``retarget.scale`` counts: motion is relative.
    """

    is_by_pose: bool
    is_scaled: bool


def find_carry_back(pairing: Pairing, limb: str) -> CarryBack:
    """Return the mapping of one follower limb."""
    rule = RULES[pairing.limbs[limb].rule]
    return CarryBack(rule.carry_back == "pose", rule.begins_at_command)


class PoseMirror:
    """Robot limbs that a leader limb drives by its pose."""

    def __init__(self, robot: RobotModel, pairing: Pairing, leader_limb: str) -> None:
        names = list(robot.limbs)
        ways = {
            name: find_carry_back(pairing, name)
            for name, _ in pairing.list_driven(leader_limb)
        }
        self._limbs: list[tuple[int, Limb]] = [
            (names.index(name), robot.limbs[name])
            for name, way in ways.items()
            if way.is_by_pose
        ]
        self.is_driving = bool(self._limbs)
        self.is_scaled = any(way.is_scaled for way in ways.values())

    def find(
        self, at: Posture, anchors: Anchors | None, q_robot: tuple[Vec, Vec, Vec]
    ) -> Displacements:
        """Return the limbs' mean displacements."""
        if not self._limbs or anchors is None:
            return NOWHERE
        total = np.zeros((3, 6))
        for i, limb in self._limbs:
            L = anchors.L[i]
            R, p = L @ at.R @ anchors.K[i], L @ (at.p - anchors.p_leader0[i])
            asked = pin.SE3(R, anchors.p_0[i] + anchors.scale[i] * p)
            gate, here, model = (limb.fk(limb.take(q)) for q in q_robot)
            R_eef_base = (L @ at.R).T
            for row, (a, b) in enumerate(((asked, gate), (gate, here), (model, here))):
                total[row, :3] += R_eef_base @ (b.translation - a.translation)
                total[row, 3:] += R_eef_base @ pin.log3(b.rotation @ a.rotation.T)
        scale = float(np.mean([anchors.scale[i] for i, _ in self._limbs]))
        gate, here, model = total / len(self._limbs)
        return Displacements(gate, here, model, scale)
