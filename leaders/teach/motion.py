"""Commands from kept poses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pinocchio as pin

from paprle.contracts.types import (
    Emits,
    GripperInfo,
    LimbCommand,
    LimbInfo,
    RobotInfo,
    Vec,
    readonly,
)
from paprle.leaders.teach.config import TeachConfig
from paprle.leaders.teach.curve import Bounds, Curve
from paprle.leaders.teach.poses import LimbPose, TaughtPose

_TURNED = 1e-9  # [rad] a turn that is none


class TaughtMotion:
    """Path through poses, from the robot's current one.

    Attributes:
        duration: [s].
    """

    def __init__(
        self,
        robot: RobotInfo,
        limbs: Sequence[LimbInfo],
        poses: Sequence[TaughtPose],
        config: TeachConfig,
    ) -> None:
        make = _JointParts if config.emits == "joints" else _PoseParts
        columns: list[Vec] = []
        bounds: list[Bounds] = []
        self._parts: dict[str, tuple[slice, _JointParts | _PoseParts]] = {}
        for limb in limbs:
            stays = [pose.limbs[limb.name] for pose in poses]
            part = make(robot, limb, stays, config)
            first = sum(rows.shape[1] for rows in columns)
            self._parts[limb.name] = slice(first, first + part.rows.shape[1]), part
            columns.append(part.rows)
            for one in part.bounds:
                at = slice(one.columns.start + first, one.columns.stop + first)
                bounds.append(one._replace(columns=at))
        waits = np.array([pose.wait for pose in poses])
        self._curve = Curve(np.hstack(columns), waits, tuple(bounds))
        self.duration = self._curve.duration

    def compute(self, t: float) -> Mapping[str, LimbCommand]:
        """Return each limb's command at ``t`` [s]."""
        row = self._curve.compute(t)
        return {name: part.make(row[at]) for name, (at, part) in self._parts.items()}


class _JointParts:
    def __init__(
        self,
        robot: RobotInfo,
        limb: LimbInfo,
        stays: Sequence[LimbPose],
        config: TeachConfig,
    ) -> None:
        q = np.array([[one.q[joint] for joint in limb.joint_names] for one in stays])
        at = [robot.joint_names.index(joint) for joint in limb.joint_names]
        limits = config.pace * robot.dq_max[at], config.pace * robot.ddq_max[at]
        self._n = len(at)
        self.bounds = [
            Bounds(slice(k, k + 1), float(v), float(a))
            for k, (v, a) in enumerate(zip(*limits, strict=True))
        ]
        self.rows = q
        if limb.gripper is not None:
            self.bounds.append(_bound_opening(robot, limb.gripper, len(at), config))
            self.rows = np.column_stack([q, _list_openings(stays)])

    def make(self, row: Vec) -> LimbCommand:
        return LimbCommand(q=readonly(row[: self._n]), opening=_read(row, self._n))


class _PoseParts:
    def __init__(
        self,
        robot: RobotInfo,
        limb: LimbInfo,
        stays: Sequence[LimbPose],
        config: TeachConfig,
    ) -> None:
        poses = [one.T_base_eef for one in stays]
        self._R = [T.rotation for T in poses]
        pairs = zip(self._R[:-1], self._R[1:], strict=True)
        turns = [pin.log3(a.T @ b) for a, b in pairs]
        angles = np.linalg.norm(np.reshape(turns, (-1, 3)), axis=1)
        self._axes = [w / max(a, _TURNED) for w, a in zip(turns, angles, strict=True)]
        self._angles = np.concatenate([[0.0], np.cumsum(angles)])
        p = np.array([T.translation for T in poses])
        # an axis changes from turn to turn: where it does the eef does not turn
        self.bounds = [
            Bounds(slice(0, 3), config.speed, config.acceleration),
            Bounds(
                slice(3, 4), config.turn_speed, config.turn_acceleration, rests=True
            ),
        ]
        self.rows = np.column_stack([p, self._angles])
        if limb.gripper is not None:
            self.bounds.append(_bound_opening(robot, limb.gripper, 4, config))
            self.rows = np.column_stack([self.rows, _list_openings(stays)])

    def make(self, row: Vec) -> LimbCommand:
        i = int(np.searchsorted(self._angles, row[3], side="right")) - 1
        i = min(i, len(self._axes) - 1)
        turned = pin.exp3((row[3] - self._angles[i]) * self._axes[i])
        T = pin.SE3(self._R[i] @ turned, row[:3].copy())
        return LimbCommand(T_leader_base_leader_eef=T, opening=_read(row, 4))


def _bound_opening(
    robot: RobotInfo, gripper: GripperInfo, column: int, config: TeachConfig
) -> Bounds:
    at, stroke = robot.joint_names.index(gripper.joint), gripper.open - gripper.closed
    speed = min(config.gripper_speed, float(robot.dq_max[at]) / abs(stroke))
    acceleration = float(robot.ddq_max[at]) / abs(stroke)
    return Bounds(slice(column, column + 1), speed, acceleration)


def _list_openings(stays: Sequence[LimbPose]) -> Vec:
    return np.array([one.opening for one in stays], dtype=np.float64)


def _read(row: Vec, n: int) -> float | None:
    return min(max(float(row[n]), 0.0), 1.0) if len(row) > n else None


def make_command(limb: LimbInfo, stay: LimbPose, emits: Emits) -> LimbCommand:
    """Return a command to hold a limb."""
    if emits == "pose":
        return LimbCommand(
            T_leader_base_leader_eef=stay.T_base_eef, opening=stay.opening
        )
    q = readonly([stay.q[joint] for joint in limb.joint_names])
    return LimbCommand(q=q, opening=stay.opening)


def find_faults(
    robot: RobotInfo, limbs: Sequence[LimbInfo], poses: Sequence[TaughtPose]
) -> list[str]:
    """Return wrong limbs and unreachable poses."""
    faults: list[str] = []
    for pose in poses:
        if set(pose.limbs) != {limb.name for limb in limbs}:
            wanted = ", ".join(limb.name for limb in limbs)
            faults.append(
                f"'{pose.name}': expected the limbs {wanted}, got "
                f"{', '.join(pose.limbs) or 'none'}; leader.limbs says which"
            )
            continue
        for limb in limbs:
            faults += _find_limb_faults(robot, limb, pose)
    return faults


def _find_limb_faults(robot: RobotInfo, limb: LimbInfo, pose: TaughtPose) -> list[str]:
    stay, where = pose.limbs[limb.name], f"'{pose.name}', {limb.name}"
    if set(stay.q) != set(limb.joint_names):
        return [f"{where}: expected q of {', '.join(limb.joint_names)}"]
    if (limb.gripper is None) != (stay.opening is None):
        return [f"{where}: expected {'no' if limb.gripper is None else 'an'} opening"]
    at = [robot.joint_names.index(joint) for joint in limb.joint_names]
    bounds = zip(limb.joint_names, robot.q_min[at], robot.q_max[at], strict=True)
    return [
        f"{where}: expected {joint} in {low:.3f} … {high:.3f}, got {stay.q[joint]}"
        for joint, low, high in bounds
        if not low - 1e-6 <= stay.q[joint] <= high + 1e-6
    ]
