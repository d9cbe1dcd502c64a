"""From what the leader does to what the robot should do: joint map or SE(3) motion.

Three modes, fixed before anything opens:

* ``joints``: q = sign · scale · q_leader + offset, joint by joint, by name;
* ``relative``: the leader's motion since engaging, from where the command stood then.
  World-aligned, p = p₀ + s R_map (p_t − p_l0) and R = R_map (R_t R_l0ᵀ) R_mapᵀ R₀;
  body-aligned, T = T₀ X⁻¹ T̃ X where T̃ is T_l0⁻¹ T_t with its translation times s;
* ``absolute``: the leader's poses as they are.

(PAPRLE Eq. 2–4, ``requirements.md`` P8–P10 as amended.) What a motionless leader asks
for in relative mode is FK of the command it engaged at, which the IK answers with that
very command: re-engaging never moves anything. The robot's own state is no input here:
anchors are taken from commands (``safety.md`` 0.1, S2).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from paprle.errors import ConfigError
from paprle.kinematics import IkSolution, IkSolver
from paprle.pairing import Pairing, expect_one_of, make_pairing
from paprle.robot import RobotModel
from paprle.settings import IkSettings, RetargetSettings
from paprle.types import LeaderInfo, LeaderSample, LimbCommand, Vec

_SEED_BOUND = 0.3  # [rad] chosen: how far q_des may run ahead of the command
_LEAST_STEP = 1e-9  # [rad] chosen: no step, as a positive number
_ROTATION_ERROR = 1e-6  # [1] chosen: of ‖R‖²; far beyond rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class RetargetState:
    """Where both sides stood when the leader was engaged.

    Attributes:
        T_base_eef0: FK of the command, by follower limb; relative mode only.
        T_leader0: The leader's pose by follower limb; a limb without one holds.
    """

    T_base_eef0: Mapping[str, pin.SE3] = field(default_factory=dict)
    T_leader0: Mapping[str, pin.SE3] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What the leader asks of the robot; what stands in none of these holds.

    Attributes:
        T_base_eef: Pose of the eef in the limb's base, by follower limb.
        q: Joint positions by follower limb, shape (n_l,), [rad]; NaN holds.
        opening: Gripper opening by follower limb, 0 closed … 1 open.
    """

    T_base_eef: Mapping[str, pin.SE3] = field(default_factory=dict)
    q: Mapping[str, Vec] = field(default_factory=dict)
    opening: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """Desired joints of the whole robot.

    Attributes:
        q_des: Shape (n,), order of ``RobotInfo.joint_names``, [rad] or [m].
        err_pos: Distance that the IK left, by limb of the robot, shape (m,), [m]; NaN
            for a limb without a pose to reach.
        err_rot: Angle that the IK left, shape (m,), [rad].
        is_converged: Every pose was reached within the tolerances.
        T_base_eef: The poses that were to be reached, by limb.
    """

    q_des: Vec
    err_pos: Vec
    err_rot: Vec
    is_converged: bool
    T_base_eef: Mapping[str, pin.SE3] = field(default_factory=dict)


class Retargeting:
    """How one leader drives one robot; keeps no state between calls.

    Attributes:
        pairing: Who drives whom, and in which mode.
        settings: Settings.
    """

    def __init__(
        self,
        robot: RobotModel,
        leader: LeaderInfo,
        settings: RetargetSettings,
        *,
        ik_settings: IkSettings | None = None,
        position_margin: float = 0.0,
    ) -> None:
        """Pair a leader with a robot.

        Args:
            robot: The robot.
            leader: What the leader says of itself.
            settings: How they are to be paired.
            ik_settings: Settings of the IK.
            position_margin: Kept from position limits by the IK, [rad]: the gate's.

        Raises:
            ConfigError: If they cannot be paired; lists all problems.
        """
        ik = ik_settings or IkSettings()
        self._max_step = ik.max_step
        _check_mobility(robot, ik)
        self.settings = settings
        self.pairing: Pairing = make_pairing(robot, leader, settings)
        self._robot = robot
        self._rows = {name: row for row, name in enumerate(robot.limbs)}
        self._R_map = pin.rpy.rpyToMatrix(*settings.rpy_xyz_extrinsic)
        self._grippers = {
            name: (robot.joint_names.index(limb.gripper.joint), limb.gripper)
            for name, limb in robot.limbs.items()
            if limb.gripper is not None
        }
        self._solvers = {
            name: IkSolver(limb, ik, position_margin=position_margin)
            for name, limb in robot.limbs.items()
        }

    @property
    def mode(self) -> str:
        """``joints``, ``relative`` or ``absolute``."""
        return self.pairing.mode

    def describe(self) -> str:
        """Say in one line who drives whom, and how."""
        driven: dict[str, list[str]] = {}
        for limb, leader_limb in self.pairing.limbs.items():
            driven.setdefault(leader_limb, []).append(limb)
        parts = [f"{who} drives {_and(whom)}" for who, whom in driven.items()]
        parts += self._describe_mode()
        held = [name for name in self._robot.limbs if name not in self.pairing.limbs]
        held += [
            joint
            for name, sources in self.pairing.joints.items()
            for joint, source in zip(
                self._robot.limbs[name].joint_names, sources, strict=True
            )
            if source is None
        ]
        if held:
            parts.append(f"{_and(held)} {'hold' if len(held) > 1 else 'holds'}")
        return ", ".join(parts)

    def _describe_mode(self) -> list[str]:
        s = self.settings
        if self.mode == "joints":
            return ["joint by joint"]
        if self.mode == "absolute":
            is_ignored = s.scale != 1.0 or any(s.rpy_xyz_extrinsic)
            note = " (scale and turn are ignored)" if is_ignored else ""
            return [f"absolute{note}"]
        axes = "world" if s.alignment == "world" else "tool"
        turned = " turned by rpy ({:g}, {:g}, {:g})".format(*s.rpy_xyz_extrinsic)
        is_turned = any(s.rpy_xyz_extrinsic)
        return [
            "relative",
            f"scale {s.scale:g}",
            f"{axes} axes{turned if is_turned else ''}",
        ]

    def anchor(self, sample: LeaderSample, q_cmd: Vec) -> RetargetState:
        """Note where both sides stand; the robot's command is at rest.

        Args:
            sample: The sample that engages.
            q_cmd: The robot's command, shape (n,), [rad].

        Returns:
            The anchors that ``retarget`` starts from.
        """
        if self.mode != "relative":
            return RetargetState()
        T_base_eef0, T_leader0 = {}, {}
        for name in self.pairing.limbs:
            limb = self._robot.limbs[name]
            T_base_eef0[name] = limb.fk(limb.take(q_cmd))
            T_leader = self.find_pose(sample, name)
            if T_leader is not None:
                T_leader0[name] = T_leader.copy()
        return RetargetState(T_base_eef0=T_base_eef0, T_leader0=T_leader0)

    def retarget(self, sample: LeaderSample, state: RetargetState) -> Target:
        """Say what a sample asks of the robot; never raises.

        Args:
            sample: The newest sample; an invalid one asks for nothing.
            state: The anchors.

        Returns:
            The target. Limbs that are missing or not finite in the sample hold.
        """
        if not sample.valid:
            return Target()
        poses: dict[str, pin.SE3] = {}
        joints: dict[str, Vec] = {}
        if self.mode == "joints":
            joints = {
                name: self._map_joints(sample, name) for name in self.pairing.limbs
            }
        else:
            for name in self.pairing.limbs:
                T_leader = self.find_pose(sample, name)
                if T_leader is None:
                    continue
                if self.mode == "absolute":
                    poses[name] = T_leader
                elif name in state.T_leader0:
                    poses[name] = self._move(
                        state.T_base_eef0[name], state.T_leader0[name], T_leader
                    )
        return Target(T_base_eef=poses, q=joints, opening=self._find_openings(sample))

    def solve(self, target: Target, q_prev: Vec, q_cmd: Vec) -> Solution:
        """Find desired joints for a target; never raises.

        A limb starts from its last q_des, pulled to within 0.3 rad of the command, so
        that it neither forgets its branch nor runs ahead of the arm. Joints that
        nothing is asked of stay there; joints in no limb stay at their last q_des.

        Args:
            target: The target.
            q_prev: The last q_des, shape (n,), [rad]; q_cmd on engaging.
            q_cmd: The robot's command, shape (n,), [rad].

        Returns:
            The solution.
        """
        q_des = q_prev.copy()
        errors = np.full((2, len(self._rows)), np.nan)
        is_converged = True
        for name, limb in self._robot.limbs.items():
            q_last = limb.take(q_prev)
            q_limb = q_start = _pull(q_last, limb.take(q_cmd))
            if name in target.T_base_eef:
                pulled = float(np.abs(q_start - q_last).max(initial=0.0))
                left = max(self._max_step - pulled, _LEAST_STEP)  # q_des makes no leap
                found = self._solvers[name].solve(
                    target.T_base_eef[name], q_start, max_step=left
                )
                q_limb = found.q
                errors[:, self._rows[name]] = found.err_pos, found.err_rot
                is_converged = is_converged and found.is_converged
            elif name in target.q:
                q_limb = np.where(np.isfinite(target.q[name]), target.q[name], q_start)
            q_des[limb.indices] = q_limb
        for name, opening in target.opening.items():
            index, gripper = self._grippers[name]
            q_des[index] = gripper.closed + opening * (gripper.open - gripper.closed)
        return Solution(
            q_des=q_des,
            err_pos=errors[0],
            err_rot=errors[1],
            is_converged=is_converged,
            T_base_eef=target.T_base_eef,
        )

    def solve_start(self, sample: LeaderSample, q_cmd: Vec) -> Vec:
        """Find where the robot has to be for a leader to take over without a jump.

        Args:
            sample: The sample that will engage.
            q_cmd: The robot's command, shape (n,), [rad].

        Returns:
            Joints to align to, shape (n,), [rad]: the command itself in relative mode,
            and wherever nothing is asked or the pose is out of reach from it.
        """
        if self.mode == "relative":
            return q_cmd.copy()
        target = self.retarget(sample, RetargetState())
        q = self.solve(Target(q=target.q, opening=target.opening), q_cmd, q_cmd).q_des
        for name, T_base_eef in target.T_base_eef.items():
            limb = self._robot.limbs[name]
            found: IkSolution = self._solvers[name].solve_global(
                T_base_eef, limb.take(q_cmd)
            )
            q[limb.indices] = found.q
        return q

    def find_pose(self, sample: LeaderSample, limb: str) -> pin.SE3 | None:
        """Return the leader's usable pose, as given, that drives a follower limb."""
        leader_limb = self.pairing.limbs.get(limb)
        command = None if leader_limb is None else sample.limbs.get(leader_limb)
        T = None if command is None else command.T_leader_base_leader_eef
        return T if T is not None and sample.valid and _is_pose(T) else None

    def _move(self, T_0: pin.SE3, T_leader0: pin.SE3, T_leader: pin.SE3) -> pin.SE3:
        """Return T_base_eef: the leader's motion since T_leader0, from T_0 on."""
        s, R_map = self.settings.scale, self._R_map
        if self.settings.alignment == "world":
            dp = T_leader.translation - T_leader0.translation
            dR = R_map @ (T_leader.rotation @ T_leader0.rotation.T) @ R_map.T
            return pin.SE3(dR @ T_0.rotation, T_0.translation + R_map @ (s * dp))
        T = T_leader0.actInv(T_leader)
        dR = R_map.T @ T.rotation @ R_map
        return T_0 * pin.SE3(dR, R_map.T @ (s * T.translation))

    def _map_joints(self, sample: LeaderSample, name: str) -> Vec:
        """Return a limb's joints by name; NaN where the leader says nothing."""
        values = []
        for source in self.pairing.joints[name]:
            value = math.nan
            if source is not None:
                command = sample.limbs.get(source.leader_limb)
                q = None if command is None else command.q
                if q is not None and source.index < len(q):
                    value = source.gain * float(q[source.index]) + source.offset
            values.append(value)
        return np.array(values)

    def _find_openings(self, sample: LeaderSample) -> dict[str, float]:
        """Return the openings that are asked for, within 0 … 1."""
        openings = {}
        for name, leader_limb in self.pairing.limbs.items():
            command: LimbCommand | None = sample.limbs.get(leader_limb)
            opening = None if command is None else command.opening
            if (
                opening is not None
                and name in self._grippers
                and math.isfinite(opening)
            ):
                openings[name] = min(max(float(opening), 0.0), 1.0)
        return openings


def _pull(q_prev: Vec, q_cmd: Vec) -> Vec:
    """Return q_prev, drawn straight toward q_cmd until no joint is too far from it."""
    apart = q_prev - q_cmd
    worst = float(np.abs(apart).max(initial=0.0))
    if worst <= _SEED_BOUND:
        return q_prev
    if not math.isfinite(worst):
        return q_cmd
    pulled: Vec = q_cmd + apart * (_SEED_BOUND / worst)
    return pulled


def _is_pose(T: pin.SE3) -> bool:
    """Tell whether a pose is finite and its rotation one; NaN fails both tests."""
    R = T.rotation
    is_rotation = abs(float(np.vdot(R, R)) - 3.0) < _ROTATION_ERROR
    return is_rotation and math.isfinite(float(T.translation.sum()))


def _check_mobility(robot: RobotModel, ik: IkSettings) -> None:
    """Refuse mobilities of joints that do not exist, or below zero."""
    joints = [j for limb in robot.limbs.values() for j in limb.joint_names]
    problems = [
        expect_one_of("ik.mobility", f"a limb joint of '{robot.name}'", name, joints)
        for name in ik.mobility
        if name not in joints
    ]
    problems += [
        f"ik.mobility.{name}: expected 0 or more, got {value:g}; lower moves less"
        for name, value in ik.mobility.items()
        if not value >= 0.0
    ]
    if problems:
        raise ConfigError(problems)


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
