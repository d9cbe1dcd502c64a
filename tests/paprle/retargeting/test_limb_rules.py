"""One rule for each limb: what drives it, by which rule, and with which IK."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from retargeting import load_robot

from paprle.contracts.errors import ConfigError
from paprle.contracts.kit.leader_group import merge_leaders
from paprle.contracts.settings.core import IkSettings, LimbIkSettings
from paprle.contracts.settings.retarget import LimbRuleSettings, RetargetSettings
from paprle.contracts.types import LeaderInfo, LeaderSample, LimbCommand
from paprle.ipc.records import SampleView, make_layout, pack_sample
from paprle.retargeting.retarget import Retargeting
from paprle.retargeting.rules.base import RuleInputs

ROBOT = load_robot("papras_7dof_2arm")
PHONE = LeaderInfo(limbs=("hand",))
POLICY = LeaderInfo(limbs=("left", "right"), is_human=False)
LIMBS = {
    "left": LimbRuleSettings(rule="joints", from_="twin.arm"),
    "right": LimbRuleSettings(
        rule="relative", from_=("phone.hand", "policy.right"), scale=0.5
    ),
}


def hand(y=0.0):
    return LimbCommand(T_leader_base_leader_eef=pin.SE3(np.eye(3), np.array([0, y, 0])))


def named_like(limb):
    names = {"arm": ROBOT.limbs[limb].joint_names}
    return LeaderInfo(limbs=("arm",), emits="joints", joint_names=names)


RECORDED = replace(named_like("left"), robot=ROBOT.name, is_human=False)
GROUP = merge_leaders({"twin": named_like("left"), "phone": PHONE, "policy": POLICY})


def make_group(limbs=LIMBS, ik=None):
    return Retargeting(ROBOT, GROUP, RetargetSettings(limbs=limbs), ik_settings=ik)


def sample_of(**commands):
    layout = make_layout(ROBOT.info, GROUP)
    made = SampleView(layout)
    made.update(pack_sample(layout, LeaderSample(stamp_ns=5, seq=1, limbs=commands)))
    return made


def test_each_limb_follows_its_own_rule():
    retargeting = make_group()
    q = np.linspace(0.1, 0.3, 7)
    twin, phone = LimbCommand(q=q), hand()

    state = retargeting.anchor(
        sample_of(**{"twin.arm": twin, "phone.hand": phone}), ROBOT.home
    )
    target = retargeting.retarget(
        sample_of(**{"twin.arm": twin, "phone.hand": hand(0.1)}), state
    )

    right = ROBOT.limbs["right"]
    np.testing.assert_array_equal(target.q[ROBOT.limbs["left"].indices], q)
    assert target.is_asked.tolist() == [False, True]
    moved = target.T[1][:3, 3] - right.fk(right.take(ROBOT.home)).translation
    np.testing.assert_allclose(moved, [0.0, 0.05, 0.0], atol=1e-12)
    assert retargeting.describe() == (
        "twin.arm drives left, joint by joint; phone.hand or policy.right drives "
        "right, relative, scale 0.5, world axes"
    )


def test_a_limb_that_passes_to_another_source_begins_where_its_command_stands():
    retargeting, q_cmd = make_group(), ROBOT.home + 0.05
    sample = sample_of(**{"phone.hand": hand(0.3), "policy.right": hand(-0.2)})
    state = retargeting.anchor(sample, ROBOT.home)

    passed = retargeting.engage(state, {1: 1}, sample, q_cmd)
    target = retargeting.retarget(sample, passed)

    right = ROBOT.limbs["right"]
    T = right.fk(right.take(q_cmd)).homogeneous
    np.testing.assert_allclose(target.T[1], T, atol=1e-12)
    assert passed.driver.tolist() == [0, 3]
    assert state.driver.tolist() == [0, 1], "the state before stays as it was"


def test_a_limb_that_is_let_go_asks_for_nothing():
    retargeting = make_group()
    sample = sample_of(**{"twin.arm": LimbCommand(q=np.ones(7)), "phone.hand": hand()})

    state = retargeting.engage(
        retargeting.anchor(sample, ROBOT.home), {0: -1, 1: -1}, sample, ROBOT.home
    )
    target = retargeting.retarget(sample, state)

    assert np.isnan(target.q).all()
    assert not target.is_asked.any()


@pytest.mark.parametrize("limb", [0, 1])
def test_mapping_all_limbs_at_once_is_what_each_rule_says(limb):
    retargeting = make_group()
    commands = {"twin.arm": LimbCommand(q=np.full(7, 0.2)), "phone.hand": hand(0.07)}
    first = sample_of(**commands | {"phone.hand": hand()})
    state, sample = retargeting.anchor(first, ROBOT.home), sample_of(**commands)
    slot, T = retargeting.slots[limb][0], retargeting._place(ROBOT.home)

    begun = slot.rule.begin(RuleInputs(limb, first, slot.row, ROBOT.home, T, T, {}, {}))
    inputs = RuleInputs(limb, sample, slot.row, ROBOT.home, T, T, {}, {})
    alone, _ = slot.rule.apply(inputs, begun)
    together = retargeting.retarget(sample, state)

    if alone.q is not None:
        own = list(ROBOT.limbs.values())[limb].indices
        np.testing.assert_array_equal(alone.q, together.q[own])
    else:
        np.testing.assert_array_equal(alone.T_base_eef, together.T[limb])


def test_leaders_named_as_limbs_drive_them_without_a_word():
    group = merge_leaders({"right": PHONE, "left": PHONE})

    made = Retargeting(ROBOT, group, RetargetSettings())

    drivers = {k: p.sources[0].leader_limb for k, p in made.pairing.limbs.items()}
    assert drivers == {"left": "left.hand", "right": "right.hand"}


@pytest.mark.parametrize(
    ("limbs", "problem"),
    [
        ({"lfet": LimbRuleSettings()}, "did you mean 'left'"),
        ({"left": LimbRuleSettings(from_="phone.hnad")}, "did you mean 'phone.hand'"),
        ({"left": LimbRuleSettings(rule="joints", from_="phone")}, "emits joints"),
    ],
)
def test_rules_that_do_not_fit_are_refused(limbs, problem):
    with pytest.raises(ConfigError) as error:
        make_group(limbs)

    assert any(problem in line for line in error.value.problems), error.value.problems


def test_each_source_of_a_limb_drives_it_by_the_rule_that_fits_it():
    pad = LeaderInfo(limbs=("pad",), emits="axes", axes={"pad": ("x", "y", "z")})
    group = merge_leaders({"pad": pad, "twin": RECORDED, "phone": PHONE})
    rules = {"left": LimbRuleSettings(from_=("pad", "twin", "phone"))}

    made = Retargeting(ROBOT, group, RetargetSettings(limbs=rules))

    kinds = [type(slot.rule).__name__ for slot in made.slots[0]]
    assert kinds == ["AxesRule", "JointsRule", "RelativeRule"]
    assert made.pairing.rules == {"axes", "joints", "relative"}
    assert made.needs_alignment, "its joints may have to be met"
    assert made.describe() == (
        "pad.pad drives left, by axes (x y z | roll pitch yaw | gripper), scale 1, "
        "world axes, or twin.arm: joint by joint, or phone.hand: relative, scale 1, "
        "world axes, right holds"
    )


def test_the_start_of_joints_counts_only_while_they_drive():
    pad = LeaderInfo(limbs=("pad",), emits="axes", axes={"pad": ("x", "y", "z")})
    group = merge_leaders({"pad": pad, "twin": RECORDED})
    rules = {"left": LimbRuleSettings(from_=("pad", "twin"))}
    made = Retargeting(ROBOT, group, RetargetSettings(limbs=rules))
    layout, view = make_layout(ROBOT.info, group), None
    view = SampleView(layout)
    commands = {
        "pad.pad": LimbCommand(axes=np.zeros(3)),
        "twin.arm": LimbCommand(q=np.full(7, 0.3)),
    }
    sample = LeaderSample(stamp_ns=5, seq=1, limbs=commands)
    view.update(pack_sample(layout, sample))
    own = ROBOT.limbs["left"].indices

    by_pad = made.solve_start(view, ROBOT.home, {0: 0, 1: -1})
    by_twin = made.solve_start(view, ROBOT.home, {0: 1, 1: -1})

    np.testing.assert_array_equal(by_pad, ROBOT.home)
    np.testing.assert_allclose(by_twin[own], 0.3)


def test_a_limb_may_have_an_ik_of_its_own():
    ik = IkSettings(limbs={"right": LimbIkSettings(free_axis="z", max_step=0.01)})

    assert ik.of_limb("left") == ik
    assert ik.of_limb("right").free_axis == "z"
    turned = make_group({"right": LIMBS["right"]}, ik)
    plain = make_group({"right": LIMBS["right"]})
    first, last = sample_of(**{"phone.hand": hand()}), hand()
    last.T_leader_base_leader_eef.rotation = pin.exp3(np.array([0.0, 0.0, 0.4]))
    left = [
        made.solve(
            made.retarget(
                sample_of(**{"phone.hand": last}), made.anchor(first, ROBOT.home)
            ),
            ROBOT.home,
            ROBOT.home,
        ).err_rot[1]
        for made in (turned, plain)
    ]
    assert left[0] != left[1]
    with pytest.raises(ConfigError, match=r"ik\.limbs"):
        make_group(ik=IkSettings(limbs={"rihgt": LimbIkSettings()}))
