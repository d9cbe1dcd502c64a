"""Robots of two arms, and followers of theirs."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
from pydantic import TypeAdapter

from paprle.config.parts import make_parts_class
from paprle.contracts.types import GripperInfo, LimbInfo
from paprle.followers.mix.config import MixConfig
from paprle.followers.mix.follower import MixFollower
from paprle.testing import ManualClock
from paprle.testing.robots import make_robot_info
from paprle_lab.onboarding.joined.several_arms import read_arms, write_several

ARM = {"limb": "arm", "urdf": "nowhere.urdf", "env": "shaky", "type": "shaky"}


def make_robot():
    """Return a robot of two arms: three joints, and two with a gripper."""
    left = [f"left_joint{k}" for k in range(3)]
    right = [f"right_joint{k}" for k in range(2)]
    gripper = GripperInfo(joint="right_finger", closed=0.0, open=1.0)
    limbs = [
        LimbInfo(
            name=name,
            base_link=f"{name}_base",
            eef_link=f"{name}_eef",
            joint_names=tuple(joints),
            gripper=gripper if name == "right" else None,
        )
        for name, joints in (("left", left), ("right", right))
    ]
    names = (*left, *right, "right_finger")
    lower = np.arange(-6.0, 0.0) / 2.0
    info = make_robot_info(6, q_min=lower, q_max=2.0 - lower, home=lower / 4.0)
    return replace(
        info,
        joint_names=names,
        limbs=tuple(limbs),
        ignored=(("left_a", "left_b"), ("left_a", "right_b")),
        sliding=("right_finger",),
    )


def make_config(left=None, right=None, rate=None):
    """Return the settings of two arms; None in a value's place leaves the arm out."""
    tree = {
        limb: {**ARM, "robot": f"{limb}_arm", **(own or {})}
        for limb, own in (("left", left), ("right", right))
        if own != "none"
    }
    problems = []
    cls = make_parts_class(MixConfig, tree, problems)
    assert not problems
    values = json.dumps({"rate": rate, **tree})
    return TypeAdapter(cls).validate_json(values)


def make_follower(left=None, right=None, robot=None, clock=None):
    """Return the closed follower of two shaky arms."""
    config = make_config(left, right)
    return MixFollower(config, robot or make_robot(), clock or ManualClock())


def describe(folder, *words, name="duo", **options):
    """Write a follower of arms such as ``ur5e@left``; return its YAML's path."""
    write_several(read_arms(words), folder / "follower", name, **options)
    return folder / f"follower/{name}.yaml"
