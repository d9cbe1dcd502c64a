"""A robot that stands for the leader's arm: its hand drives, at the leader's joints."""

from __future__ import annotations

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from puppeteer_step import PuppeteerStep
from retargeting import load_robot, view_of

from paprle.config import Resolved, resolve
from paprle.contracts.errors import ConfigError
from paprle.contracts.types import LeaderSample, LimbCommand
from paprle.haptics.haptics import make_haptics, make_laws
from paprle.haptics.inputs import sample_postures
from paprle.hosts.plan import make_plan, make_through
from paprle.retargeting.leader_arms import ArmPoses, load_arms

PAIR = "leader=puppeteer_ur5", "follower=papras_7dof"
WORDS = *PAIR, "env=kinematic"
THROUGH = "retarget.through=ur5e"


@pytest.fixture(scope="module")
def plan():
    return make_plan(resolve((*WORDS, THROUGH)))


def hand_at(leader, arms, q):
    commands = {"arm": LimbCommand(q=q)}
    view = view_of(leader, LeaderSample(stamp_ns=0, seq=0, limbs=commands))
    ArmPoses(leader, arms).place(view)
    return pin.XYZQUATToSE3(view.pose[0])


def test_the_stand_ins_hand_is_where_the_robots_would_be_at_the_leaders_joints(plan):
    leader, robot = plan.layout.leader, load_robot("ur5e").limbs["arm"]
    turn = pin.SE3(leader.arms["arm"].R_base, np.zeros(3))
    for q in np.random.default_rng(0).uniform(-1.5, 1.5, (5, 6)):
        T = turn * robot.fk(q)
        found = hand_at(leader, plan.retargeting.pairing.arms, q)

        assert pin.log6(T.actInv(found)).vector == pytest.approx(np.zeros(6), abs=1e-9)


def test_motion_grows_by_how_much_larger_the_robot_is(plan):
    leader, rng = plan.layout.leader, np.random.default_rng(1)
    ratios = []
    for q in rng.uniform(-1.5, 1.5, (20, 6)):
        moved = q + [0.0, 0.1, 0.1, 0.0, 0.0, 0.0]
        steps = [
            hand_at(leader, arms, moved).translation
            - hand_at(leader, arms, q).translation
            for arms in (plan.retargeting.pairing.arms, load_arms(leader))
        ]
        ratios.append(np.linalg.norm(steps[0]) / np.linalg.norm(steps[1]))
    (own,) = load_arms(leader).values()
    upper_arms = [
        np.linalg.norm(limb.model.jointPlacements[3].translation)
        for limb in (load_robot("ur5e").limbs["arm"], own)
    ]

    assert np.median(ratios) == pytest.approx(upper_arms[0] / upper_arms[1], rel=0.2)
    assert np.median(ratios) > 1.5


@pytest.mark.long
def test_the_stand_in_is_reported_and_stands_in_the_config(plan):
    assert "arm drives arm, relative (through ur5e)" in plan.describe()
    values = plan.resolved.to_dict()
    again = Resolved.from_dict(values)

    assert again == plan.resolved
    assert values["through"]["urdf"].endswith("urdf/ur5e/robot.urdf")
    assert values["sources"]["through.urdf"] == "configs/follower/ur5e.yaml"
    assert make_through(again).name == "ur5e"


def test_without_it_the_leader_stands_for_itself():
    resolved = resolve(WORDS)

    assert resolved.through is None
    assert make_through(resolved) is None
    assert "through" not in resolved.to_dict()


def test_a_follower_that_stays_pushes_back_through_the_robots_lever_arms(plan):
    """tau = J_robotᵀ F: against whatever the leader's joints did, by virtual work."""
    r, leader = plan.resolved, plan.layout.leader
    parts = r.feedback, plan.robot, leader, r.retarget, plan.layout
    haptics = make_haptics(*parts, make_through(r))
    (limb,) = haptics.limbs
    (law,) = [law.law for law in make_laws(r.feedback) if law.name == "task_tracking"]
    robot, rng = load_robot("ur5e").limbs["arm"], np.random.default_rng(2)
    for inputs in sample_postures(limb, haptics.joints, np.zeros(7), 1.0)[:10]:
        J, dq = robot.jacobian(inputs.q[:6]), rng.uniform(-0.01, 0.01, 6)
        stayed = dataclasses.replace(inputs, dx_gate=-J @ dq)
        tau, _ = law.compute(stayed, None)

        assert tau[:6] @ dq < 0.0
        assert np.allclose(inputs.J, J)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*WORDS, "retarget.through=ur5"), "'ur5' .command line.; did you mean 'ur5e'"),
        ((*WORDS, "retarget.through=papras_7dof"), "got 6 joints against 7; name the"),
        ((*WORDS, "retarget.through=piper"), "turn about different axes; name the"),
        ((*WORDS, "retarget.through=papras_7dof_2arm"), "one limb, .*got left, right"),
        ((*WORDS, THROUGH, "retarget.mode=joints"), "poses drive, got 'joints'"),
        (("leader=keyboard", *WORDS[1:], THROUGH), "with arms of its own, got one"),
        ((*WORDS, "retarget.through=3"), "retarget.through: unknown name '3'"),
    ],
)
def test_an_impossible_stand_in_for_a_leader_is_refused(words, message):
    with pytest.raises(ConfigError, match=message):
        make_plan(resolve(words))


def test_the_site_may_correct_the_robot_and_is_believed(tmp_path):
    """Its YAML below configs/site comes over the shipped one, as a follower's does."""
    files = {
        "leader/hand": "type: autopilot\n",
        "follower/small": "urdf: small.urdf\n",
        "follower/big": "urdf: big.urdf\nhold: {a: 0.1}\n",
        "site/follower/big": "hold: {a: 0.2}\n",
    }
    for name, text in files.items():
        path = tmp_path / f"configs/{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    words = "leader=hand", "follower=small", "env=kinematic", "retarget.through=big"
    resolved = resolve(words, tmp_path)

    assert resolved.through.urdf == str(tmp_path / "big.urdf")
    assert resolved.through.hold == {"a": 0.2}
    assert resolved.robot.urdf == str(tmp_path / "small.urdf")


@pytest.mark.long
def test_a_session_moves_as_the_robot_would_and_keeps_all_limits():
    session = PuppeteerStep(*PAIR, THROUGH)  # in world axes, neither base turned
    session.engage()
    follower, robot = session.robot.limbs["arm"], load_robot("ur5e").limbs["arm"]
    T_f0, T_r0 = follower.fk(follower.take(session.q_cmd)), robot.fk(session.q_truth)
    session.rig.play("sines")
    session.step(300)
    turned_f, turned_r = T_f0.rotation.T, T_r0.rotation.T
    T_f, T_r = follower.fk(follower.take(session.q_cmd)), robot.fk(session.q_truth)

    assert session.state == "ENGAGED"
    moved = T_r.translation - T_r0.translation
    assert np.linalg.norm(moved) > 0.2
    assert T_f.translation - T_f0.translation == pytest.approx(moved, abs=2e-3)
    assert T_f.rotation @ turned_f == pytest.approx(T_r.rotation @ turned_r, abs=2e-2)
    verdict = session.judge()
    assert verdict.is_ok, str(verdict)
