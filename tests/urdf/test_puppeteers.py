"""Arms of leaders, ``urdf/puppeteer_*``: built as their followers, able to move."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from pydantic import TypeAdapter
from shared_data import find_shared

from paprle.contracts.settings.core import LimbSettings, RobotSettings
from paprle.retargeting.leader_arms import find_difference
from paprle.robot import RobotModel
from paprle.robot.chain import Limb

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
# Puppeteer, follower, its limb.
PAIRS = {
    "papras_7dof": ("papras_7dof", "arm"),
    "papras_6dof": ("papras_6dof", "arm"),
    "piper": ("piper", "arm"),
    "ur5": ("ur5e", "arm"),
    "omy": ("openmanipulator_y", "arm"),
    "g1_left_arm": ("g1", "left_arm"),
    "g1_right_arm": ("g1", "right_arm"),
    "g1_left_leg": ("g1", "left_leg"),
    "g1_right_leg": ("g1", "right_leg"),
}
# Published file, prefix, base, its turn about z against ours, signs and zeros of its
# joints: theirs = sign · ours + zero.
TURN = np.pi / 2
PUBLISHED = {
    "papras_7dof": (
        "papras_7dof_leader.urdf", "robot1/", "base_link", np.pi,
        (1, 1, 1, 1, 1, 1, 1), (0, 0, 0, 0, 0, 0, 0),
    ),
    "ur5": (
        "ur5_leader.urdf", "robot1/", "base_link", np.pi,
        (-1, -1, 1, 1, -1, 1), (0, -TURN, 0, -TURN, TURN, 0),
    ),
    "omy": (
        "open_manipulator_y_leader.urdf", "", "link0", 0.0,
        (1, 1, 1, 1, 1, 1), (0, 0, 0, 0, 0, 0),
    ),
}  # fmt: skip


def path_of(name: str) -> Path:
    return ROOT / f"urdf/puppeteer_{name}/robot.urdf"


@cache
def model_of(name: str) -> pin.Model:
    return pin.buildModelFromUrdf(str(path_of(name)))


@cache
def arm_of(name: str) -> Limb:
    joints = tuple(n for n in model_of(name).names[1:] if n != "gripper")
    settings = LimbSettings(base_link="base_link", eef_link="eef", joints=joints)
    return RobotModel.from_urdf(path_of(name), {"arm": settings}).limbs["arm"]


@cache
def robot_of(name: str) -> RobotModel:
    text = (ROOT / "configs/follower" / f"{name}.yaml").read_text(encoding="utf-8")
    # JSON, since strict validation takes lists for tuples only from there.
    settings = TypeAdapter(RobotSettings).validate_json(
        json.dumps(yaml.safe_load(text))
    )
    return RobotModel.from_settings(settings, name, ROOT)


def limb_of(name: str) -> Limb:
    follower, limb = PAIRS[name]
    return robot_of(follower).limbs[limb]


def sample(name: str, seed: int) -> np.ndarray:
    arm = arm_of(name)
    return np.random.default_rng(seed).uniform(arm.q_min, arm.q_max)


def test_every_puppeteer_has_a_follower() -> None:
    folders = {path.name for path in (ROOT / "urdf").glob("puppeteer_*")}

    assert folders == {f"puppeteer_{name}" for name in PAIRS}


@pytest.mark.parametrize("name", PAIRS)
def test_joints_are_counted_from_the_base(name: str) -> None:
    joints = arm_of(name).joint_names

    assert joints == tuple(f"joint{i + 1}" for i in range(len(joints)))


@pytest.mark.parametrize("name", PAIRS)
def test_the_puppeteers_range_is_within_the_follower_s_and_within_one_turn(
    name: str,
) -> None:
    arm, limb = arm_of(name), limb_of(name)

    assert np.all(arm.q_min >= limb.q_min - 1e-3)
    assert np.all(arm.q_max <= limb.q_max + 1e-3)
    assert np.all(arm.q_max - arm.q_min < 2 * np.pi)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("seed", range(5))
def test_equal_joints_turn_both_hands_alike(name: str, seed: int) -> None:
    q = sample(name, seed)

    R_leader, R_follower = (
        limb.fk(q).rotation for limb in (arm_of(name), limb_of(name))
    )

    # 2e-3: published files write 1.57 for π/2, and G1's axes are 0.02° off.
    assert np.linalg.norm(pin.log3(R_leader.T @ R_follower)) < 2e-3


@pytest.mark.parametrize("name", PAIRS)
def test_the_puppeteer_is_built_as_its_follower(name: str) -> None:
    assert find_difference(arm_of(name), limb_of(name)) == ""


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("ur5", "papras_7dof"),
        ("omy", "papras_7dof"),
        ("ur5", "omy"),
        ("ur5", "papras_6dof"),
        ("omy", "piper"),
        ("papras_6dof", "piper"),
        ("g1_left_arm", "g1_right_arm"),
        ("g1_left_arm", "papras_7dof"),
    ],
)
def test_the_puppeteer_is_not_built_as_another(name: str, other: str) -> None:
    assert find_difference(arm_of(name), limb_of(other)) != ""


@pytest.mark.parametrize("name", PAIRS)
def test_servos_carry_the_arm_with_room_for_feedback(name: str) -> None:
    model = model_of(name)
    data, rng = model.createData(), np.random.default_rng(0)
    low, high = model.lowerPositionLimit, model.upperPositionLimit

    tau = np.max(
        [
            np.abs(pin.computeGeneralizedGravity(model, data, rng.uniform(low, high)))
            for _ in range(500)
        ],
        axis=0,
    )

    assert np.all(tau < 0.65 * model.effortLimit)
    assert 0.3 < sum(inertia.mass for inertia in model.inertias[1:]) < 1.2


@pytest.mark.parametrize("name", [n for n in PAIRS if "leg" not in n])
def test_the_puppeteers_trigger_turns_at_the_hand_beyond_the_last_joint(
    name: str,
) -> None:
    model = model_of(name)
    trigger = model.joints[model.getJointId("gripper")]

    assert model.names[model.parents[trigger.id]] == arm_of(name).joint_names[-1]
    assert model.lowerPositionLimit[trigger.idx_q] == 0.0
    assert model.upperPositionLimit[trigger.idx_q] > 0.8


@pytest.mark.parametrize("name", PUBLISHED)
@pytest.mark.parametrize("seed", range(5))
def test_joints_are_where_the_published_ones_are(name: str, seed: int) -> None:
    file, prefix, base, turn, signs, zeros = PUBLISHED[name]
    path = find_shared(f"urdf/{file}")
    theirs, ours = pin.buildModelFromUrdf(str(path)), model_of(name)
    q = sample(name, seed)
    names = arm_of(name).joint_names

    axes, origins = find_lines(ours, "base_link", dict(zip(names, q, strict=True)))
    their_q = dict(zip([prefix + n for n in names], signs * q + zeros, strict=True))
    their_axes, their_origins = find_lines(theirs, prefix + base, their_q)

    R = pin.rpy.rpyToMatrix(0.0, 0.0, turn)
    # 2e-5 m: published angles are rounded, 1.5708 for π/2.
    np.testing.assert_allclose(origins, their_origins @ R.T, atol=2e-5)
    # 0.06: their joint 6 of the UR5 is tilted by 3°, ours is straight.
    tilted = np.array(signs)[:, None] * (their_axes @ R.T)
    np.testing.assert_allclose(axes, tilted, atol=0.06 if name == "ur5" else 1e-4)


def find_lines(
    model: pin.Model, base: str, q_by_joint: dict[str, float]
) -> tuple[np.ndarray, np.ndarray]:
    """Axes and origins of joints, in a link."""
    q, data = pin.neutral(model), model.createData()
    joints = [model.joints[model.getJointId(name)] for name in q_by_joint]
    for joint, value in zip(joints, q_by_joint.values(), strict=True):
        q[joint.idx_q] = value
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    T_base_0 = data.oMf[model.getFrameId(base)].inverse()
    axes = [T_base_0.rotation @ data.J[3:, joint.idx_v] for joint in joints]
    return np.array(axes), np.array(
        [(T_base_0 * data.oMi[j.id]).translation for j in joints]
    )
