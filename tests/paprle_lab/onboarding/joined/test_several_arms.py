"""Described arms as one robot: kinematics, limits, homes, and what is refused."""

from __future__ import annotations

import json
import re

import numpy as np
import pinocchio as pin
import pytest
import yaml
from mixed_arms import describe
from small_arms import write_arm

from paprle.cli.app import main
from paprle.config import resolve
from paprle.config.folders import VARIABLE, Folder
from paprle.contracts.errors import ConfigError
from paprle.hosts.plan import make_robot
from paprle.recording.robot import read_recorded_urdf
from paprle.robot import RobotModel
from paprle.robot.urdf import read_urdf
from paprle_lab.calibration.recorded_touches import TouchedRobot
from paprle_lab.calibration.site_robot import place_base, store_robot
from paprle_lab.onboarding.joined.several_arms import read_arms
from paprle_lab.onboarding.joined.urdf import join_urdfs

PAIRS = {
    "network": ("ur5e_2f85@left", "xarm7@right"),
    "small": ("so101@left", "viperx300s@right"),
    "carried": ("openarm@one", "fr3@two"),
    "alike": ("ur3e@left", "ur3e@right"),
}
PLACES = {
    "left": pin.SE3(pin.rpy.rpyToMatrix(0.1, -0.2, 0.7), np.array([0.1, 0.6, 0.05])),
    "right": pin.SE3(pin.rpy.rpyToMatrix(0.0, 0.3, -2.0), np.array([0.2, -0.7, 0.3])),
}


def load_alone(name):
    words = ["leader=autopilot", f"follower={name}", "env=kinematic"]
    return make_robot(resolve(words))


def place(robot, link):
    """Return the pose of a link in its URDF's root, nothing moving between."""
    urdf = read_urdf(robot.urdf_path)
    T = pin.SE3.Identity()
    for joint in urdf.chain_to(link):
        assert not joint.is_movable
        T = T * joint.T_parent_joint
    return T


def in_root(robot, limb, q):
    """Return the eef of a limb in its URDF's root at all of a robot's positions."""
    one = robot.limbs[limb]
    return place(robot, one.base_link) * one.fk(one.take(q))


@pytest.mark.parametrize("words", PAIRS.values(), ids=PAIRS)
def test_each_joint_keeps_its_limits_and_its_home(words, tmp_path):
    robot = RobotModel.from_yaml(describe(tmp_path, *words))

    for word in words:
        name, _, limb = word.partition("@")
        alone = load_alone(name)
        ids = [robot.joint_names.index(f"{limb}_{one}") for one in alone.joint_names]
        for key in ("q_min", "q_max", "dq_max", "ddq_max", "dddq_max", "home"):
            own = getattr(alone.info, key)
            assert getattr(robot.info, key)[ids].tolist() == own.tolist(), key
        (own_limb,) = alone.info.limbs
        (here,) = (one for one in robot.info.limbs if one.name == limb)
        assert here.joint_names == tuple(f"{limb}_{j}" for j in own_limb.joint_names)
        assert (here.gripper is None) == (own_limb.gripper is None)
        if here.gripper and own_limb.gripper:
            assert here.gripper.open == own_limb.gripper.open
            assert here.gripper.closed == own_limb.gripper.closed
    assert len(robot.joint_names) == sum(
        len(load_alone(word.partition("@")[0]).joint_names) for word in words
    )


@pytest.mark.parametrize("words", PAIRS.values(), ids=PAIRS)
def test_nothing_touches_at_home_and_every_pair_of_an_arm_is_kept(words, tmp_path):
    robot = RobotModel.from_yaml(describe(tmp_path, *words))

    assert robot.find_collisions(robot.home) == []
    pairs = set(robot.make_collision_model({}).pairs)
    limbs = [word.partition("@")[2] for word in words]
    for word in words:
        name, _, limb = word.partition("@")
        own = load_alone(name).make_collision_model({}).pairs
        assert {(f"{limb}_{a}", f"{limb}_{b}") for a, b in own} <= pairs
    assert any(
        a.startswith(f"{limbs[0]}_") != b.startswith(f"{limbs[0]}_") for a, b in pairs
    ), "the arms are kept apart from each other"


def test_an_arm_reaches_as_alone_from_where_it_stands(tmp_path):
    words = PAIRS["network"]
    robot = RobotModel.from_yaml(describe(tmp_path, *words, places=PLACES))
    draws = np.random.default_rng(3)

    for word in words:
        name, _, limb = word.partition("@")
        alone = load_alone(name)
        ids = [robot.joint_names.index(f"{limb}_{one}") for one in alone.joint_names]
        (own_limb,) = alone.limbs
        for _ in range(20):
            q_alone = draws.uniform(alone.q_min, alone.q_max)
            q = draws.uniform(robot.q_min, robot.q_max)
            q[ids] = q_alone
            T = PLACES[limb] * in_root(alone, own_limb, q_alone)
            found = in_root(robot, limb, q)
            assert np.abs(found.homogeneous - T.homogeneous).max() < 1e-9


def test_soft_limits_copies_and_names_of_bodies_come_along(tmp_path):
    path = describe(tmp_path, "xarm7@left", "fr3@right")

    robot = RobotModel.from_yaml(path)
    urdf = read_urdf(robot.urdf_path)

    alone = load_alone("fr3")
    assert {one.joint for one in robot.info.mimics} >= {
        f"right_{one.joint}" for one in alone.info.mimics
    }
    own = {body.name for body in read_urdf(alone.urdf_path).primitives if body.name}
    here = {body.name for body in urdf.primitives if body.name}
    assert {f"right_{name}" for name in own} <= here
    assert set(robot.info.ignored) >= {
        (f"right_{a}", f"right_{b}") for a, b in alone.info.ignored
    }


def test_soft_limits_and_meshes_of_a_urdf_come_along(tmp_path):
    soft = '<safety_controller soft_lower_limit="-0.5" soft_upper_limit="0.6"/>'
    more = (
        '<material name="grey"/><transmission name="t"/><link name="flange"><visual>'
        '<geometry><mesh filename="part.stl"/></geometry><material name="grey"/>'
        '</visual></link><joint name="f" type="fixed"><parent link="link6"/>'
        '<child link="flange"/></joint>'
    )
    (tmp_path / "part.stl").write_bytes(b"solid")
    arm = write_arm(tmp_path / "arm.urdf", {2: {"more": soft}}, more=more)
    joined = tmp_path / "there/joined.urdf"
    joined.parent.mkdir()

    text = join_urdfs("both", {"left": arm, "right": arm}, PLACES)
    joined.write_text(text)
    urdf = read_urdf(joined)

    for limb in PLACES:
        joint = urdf.joint(f"{limb}_j2")
        assert (joint.lower, joint.upper) == (-0.5, 0.6)
        assert f'<material name="{limb}_grey"' in text
    assert text.count(f'filename="file://{tmp_path}/part.stl"') == 2
    assert "transmission" not in text


def test_the_bases_of_the_arms_can_be_calibrated(tmp_path, monkeypatch):
    path = describe(tmp_path, *PAIRS["network"], places=PLACES)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    words = ["leader=autopilot", "follower=duo", "env=kinematic"]
    info = make_robot(resolve(words)).info
    text = path.with_suffix(".urdf").read_text()
    touched = TouchedRobot(follower="duo", info=info, urdf=text, touches=())
    T = pin.SE3(pin.rpy.rpyToMatrix(0.02, 0.0, 1.0), np.array([0.3, -1.1, 0.02]))

    moved = place_base(touched, read_recorded_urdf(info, text), info.limbs, T)
    store_robot(touched, moved, {}, Folder(tmp_path / "site", "site"))
    monkeypatch.setenv(VARIABLE, f"{tmp_path / 'site'}:{tmp_path}")
    robot = make_robot(resolve(words))

    first, second = (place(robot, one.base_link) for one in robot.limbs.values())
    assert np.abs((first.inverse() * second).homogeneous - T.homogeneous).max() < 2e-6
    assert first.isApprox(PLACES["left"], 1e-9)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("ur5@left", "xarm7@right"), "unknown follower 'ur5'; did you mean 'ur5e'"),
        (("ur5e@left", "xarm7@left"), "name for each arm, got 'left' twice"),
        (("ur5e@left", "xarm7@Right"), "a limb's name of small letters.*'Right'"),
        (("ur5e@left", "xarm7@rate"), "'rate'; it is a setting of env=mix"),
        (("ur5e@arm", "xarm7@arm_2"), "'arm' and 'arm_2': names of both begin"),
        (("ur5e@left", "xarm7"), "a limb's name of small letters.*''"),
        (("ur5e@left",), "two arms or more, got 'ur5e@left'"),
        (("piper_2arm@a", "ur5e@b"), "of one limb, got 'piper_2arm' with left, right"),
    ],
)
def test_arms_that_are_no_robot_are_refused(words, message):
    with pytest.raises(ConfigError, match=message):
        read_arms(words)


def test_arms_that_touch_are_refused_and_leave_no_file(tmp_path):
    here = {limb: pin.SE3.Identity() for limb in ("left", "right")}

    with pytest.raises(ConfigError, match=r"(?s)nothing touches.*by --place LIMB="):
        describe(tmp_path, *PAIRS["network"], places=here)

    assert list((tmp_path / "follower").iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--place", "left=1,2"], "expected limb=x,y,z,roll,pitch,yaw in m and rad"),
        (["--place", "up=0,0,0,0,0,0"], r"--place: expected limbs .*left, right.*up"),
        (["--place", "left=0,0,0,0,0,0"] * 2, "one place, got two of 'left'"),
        (["--limbs", "left"], "--limbs: expected a URDF, got arms"),
        (["--name", "piper"], "expected a new name, got 'piper'"),
    ],
)
def test_wrong_options_are_refused(words, message, tmp_path, capsys):
    args = ["new-robot", *PAIRS["network"], "--out", str(tmp_path), *words]

    try:
        code = main(args)
    except SystemExit as ended:
        code = ended.code

    assert code == 2
    assert re.search(message, capsys.readouterr().err)
    assert list(tmp_path.iterdir()) == []


def test_a_urdf_and_an_arm_are_refused(capsys):
    assert main(["new-robot", "arm.urdf", "other.urdf"]) == 2

    assert "expected one URDF, or FOLLOWER@LIMB" in capsys.readouterr().err


def test_the_verb_tells_what_it_chose_and_what_to_run(tmp_path, capsys):
    assert main(["new-robot", *PAIRS["network"], "--out", str(tmp_path)]) == 0

    out = capsys.readouterr().out
    assert "limb right: xarm7, 8 joints, at 0, -0." in out
    assert "CHECK: places were chosen for left, right" in out
    assert f"follower={tmp_path / 'ur5e_2f85_xarm7.yaml'} env=kinematic" in out
    tree = yaml.safe_load((tmp_path / "ur5e_2f85_xarm7.yaml").read_text())
    assert json.dumps(tree["envs"]["mix"]["left"]) == (
        '{"robot": "ur5e_2f85", "env": "ur"}'
    )


def test_a_tilted_base_is_told(tmp_path, capsys):
    words = ["--place", "left=0,0.5,0,1.57,0,0", "--out", str(tmp_path)]

    assert main(["new-robot", *PAIRS["network"], *words]) == 0
    assert "CHECK: left: its base is tilted" in capsys.readouterr().out
