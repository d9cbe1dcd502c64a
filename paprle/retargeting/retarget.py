"""Retargeting of leaders to a robot: one rule per limb, then the IK.

Anchors come from commands, not from the robot's state (``safety.md`` 0.1, S2).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pinocchio as pin

from paprle.contracts.errors import ConfigError
from paprle.contracts.images import CameraInfo
from paprle.contracts.session_view import Advice
from paprle.contracts.settings.core import IkSettings
from paprle.contracts.settings.retarget import RetargetSettings
from paprle.contracts.types import LeaderInfo, Vec
from paprle.contracts.validation.check import check_made
from paprle.ipc.records import SampleView
from paprle.kinematics import IkSolver
from paprle.kinematics.seed import choose_joints
from paprle.retargeting.camera_limb_solver import make_solver
from paprle.retargeting.describe import describe_pairing
from paprle.retargeting.joint_sources import expect_one_of
from paprle.retargeting.joint_turns import JointTurns
from paprle.retargeting.leader_arms import ArmPoses, load_arms
from paprle.retargeting.limb_sources import Slot, make_slots
from paprle.retargeting.mapping import map_joints, map_poses
from paprle.retargeting.pairing import Pairing, make_pairing
from paprle.retargeting.rules.base import LimbRule, RuleInputs
from paprle.retargeting.rules.joints import JointsRule
from paprle.retargeting.rules.poses import PoseRule
from paprle.retargeting.state import (
    Anchors,
    RetargetState,
    Solution,
    Target,
    make_idle_state,
    make_target,
)
from paprle.retargeting.target_rows import TargetRows
from paprle.robot import RobotModel
from paprle.robot.arrays import Ints

_NO_ADVICE: Mapping[str, Advice] = {}


class Retargeting:
    """Retargeting of leaders to one robot; its only memory is the IK's own motion."""

    def __init__(  # noqa: PLR0913 - all that a session has to pair
        self,
        robot: RobotModel,
        leader: LeaderInfo,
        settings: RetargetSettings,
        *,
        ik_settings: IkSettings | None = None,
        position_margin: float = 0.0,
        through: RobotModel | None = None,
        cameras: Mapping[str, CameraInfo] | None = None,
    ) -> None:
        """Pair leaders, seen as one, with a robot; ``position_margin`` is in [rad].

        Raises:
            ConfigError: With all problems.
        """
        ik = ik_settings or IkSettings()
        check_made(ik, "ik")
        _check_names(robot, ik)
        self.settings, self._leader = settings, leader
        self.placed: Mapping[str, Vec] = {}
        arms = load_arms(leader, through)
        self.pairing: Pairing = make_pairing(robot, leader, settings, arms)
        self.arm_poses = ArmPoses(leader, self.pairing.arms)
        self.slots = make_slots(robot, leader, settings, self.pairing, cameras or {})
        self.turns = JointTurns(robot, leader, self.slots)
        self._first = {i: 0 for i, slots in enumerate(self.slots) if slots}
        self._grippers = [slots[0].gripper if slots else -1 for slots in self.slots]
        self._robot, self._position_margin = robot, position_margin
        self._limbs = tuple(robot.limbs.values())
        self._solver, self.ik = make_solver(robot, ik, self.slots, position_margin)
        self._idle = make_idle_state(len(self._limbs), len(robot.joint_names))
        self._target = self.make_target()
        self._joints: Ints = np.concatenate([limb.indices for limb in self._limbs])
        self._ends: Ints = np.cumsum([len(limb.indices) for limb in self._limbs])
        self._nothing_left: Vec = np.full(len(self._limbs), np.nan)
        kinds = [slot.rule for slots in self.slots for slot in slots]
        self.has_poses = any(not isinstance(rule, JointsRule) for rule in kinds)
        self.rows = TargetRows(robot, kinds, settings.max_travel)

    def describe(self) -> str:
        """Return each limb's driver and rule in one line."""
        return describe_pairing(
            self._robot, self.pairing, self.settings, self.slots, self.ik
        )

    @property
    def needs_alignment(self) -> bool:
        """Whether the robot may have to align first."""
        rules = [slot.rule for slots in self.slots for slot in slots]
        return not all(rule.begins_at_command for rule in rules)

    def _begins_at_command(self, limb: int, choice: int) -> bool:
        if choice < 0 or not self.slots[limb]:
            return True
        return self.slots[limb][choice].rule.begins_at_command

    def anchor(self, sample: SampleView, q_cmd: Vec) -> RetargetState:
        """Engage every limb by its first source, from rest."""
        return self.engage(None, self._first, sample, q_cmd)

    def engage(
        self,
        state: RetargetState | None,
        choices: Mapping[int, int],
        sample: SampleView,
        q_cmd: Vec,
    ) -> RetargetState:
        """Return the state in which limbs begin anew or hold.

        ``state`` is None when idle; ``choices`` are sources among ``slots`` by limb, -1
        holds; ``q_cmd`` is at rest in these limbs.
        """
        if state is None:
            self._solver.reset()
            state = self._idle
        next_state = _copy(state)
        T_base_eef = self._place(q_cmd)
        for i, choice in choices.items():
            self._release(next_state, i)
            if choice >= 0:
                slot = self.slots[i][choice]
                here = (q_cmd, T_base_eef, T_base_eef, _NO_ADVICE, self.placed)
                inputs = RuleInputs(i, sample, slot.row, *here)
                _drive(next_state, i, slot, self._limbs[i].indices, inputs)
        return next_state

    def _place(self, q: Vec) -> Vec:
        return np.array(
            [limb.fk(limb.take(q)).homogeneous for limb in self._limbs]
        ).reshape(-1, 4, 4)

    def _release(self, state: RetargetState, i: int) -> None:
        state.driver[i] = state.pose_rows[i] = -1
        state.source[self._robot.list_joints(self._limbs[i].name)] = -1
        state.anchors.p_leader0[i] = np.nan
        state.own.pop(i, None)

    def slow(self, limb: int, share: float) -> None:
        """Limit a posed limb to a share of its speed limits."""
        self._solver.slow(limb, share)

    def retarget(
        self,
        sample: SampleView,
        state: RetargetState,
        q_cmd: Vec | None = None,
        advice: Mapping[str, Advice] = _NO_ADVICE,
        q_des: Vec | None = None,
    ) -> Target:
        """Map a sample to the robot's target; never raises.

        Limbs missing or not finite hold. ``q_des`` is the last solution, ``q_cmd`` if
        None, shape (n,), [rad].

        Returns:
            The target, overwritten by the next call.
        """
        if not sample.valid:
            return self.make_target()
        target = self._target
        map_joints(sample.numbers, state.source, state.line, target.q)
        if not self.has_poses:
            return target
        map_poses(
            sample.pose,
            state.pose_rows,
            *state.anchors,
            self.settings.max_travel,
            target.T,
            target.is_asked,
            target.is_far,
        )
        if state.own and q_cmd is not None:
            T_cmd = self._place(q_cmd)
            T_reached = T_cmd if q_des is None else self._place(q_des)
            self._apply_own(
                sample, state, (q_cmd, T_cmd, T_reached, advice, self.placed)
            )
        return target

    def _apply_own(
        self,
        sample: SampleView,
        state: RetargetState,
        here: tuple[Vec, Vec, Vec, Mapping[str, Advice], Mapping[str, Vec]],
    ) -> None:
        for i, (rule, before) in list(state.own.items()):
            inputs = RuleInputs(i, sample, int(state.driver[i]), *here)
            asked, after = rule.apply(inputs, before)
            state.own[i] = rule, after
            if asked.T_base_eef is not None:
                self._target.T[i], self._target.is_asked[i] = asked.T_base_eef, True
            if asked.q is not None:
                self._target.q[self._limbs[i].indices] = asked.q
            if math.isfinite(asked.opening) and (joint := self._grippers[i]) >= 0:
                gain, offset = state.line[joint, :2].tolist()
                self._target.q[joint] = gain * asked.opening + offset

    def make_target(self) -> Target:
        """Return a target that asks for nothing."""
        return make_target(len(self._limbs), len(self._robot.joint_names))

    def solve(
        self,
        target: Target,
        q_prev: Vec,
        q_cmd: Vec,
        dt: float | Vec = math.inf,
    ) -> Solution:
        """Return desired joints for a target; never raises on vectors of the robot.

        Limbs start from ``q_prev``, clamped to within 0.3 rad of the command. ``dt`` is
        the time since then, [s]; if inf, ``ik.max_step`` bounds motion.
        """
        if not self.has_poses:  # there is nothing for the IK to do
            q_des = np.empty(len(target.q))
            choose_joints(self._joints, self._ends, target.q, q_prev, q_cmd, q_des)
            return Solution(q_des, self._nothing_left, self._nothing_left, True)
        q_des, errors, is_converged = self._solver.solve(
            target.T, target.is_asked, target.q, q_prev, q_cmd, dt
        )
        return Solution(q_des, errors[0], errors[1], is_converged)

    @cached_property
    def _searchers(self) -> list[IkSolver]:
        margin = self._position_margin
        return [
            IkSolver(limb, self.ik.of_limb(limb.name), position_margin=margin)
            for limb in self._limbs
        ]

    def solve_start(
        self,
        sample: SampleView,
        q_cmd: Vec,
        choices: Mapping[int, int] | None = None,
    ) -> Vec:
        """Return joints from which leaders take over without a jump, (n,), [rad].

        They are the command without a target, or out of reach.
        """
        q, poses = self.find_start_poses(sample, q_cmd, choices)
        for searcher in self._searchers if poses else ():
            limb = searcher.limb
            if limb.name in poses:
                found = searcher.solve_global(poses[limb.name], limb.take(q_cmd))
                q[limb.indices] = found.q
        return q

    def find_start_poses(
        self,
        sample: SampleView,
        q_cmd: Vec,
        choices: Mapping[int, int] | None = None,
    ) -> tuple[Vec, dict[str, pin.SE3]]:
        """Return joints, (n,), [rad], and T_base_eef by limb for a start.

        Poses are of limbs that do not begin at the command.
        """
        if not self.needs_alignment:
            return q_cmd.copy(), {}
        chosen = self._first if choices is None else choices
        target = self.retarget(sample, self.engage(None, chosen, sample, q_cmd))
        poses = {
            limb.name: pin.SE3(np.array(target.T[i]))
            for i, limb in enumerate(self._limbs)
            if target.is_asked[i] and not self._begins_at_command(i, chosen.get(i, -1))
        }
        return np.where(np.isfinite(target.q), target.q, q_cmd), poses

    def find_known_paths(self, sample: SampleView) -> dict[str, Vec]:
        """Return known paths of absolute poses by limb: [s] and T_base_eef, (k, 8)."""
        paths = {}
        for i, (limb, slots) in enumerate(zip(self._limbs, self.slots, strict=True)):
            if not slots or self._begins_at_command(i, 0):
                continue
            row = slots[0].row
            ahead = sample.ahead[row]
            known = ahead[np.isfinite(ahead).all(axis=1)]
            rows = self._leader.path.get(self._leader.limbs[row], known)
            if len(rows):
                paths[limb.name] = rows
        return paths


def _copy(state: RetargetState) -> RetargetState:
    return RetargetState(
        Anchors(*(values.copy() for values in state.anchors)),
        state.driver.copy(),
        state.pose_rows.copy(),
        state.source.copy(),
        state.line.copy(),
        dict(state.own),
    )


def _drive(
    state: RetargetState, i: int, slot: Slot, indices: Ints, inputs: RuleInputs
) -> None:
    rule: LimbRule[Any] = slot.rule
    state.driver[i] = slot.row
    if slot.gripper >= 0:
        state.source[slot.gripper] = slot.opening
        state.line[slot.gripper] = slot.gripper_line
    begun = rule.begin(inputs)
    if isinstance(rule, JointsRule):
        state.source[indices], state.line[indices] = rule.source, rule.line
    elif isinstance(rule, PoseRule):
        state.pose_rows[i] = slot.row
        for values, value in zip(state.anchors, begun, strict=True):
            values[i] = value
    else:
        state.own[i] = rule, begun


def _check_names(robot: RobotModel, ik: IkSettings) -> None:
    joints = [j for limb in robot.limbs.values() for j in limb.joint_names]
    problems = [
        expect_one_of("ik.mobility", f"a limb joint of '{robot.name}'", name, joints)
        for name in ik.mobility
        if name not in joints
    ]
    problems += [
        expect_one_of("ik.limbs", f"a limb of '{robot.name}'", name, robot.limbs)
        for name in ik.limbs
        if name not in robot.limbs
    ]
    if problems:
        raise ConfigError(problems)
