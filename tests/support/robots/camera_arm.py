"""A UR5e and a camera arm, and what is said to them, for tries without a session."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
from retargeting import load_robot

from paprle.contracts.session_view import Advice, make_advice_dtype
from paprle.contracts.settings.retarget import (
    LimbRuleSettings,
    LookSettings,
    RetargetSettings,
)
from paprle.contracts.types import LeaderInfo, LeaderSample, LimbCommand
from paprle.ipc.records import SampleView, make_layout, pack_sample
from paprle.retargeting.retarget import Retargeting
from paprle.retargeting.rules.base import RuleInputs

ROBOT = load_robot("ur5e_camera")
HAND = LeaderInfo(limbs=("hand",), is_human=True)
STICK = LeaderInfo(limbs=("hand",), emits="axes", axes={"hand": ("x", "z")})
ARM, CAMERA = 0, 1
ADVICE = make_advice_dtype(("p_world_cam", "f8", (3,)))
LOOK = LimbRuleSettings(rule="look_at", of="arm", advice="viewpoint")


def pair(camera=LOOK, arm=None, cameras=None, leader=HAND):
    """The retargeting of a hand that drives the arm, and of a camera that watches."""
    arm = arm or LimbRuleSettings(from_="hand", alignment="view")
    settings = RetargetSettings(limbs={"arm": arm, "camera": camera})
    return Retargeting(ROBOT, leader, settings, cameras=cameras)


def with_motion(**motion):
    return LimbRuleSettings(
        rule="look_at", of="arm", advice="viewpoint", motion=LookSettings(**motion)
    )


@cache
def _layout_of(emits):
    """Of a hand that gives poses, or of a stick of two axes."""
    return make_layout(ROBOT.info, HAND if emits == "pose" else STICK)


def sample_of(T=None, stamp_ns=0, leader=HAND):
    command = LimbCommand(T_leader_base_leader_eef=T or pin.SE3.Identity())
    layout = _layout_of(leader.emits)
    view = SampleView(layout)
    sample = LeaderSample(stamp_ns=stamp_ns, seq=1, limbs={"hand": command})
    view.update(pack_sample(layout, sample))
    return view


def advise(p, age=0.0, valid=True):
    record = np.zeros((), dtype=ADVICE)
    record["p_world_cam"], record["valid"] = p, valid
    return {"viewpoint": Advice(record, age)}


def place(q):
    """T_base_eef of both limbs."""
    return np.array(
        [limb.fk(limb.take(q)).homogeneous for limb in ROBOT.limbs.values()]
    )


def inputs_of(limb, sample, T_base_eef, advice=None):
    return RuleInputs(
        limb, sample, 0, ROBOT.home, T_base_eef, T_base_eef, advice or {}, {}
    )
