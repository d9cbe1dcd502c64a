"""From what the leader does to what the robot should do: joint map or SE(3) motion.

Three modes, fixed before anything opens:

* ``joints``: q = sign · scale · q_leader + offset, joint by joint, by name;
* ``relative``: the leader's motion since engaging, from where the command stood then.
  World-aligned, p = p₀ + s R_map (p_t − p_l0) and R = R_map (R_t R_l0ᵀ) R_mapᵀ R₀;
  body-aligned, T = T₀ X⁻¹ T̃ X where T̃ is T_l0⁻¹ T_t with its translation times s;
* ``absolute``: the leader's poses as they are.

Every mode of poses is R = L R_t K and p = p₀ + s L (p_t − p_l0): world-aligned with
L = R_map and K = R_l0ᵀ R_mapᵀ R₀, body-aligned with L = R₀ R_mapᵀ R_l0ᵀ and K = R_map,
absolute with nothing at all. So what engaging fixes is L, K, p₀ and p_l0.

(PAPRLE Eq. 2–4, ``requirements.md`` P8–P10 as amended.) What a motionless leader asks
for in relative mode is FK of the command it engaged at, which the IK answers with that
very command: re-engaging never moves anything. The robot's own state is no input here:
anchors are taken from commands (``safety.md`` 0.1, S2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from paprle.config.check import check_made
from paprle.contracts.errors import ConfigError
from paprle.contracts.settings import IkSettings, RetargetSettings
from paprle.contracts.types import LeaderInfo, Vec
from paprle.ipc.records import SampleView
from paprle.kinematics import IkSolver
from paprle.kinematics.robot_solver import LimbSolver
from paprle.kinematics.seed import choose_joints
from paprle.retargeting.leader_arms import ArmPoses, load_arms
from paprle.retargeting.mapping import map_joints, map_poses, take_poses
from paprle.retargeting.pairing import Pairing, expect_one_of, make_pairing
from paprle.robot import RobotModel
from paprle.robot.arrays import Bools, Ints
from paprle.robot.pose_rows import read_pose, write_pose


class RetargetState(NamedTuple):
    """Where both sides stood when the leader was engaged, by limb of the robot.

    Attributes:
        L: Turns on the left, shape (m, 3, 3).
        K: Turns on the right, shape (m, 3, 3).
        p_0: Position of the command, shape (m, 3), [m].
        p_leader0: Position of the leader; NaN for a limb that holds, shape (m, 3), [m].
        scale: Of translations.
    """

    L: Vec
    K: Vec
    p_0: Vec
    p_leader0: Vec
    scale: float


class Target(NamedTuple):
    """What the leader asks of the robot.

    Attributes:
        T: Pose of the eef in the limb's base, by limb, shape (m, 4, 4).
        is_asked: Which limbs have one, shape (m,).
        q: Positions of joints, grippers too, shape (n,), [rad] or [m]; NaN holds.
    """

    T: Vec
    is_asked: Bools
    q: Vec


class Solution(NamedTuple):
    """Desired joints of the whole robot.

    Attributes:
        q_des: Shape (n,), order of ``RobotInfo.joint_names``, [rad] or [m].
        err_pos: Distance that the IK left, by limb of the robot, shape (m,), [m]; NaN
            for a limb without a pose to reach.
        err_rot: Angle that the IK left, shape (m,), [rad].
        is_converged: Every pose was reached within the tolerances.
    """

    q_des: Vec
    err_pos: Vec
    err_rot: Vec
    is_converged: bool


class Retargeting:
    """How one leader drives one robot; what it remembers is the IK's own motion.

    Attributes:
        pairing: Who drives whom.
        mode: ``joints``, ``relative`` or ``absolute``.
        settings: Settings.
        arm_poses: Gives samples of arms their poses, where poses are what drives.
    """

    def __init__(
        self,
        robot: RobotModel,
        leader: LeaderInfo,
        settings: RetargetSettings,
        *,
        ik_settings: IkSettings | None = None,
        position_margin: float = 0.0,
        through: RobotModel | None = None,
    ) -> None:
        """Pair a leader with a robot.

        Args:
            robot: The robot.
            leader: What the leader says of itself.
            settings: How they are to be paired.
            ik_settings: Settings of the IK.
            position_margin: Kept from position limits by the IK, [rad]: the gate's.
            through: The robot that ``settings.through`` names.

        Raises:
            ConfigError: If they cannot be paired; lists all problems.
        """
        ik = ik_settings or IkSettings()
        check_made(ik, "ik")
        _check_mobility(robot, ik)
        self.settings = settings
        arms = load_arms(leader, through)
        self.pairing: Pairing = make_pairing(robot, leader, settings, arms)
        self.mode = self.pairing.mode
        self.arm_poses = ArmPoses(leader, self.pairing.arms)
        self._robot = robot
        self._limbs = tuple(robot.limbs.values())
        self._R_map = pin.rpy.rpyToMatrix(*settings.rpy_xyz_extrinsic)
        self._leader_rows = _find_rows(robot, leader, self.pairing)
        self._map = JointMap.make(robot, leader, self.pairing)
        self._ik, self._position_margin = ik, position_margin
        self._solver = LimbSolver(robot, ik, position_margin)
        self._target = self.make_target()
        places = [limb.indices for limb in self._limbs]
        self._joints: Ints = np.concatenate(places)
        self._ends: Ints = np.cumsum([len(own) for own in places])
        self._nothing_left: Vec = np.full(len(self._limbs), np.nan)

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
        reason = f" ({self.pairing.reason})" if self.pairing.reason else ""
        if self.mode == "joints":
            return [f"joint by joint{reason}"]
        if self.mode == "absolute":
            is_ignored = s.scale != 1.0 or any(s.rpy_xyz_extrinsic)
            note = " (scale and turn are ignored)" if is_ignored else ""
            return [f"absolute{note}"]
        axes = "world" if s.alignment == "world" else "tool"
        turned = " turned by rpy ({:g}, {:g}, {:g})".format(*s.rpy_xyz_extrinsic)
        is_turned = any(s.rpy_xyz_extrinsic)
        return [
            f"relative{reason}",
            f"scale {s.scale:g}",
            f"{axes} axes{turned if is_turned else ''}",
        ]

    def anchor(self, sample: SampleView, q_cmd: Vec) -> RetargetState:
        """Note where both sides stand; the robot's command is at rest.

        Args:
            sample: The sample that engages.
            q_cmd: The robot's command, shape (n,), [rad].

        Returns:
            The anchors that ``retarget`` starts from; ``solve`` starts from rest.
        """
        self._solver.reset()
        poses = [limb.fk(limb.take(q_cmd)) for limb in self._limbs]
        return self.anchor_at(sample, poses)

    def anchor_at(
        self, sample: SampleView, T_base_eef0: Sequence[pin.SE3]
    ) -> RetargetState:
        """Note where the leader stands, and the command's poses by limb."""
        X, is_world = self._R_map, self.settings.alignment == "world"
        m = len(T_base_eef0)
        L, K = np.tile(np.eye(3), (2, m, 1, 1))
        p_0, p_leader0 = np.zeros((2, m, 3))
        if self.mode != "relative":
            return RetargetState(L, K, p_0, p_leader0, 1.0)
        for i, T_0 in enumerate(T_base_eef0):
            T_leader0 = self.find_pose(sample, i)
            p_0[i], p_leader0[i] = T_0.translation, np.nan
            if T_leader0 is None:
                continue
            p_leader0[i] = T_leader0.translation
            R_0, R_l0 = T_0.rotation, T_leader0.rotation
            if is_world:
                L[i], K[i] = X, R_l0.T @ X.T @ R_0
            else:
                L[i], K[i] = R_0 @ X.T @ R_l0.T, X
        return RetargetState(L, K, p_0, p_leader0, self.settings.scale)

    def retarget(self, sample: SampleView, state: RetargetState) -> Target:
        """Say what a sample asks of the robot; never raises.

        Args:
            sample: The newest sample; an invalid one asks for nothing.
            state: The anchors.

        Returns:
            The target, overwritten by the next call. Limbs that are missing or not
            finite in the sample hold.
        """
        if not sample.valid:
            return self.make_target()
        target = self._target
        map_joints(sample.numbers, self._map.source, self._map.line, target.q)
        if self.mode == "joints":
            return target
        map_poses(sample.pose, self._leader_rows, *state, target.T, target.is_asked)
        return target

    def make_target(self) -> Target:
        """Return a target that asks for nothing."""
        m, n = len(self._limbs), len(self._robot.joint_names)
        return Target(
            np.empty((m, 4, 4)), np.zeros(m, dtype=np.bool_), np.full(n, np.nan)
        )

    def solve(
        self, target: Target, q_prev: Vec, q_cmd: Vec, dt: float = math.inf
    ) -> Solution:
        """Find desired joints for a target; never raises on vectors of the robot.

        A limb starts from its last q_des, pulled to within 0.3 rad of the command, so
        that it neither forgets its branch nor runs ahead of the arm. Joints that
        nothing is asked of stay there; joints in no limb stay at their last q_des.

        Args:
            target: The target.
            q_prev: The last q_des, shape (n,), [rad]; q_cmd on engaging.
            q_cmd: The robot's command, shape (n,), [rad].
            dt: Time since the last q_des, [s]: in which limbs that follow a pose move
                as the gate allows them; without it, as far as ``ik.max_step``.

        Returns:
            The solution.
        """
        if self.mode == "joints":  # there is nothing for the IK to do
            q_des = np.empty(len(target.q))
            choose_joints(self._joints, self._ends, target.q, q_prev, q_cmd, q_des)
            return Solution(q_des, self._nothing_left, self._nothing_left, True)
        q_des, errors, is_converged = self._solver.solve(*target, q_prev, q_cmd, dt)
        return Solution(q_des, errors[0], errors[1], is_converged)

    @cached_property
    def _searchers(self) -> list[IkSolver]:
        """What ``solve_start`` needs where poses are absolute: made when warming up."""
        margin = self._position_margin
        return [
            IkSolver(limb, self._ik, position_margin=margin) for limb in self._limbs
        ]

    def solve_start(self, sample: SampleView, q_cmd: Vec) -> Vec:
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
        target = self.retarget(sample, self.anchor(sample, q_cmd))
        q = np.where(np.isfinite(target.q), target.q, q_cmd)
        for i, searcher in enumerate(self._searchers):
            if target.is_asked[i]:
                limb, T_base_eef = searcher.limb, pin.SE3(target.T[i])
                found = searcher.solve_global(T_base_eef, limb.take(q_cmd))
                q[limb.indices] = found.q
        return q

    def fill_rows(
        self, sample: SampleView, target: Target, raw: Vec, rows: Vec
    ) -> None:
        """Write the leader's usable poses and the target's, both shape (m, 7)."""
        if sample.valid:
            take_poses(sample.pose, self._leader_rows, raw)
        for i in np.flatnonzero(target.is_asked):
            write_pose(target.T[i], rows[i])

    def find_pose(self, sample: SampleView, limb: int) -> pin.SE3 | None:
        """Return the leader's usable pose, as given, that drives a follower limb."""
        row, T = self._leader_rows[limb], pin.SE3.Identity()
        R, p = np.empty((3, 3)), np.empty(3)
        if row < 0 or not sample.valid or not read_pose(sample.pose[row], R, p):
            return None
        T.rotation, T.translation = R, p
        return T


class JointMap(NamedTuple):
    """Where each joint's position comes from: ``gain · clip(number) + offset``.

    Attributes:
        source: Place among ``SampleView.numbers``; -1: the joint holds, shape (n,).
        line: Gain, offset, and the bounds of the number, shape (n, 4).
    """

    source: Ints
    line: Vec

    @classmethod
    def make(cls, robot: RobotModel, leader: LeaderInfo, pairing: Pairing) -> JointMap:
        """Collect the joints of a joint map, and the grippers."""
        n, k = len(robot.joint_names), len(leader.limbs)
        width = max((len(names) for names in leader.joint_names.values()), default=0)
        source = np.full(n, -1, dtype=np.int64)
        line = np.tile([1.0, 0.0, -np.inf, np.inf], (n, 1))
        for name, leader_limb in pairing.limbs.items():
            limb = robot.limbs[name]
            sources = pairing.joints.get(name, ())
            for joint, given in zip(limb.indices, sources, strict=False):
                if given is not None:
                    row = leader.limbs.index(given.leader_limb)
                    source[joint] = 7 * k + width * row + given.index
                    line[joint, :2] = given.gain, given.offset
            if limb.gripper is not None:
                joint, closed = (
                    robot.joint_names.index(limb.gripper.joint),
                    limb.gripper.closed,
                )
                source[joint] = (7 + width) * k + leader.limbs.index(leader_limb)
                line[joint] = limb.gripper.open - closed, closed, 0.0, 1.0
        return cls(source, line)


def _find_rows(robot: RobotModel, leader: LeaderInfo, pairing: Pairing) -> Ints:
    """Return the leader's limb that drives each limb of the robot; -1: none."""
    rows = {name: leader.limbs.index(limb) for name, limb in pairing.limbs.items()}
    return np.array([rows.get(name, -1) for name in robot.limbs], dtype=np.int64)


def _check_mobility(robot: RobotModel, ik: IkSettings) -> None:
    """Refuse mobilities of joints that do not exist."""
    joints = [j for limb in robot.limbs.values() for j in limb.joint_names]
    problems = [
        expect_one_of("ik.mobility", f"a limb joint of '{robot.name}'", name, joints)
        for name in ik.mobility
        if name not in joints
    ]
    if problems:
        raise ConfigError(problems)


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
