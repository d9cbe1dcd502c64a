"""Robots, leaders and samples to try retargeting with."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import yaml
from hypothesis import settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from paprle.contracts.settings.core import RobotSettings
from paprle.contracts.settings.retarget import RetargetSettings
from paprle.contracts.types import LeaderInfo, LeaderSample, LimbCommand
from paprle.ipc.records import SampleView, make_layout, pack_sample
from paprle.retargeting.retarget import Retargeting
from paprle.robot import RobotModel

ROOT = Path(__file__).resolve().parents[3]
ROBOTS = ["piper", "papras_7dof_2arm", "g1"]
ALL = [*ROBOTS, "ur5e", "open_manipulator_x", "so101"]
HAND = LeaderInfo(limbs=("hand",), has_gripper=True)

seeds = st.integers(0, 2**32 - 1)
some = settings(max_examples=30, deadline=None)


@cache
def load_robot(name: str) -> RobotModel:
    text = json.dumps(
        yaml.safe_load((ROOT / f"configs/follower/{name}.yaml").read_text())
    )
    return RobotModel.from_settings(
        TypeAdapter(RobotSettings).validate_json(text), name, ROOT
    )


def make(robot, leader=HAND, ik=None, **keys) -> Retargeting:
    robot = load_robot(robot) if isinstance(robot, str) else robot
    return Retargeting(robot, leader, RetargetSettings(**keys), ik_settings=ik)


def view_of(leader, sample) -> SampleView:
    layout = make_layout(load_robot("piper").info, leader)
    view = SampleView(layout)
    view.update(pack_sample(layout, sample))
    return view


def pose_sample(T=None, opening=None, limb="hand", **keys) -> SampleView:
    command = LimbCommand(T_leader_base_leader_eef=T, opening=opening)
    sample = LeaderSample(stamp_ns=0, seq=0, limbs={limb: command}, **keys)
    return view_of(HAND, sample)


def row_sample(*row) -> SampleView:
    view = pose_sample()
    view.pose[0] = row
    return view


def joint_sample(leader, **q_by_limb) -> SampleView:
    limbs = {name: LimbCommand(q=np.array(q)) for name, q in q_by_limb.items()}
    return view_of(leader, LeaderSample(stamp_ns=0, seq=0, limbs=limbs))


def follow(retargeting, sample, q):
    """Where a leader that is just being engaged asks the robot to be."""
    target = retargeting.retarget(sample, retargeting.anchor(sample, q))
    return retargeting.solve(target, q, q)


def every_limb(robot, leader="hand"):
    """One hand on every limb, which has to be asked for."""
    robot = load_robot(robot) if isinstance(robot, str) else robot
    return dict.fromkeys(robot.limbs, leader)


def anchor_at(retargeting, sample, poses):
    """The state in which the command's eefs stand at these poses."""
    place, n = retargeting._place, len(retargeting._robot.joint_names)
    retargeting._place = lambda _: np.array([T.homogeneous for T in poses])
    try:
        return retargeting.anchor(sample, np.zeros(n))
    finally:
        retargeting._place = place


def pose_in(target, i) -> pin.SE3:
    return pin.SE3(target.T[i])


def random_pose(rng, size=1.0) -> pin.SE3:
    w = rng.normal(size=3)
    turn = w / np.linalg.norm(w) * min(size, 3.0) * rng.random()
    return pin.SE3(pin.exp3(turn), size * rng.normal(size=3))


def draw_command(robot: RobotModel, rng):
    q = robot.home.copy()
    for limb in robot.limbs.values():
        low, high = np.maximum(limb.q_min, -3.0), np.minimum(limb.q_max, 3.0)
        q[limb.indices] = low + (high - low) * rng.uniform(0.05, 0.95, len(low))
    return q


def assert_same_pose(T_a, T_b, atol=1e-12):
    np.testing.assert_allclose(T_a.homogeneous, T_b.homogeneous, atol=atol)


def move(retargeting, T_0, T_l0, T_l) -> pin.SE3:
    state = anchor_at(retargeting, pose_sample(T_l0), [T_0])
    return pose_in(retargeting.retarget(pose_sample(T_l), state), 0)
