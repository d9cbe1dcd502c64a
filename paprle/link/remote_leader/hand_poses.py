"""Hand poses of a leader with joints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pinocchio as pin

from paprle.contracts.types import LeaderInfo, LeaderSample, LimbCommand, Vec
from paprle.ipc.records import SampleView, make_layout, pack_sample, row_to_pose
from paprle.retargeting.leader_arms import ArmPoses, load_arms
from paprle.robot.empty_robot import NOBODY

Placing = Callable[[LeaderSample], LeaderSample]


def make_placing(info: LeaderInfo) -> Placing:
    """Return a function that adds arm poses."""
    if not info.arms:
        return lambda sample: sample
    arms, layout = ArmPoses(info, load_arms(info)), make_layout(NOBODY, info)
    view = SampleView(layout)

    def place(sample: LeaderSample) -> LeaderSample:
        view.update(pack_sample(layout, sample))
        arms.place(view)
        limbs = {
            limb: LimbCommand(
                T_leader_base_leader_eef=_read_pose(view.pose[row]),
                opening=sample.limbs[limb].opening if limb in sample.limbs else None,
            )
            for row, limb in enumerate(info.limbs)
        }
        return replace(sample, limbs=limbs)

    return place


def _read_pose(row: Vec) -> pin.SE3 | None:
    return row_to_pose(row) if np.isfinite(row).all() else None
