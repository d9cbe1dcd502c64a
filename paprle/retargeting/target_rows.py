"""Poses of leaders and targets for recordings and views."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from paprle.contracts.types import Vec
from paprle.ipc.records import SampleView
from paprle.retargeting.mapping import copy_poses, map_poses
from paprle.retargeting.rules.base import LimbRule
from paprle.retargeting.rules.joints import JointsRule
from paprle.retargeting.rules.poses import PoseRule
from paprle.retargeting.state import RetargetState, Target, make_target
from paprle.robot import RobotModel
from paprle.robot.eefs import Eefs
from paprle.robot.pose_rows import write_pose


class TargetRows:
    """Rows (x, y, z, qx, qy, qz, qw) by follower limb, shape (m, 7), or NaN.

    Attributes:
        target: T_base_eef; of joints or axes, the resulting pose.
        given: Of the newest sample alone; NaN if the same.
    """

    def __init__(
        self, robot: RobotModel, rules: Iterable[LimbRule[Any]], max_travel: float
    ) -> None:
        rules = list(rules)
        self._has_poses = any(not isinstance(rule, JointsRule) for rule in rules)
        self._has_others = any(not isinstance(rule, PoseRule) for rule in rules)
        self._eefs, self._max_travel = Eefs(robot), max_travel
        self._given = make_target(len(robot.limbs), len(robot.joint_names))
        self.raw, self.target, self.given = np.full((3, len(robot.limbs), 7), np.nan)

    def clear(self) -> None:
        """Forget all poses."""
        for rows in (self.raw, self.target, self.given):
            rows.fill(np.nan)

    def fill(
        self, sample: SampleView, state: RetargetState, target: Target, q_des: Vec
    ) -> None:
        """Write leader poses and targets; ``q_des`` has shape (n,)."""
        if sample.valid:
            copy_poses(sample.pose, state.driver, self.raw)
        if self._has_others:
            is_other = (state.driver >= 0) & (state.pose_rows < 0)
            self._eefs.place(q_des, self.target)
            self.target[~is_other] = np.nan
        for i in np.flatnonzero(target.is_asked):
            write_pose(target.T[i], self.target[i])

    def fill_given(self, sample: SampleView, state: RetargetState) -> None:
        """Write targets of the newest, unfiltered sample."""
        if not (sample.valid and self._has_poses):
            return
        given = self._given
        given.is_asked.fill(False)
        map_poses(
            sample.pose,
            state.pose_rows,
            *state.anchors,
            self._max_travel,
            given.T,
            given.is_asked,
            given.is_far,
        )
        for i in np.flatnonzero(given.is_asked):
            write_pose(given.T[i], self.given[i])
