"""The robots of ``urdf/`` and ``configs/follower/``: figures, validity, home."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from pydantic import TypeAdapter
from shared_data import find_shared

from paprle.contracts.settings.core import RobotSettings
from paprle.robot import RobotModel

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).resolve().parents[2]
ROBOTS = (
    "piper",
    "ur5e",
    "papras_7dof",
    "papras_7dof_2arm",
    "open_manipulator_x",
    "g1",
    "papras_6dof",
    "openmanipulator_y",
    "piper_2arm",
    "g1_upper",
    "ur5e_camera",
    "ur3e",
    "ur10e",
    "ur16e",
    "ur20",
    "ur30",
    "ur5e_2f85",
    "ur5e_2f140",
    "ur5e_hande",
    "xarm7_2f85",
    "fr3_2f85",
    "j2s7s300",
    "so101",
    "so100",
    "so101_2arm",
    "xarm5",
    "xarm6",
    "xarm7",
    "xarm850",
    "lite6",
    "widowx250s",
    "viperx300s",
    "openarm",
    "yam",
    "fr3",
    "panda",
)
PUPPETEERS = sorted(path.name for path in (ROOT / "urdf").glob("puppeteer_*"))
# Our prefix, theirs, and the link both measure from; theirs has other names for the
# fingers of the PiPER, and its root is elsewhere for the others.
TWINS = {
    "piper": ("piper", "", "robot1/", "base_link"),
    "ur5e": ("ur5e", "", "", "base_link"),
    "ur5e_camera": ("ur5e_camera", "", "", "base_link"),
    "papras_7dof": ("papras_7dof", "", "robot1/", "link1"),
    "papras_left": ("papras_7dof_2arm", "left_", "robot4/", "link1"),
    "papras_right": ("papras_7dof_2arm", "right_", "robot3/", "link1"),
    "g1": ("g1", "", "", "pelvis"),
    "papras_6dof": ("papras_6dof", "", "robot1/", "link1"),
    "openmanipulator_y": ("openmanipulator_y", "", "", "link0"),
    "piper_left": ("piper_2arm", "left_", "robot2/", "base_link"),
    "piper_right": ("piper_2arm", "right_", "robot1/", "base_link"),
}
THEIR_FILE = {
    "papras_7dof_2arm": "papras_7dof_2arm_table.urdf",
    "g1": "g1_29dof.urdf",
    "ur5e_camera": "ur5e.urdf",
    "openmanipulator_y": "open_manipulator_y_follower.urdf",
    "piper_2arm": "piper_2arm_gripper_table.urdf",
}
THEIR_JOINT = {"joint7": "gripper", "joint8": "gripper_sub"}  # of the PiPER


@cache
def settings_of(name: str) -> RobotSettings:
    text = (ROOT / "configs/follower" / f"{name}.yaml").read_text(encoding="utf-8")
    # JSON, since strict validation takes lists for tuples only from there.
    return TypeAdapter(RobotSettings).validate_json(json.dumps(yaml.safe_load(text)))


@cache
def robot_of(name: str) -> RobotModel:
    return RobotModel.from_settings(settings_of(name), name, ROOT)


def path_of(name: str) -> Path:
    is_leader = name in PUPPETEERS
    return ROOT / (f"urdf/{name}/robot.urdf" if is_leader else settings_of(name).urdf)


@cache
def urdf_of(name: str) -> ET.Element:
    return ET.parse(path_of(name)).getroot()


def movable(root: ET.Element) -> list[ET.Element]:
    return [j for j in root.findall("joint") if j.get("type") != "fixed"]


def shared_urdf(name: str) -> Path:
    return find_shared(f"urdf/{THEIR_FILE.get(name, f'{name}.urdf')}")


def place(model: pin.Model, q_by_joint: dict[str, float]) -> pin.Data:
    q = pin.neutral(model)
    for joint, value in q_by_joint.items():
        q[model.joints[model.getJointId(joint)].idx_q] = value
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    return data


def pose(model: pin.Model, data: pin.Data, base: str, link: str) -> pin.SE3:
    T_0_base = data.oMf[model.getFrameId(base)]
    return T_0_base.actInv(data.oMf[model.getFrameId(link)])


@pytest.mark.parametrize("twin", TWINS)
@pytest.mark.parametrize("seed", range(5))
def test_kinematics_equal_the_published_ones(twin: str, seed: int) -> None:
    name, prefix, their_prefix, base = TWINS[twin]
    ours = pin.buildModelFromUrdf(str(ROOT / "urdf" / name / "robot.urdf"))
    theirs = pin.buildModelFromUrdf(str(shared_urdf(name)))
    rng = np.random.default_rng(seed)
    names = {
        joint: their_prefix
        + (THEIR_JOINT.get(joint, joint) if name.startswith("piper") else joint)
        for joint in (n.removeprefix(prefix) for n in ours.names[1:])
    }
    names = {k: v for k, v in names.items() if theirs.existJointName(v)}
    q = {joint: rng.uniform(-1.5, 1.5) for joint in names}

    data = place(ours, {prefix + joint: value for joint, value in q.items()})
    their_data = place(theirs, {names[joint]: value for joint, value in q.items()})

    links = [
        frame.name.removeprefix(prefix)
        for frame in ours.frames
        if frame.type == pin.FrameType.BODY
        and theirs.existFrame(their_prefix + frame.name.removeprefix(prefix))
    ]
    assert len(links) >= 8
    for link in links:
        T_ours = pose(ours, data, prefix + base, prefix + link)
        T_theirs = pose(theirs, their_data, their_prefix + base, their_prefix + link)
        np.testing.assert_allclose(
            T_ours.homogeneous, T_theirs.homogeneous, atol=1e-6, err_msg=link
        )


@pytest.mark.parametrize("seed", range(5))
def test_open_manipulator_x_has_its_link_lengths(seed: int) -> None:
    q1, q2, q3, q4 = np.random.default_rng(seed).uniform(-1.4, 1.4, 4)
    upper, elbow = math.hypot(0.024, 0.128), math.atan2(0.024, 0.128)
    forearm, hand, shoulder = 0.124, 0.126, 0.017 + 0.0595

    T_base_eef = (
        robot_of("open_manipulator_x").limbs["arm"].fk(np.array([q1, q2, q3, q4]))
    )

    pitch = q2 + q3 + q4
    reach = (
        upper * math.sin(q2 + elbow)
        + forearm * math.cos(q2 + q3)
        + hand * math.cos(pitch)
    )
    height = (
        shoulder
        + upper * math.cos(q2 + elbow)
        - forearm * math.sin(q2 + q3)
        - hand * math.sin(pitch)
    )
    expected = [0.012 + reach * math.cos(q1), reach * math.sin(q1), height]
    np.testing.assert_allclose(T_base_eef.translation, expected, atol=1e-9)
    np.testing.assert_allclose(
        T_base_eef.rotation, pin.rpy.rpyToMatrix(0.0, pitch, q1), atol=1e-9
    )


def test_every_row_of_the_recorded_rectangle_is_in_reach_of_the_piper() -> None:
    path = find_shared("motion/arbot_rectangle_H1.csv")
    rows = np.genfromtxt(path, delimiter=",", names=True)
    positions = np.stack([rows[f"target_pos_{axis}"] for axis in "xyz"], axis=1)
    quats_xyzw = np.stack([rows[f"target_orient_{axis}"] for axis in "xyzw"], axis=1)
    limb = robot_of("piper").limbs["arm"]
    low, high = limb.q_min + 0.02, limb.q_max - 0.02
    q, errors = limb.home, []

    quats_xyzw /= np.linalg.norm(quats_xyzw, axis=1, keepdims=True)
    for pose_xyzquat in np.hstack([positions, quats_xyzw])[::10]:
        target = pin.XYZQUATToSE3(pose_xyzquat)
        for _ in range(100):
            error = pin.log6(limb.fk(q).actInv(target)).vector
            if np.linalg.norm(error) < 1e-8:
                break
            J = limb.jacobian(q)
            dq = J.T @ np.linalg.solve(J @ J.T + 1e-6 * np.eye(6), error)
            q = np.clip(q + dq * min(1.0, 0.2 / np.abs(dq).max()), low, high)
        errors.append(float(np.linalg.norm(error)))

    assert max(errors) < 1e-5


@pytest.mark.parametrize("name", [*ROBOTS, *PUPPETEERS])
def test_every_movable_joint_has_finite_limits(name: str) -> None:
    for joint in movable(urdf_of(name)):
        limit = joint.find("limit")
        assert limit is not None, joint.get("name")
        figures = {k: float(limit.get(k, "nan")) for k in limit.attrib}
        assert set(figures) == {"lower", "upper", "velocity", "effort"}
        assert all(math.isfinite(value) for value in figures.values())
        assert figures["lower"] < figures["upper"]
        assert figures["velocity"] > 0
        assert figures["effort"] > 0


@pytest.mark.parametrize("name", [*ROBOTS, *PUPPETEERS])
def test_every_moving_link_has_a_possible_inertia(name: str) -> None:
    root = urdf_of(name)
    moving = {joint.find("child").get("link") for joint in movable(root)}
    for link in root.findall("link"):
        inertial = link.find("inertial")
        if inertial is None:
            assert link.get("name") not in moving
            continue
        i = {k: float(v) for k, v in inertial.find("inertia").attrib.items()}
        tensor = np.array(
            [
                [i["ixx"], i["ixy"], i["ixz"]],
                [i["ixy"], i["iyy"], i["iyz"]],
                [i["ixz"], i["iyz"], i["izz"]],
            ]
        )
        principal = np.linalg.eigvalsh(tensor)
        assert float(inertial.find("mass").get("value")) > 0
        assert principal[0] > 0, link.get("name")
        assert principal[2] <= principal[0] + principal[1], link.get("name")


@pytest.mark.parametrize("name", [*ROBOTS, *PUPPETEERS])
def test_bodies_are_primitives_and_every_massive_link_has_one(name: str) -> None:
    for link in urdf_of(name).findall("link"):
        shapes = {shape.tag for shape in link.findall("*/geometry/*")}
        assert shapes <= {"box", "cylinder", "sphere"}
        is_massive = link.find("inertial") is not None
        assert is_massive == (link.find("collision") is not None), link.get("name")


@pytest.mark.parametrize("name", ROBOTS)
def test_home_is_within_limits_and_free_of_collision(name: str) -> None:
    robot = robot_of(name)
    limbs = [joint for limb in robot.info.limbs for joint in limb.joint_names]
    at = [robot.joint_names.index(joint) for joint in limbs]

    margin = np.minimum(robot.home - robot.q_min, robot.q_max - robot.home)

    assert np.all(margin >= 0)
    assert np.all(margin[at] > 0.1)  # chosen: five times the gate's margin
    assert robot.find_collision(robot.home) is None


@pytest.mark.parametrize("name", ROBOTS)
def test_home_is_away_from_singularities(name: str) -> None:
    for limb in robot_of(name).limbs.values():
        J = limb.jacobian(limb.home)
        rank = min(J.shape)
        # chosen: above ε of the IK (0.04), so that home is not damped.
        assert np.linalg.svd(J, compute_uv=False)[rank - 1] > 0.05


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("opening", [0.0, 0.5, 1.0])
def test_gripper_opens_and_closes_without_touching_itself(
    name: str, opening: float
) -> None:
    robot = robot_of(name)
    q = robot.home.copy()
    for limb in robot.info.limbs:
        if limb.gripper is not None:
            gripper = limb.gripper
            index = robot.joint_names.index(gripper.joint)
            q[index] = gripper.closed + opening * (gripper.open - gripper.closed)
            assert robot.q_min[index] <= q[index] <= robot.q_max[index]

    assert robot.find_collision(q) is None


@pytest.mark.parametrize("name", ROBOTS)
def test_small_motions_about_home_are_free_of_collision(name: str) -> None:
    robot = robot_of(name)
    rng = np.random.default_rng(0)
    for _ in range(50):
        q = np.clip(
            robot.home + rng.uniform(-0.15, 0.15, len(robot.home)),
            robot.q_min,
            robot.q_max,
        )
        assert robot.find_collision(q) is None


@pytest.mark.parametrize("name", [*ROBOTS, *PUPPETEERS])
def test_mujoco_loads_it(name: str) -> None:
    mujoco = pytest.importorskip("mujoco")

    model = mujoco.MjModel.from_xml_path(str(path_of(name)))

    joints = {model.joint(index).name for index in range(model.njnt)}
    assert joints == {joint.get("name") for joint in movable(urdf_of(name))}


@pytest.mark.parametrize("name", [*ROBOTS, *PUPPETEERS])
def test_figures_have_a_source(name: str) -> None:
    source = path_of(name).with_name("SOURCE.md")
    assert "chosen" in source.read_text(encoding="utf-8")
