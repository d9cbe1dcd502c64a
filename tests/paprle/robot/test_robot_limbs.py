from __future__ import annotations

from pathlib import Path

import pytest
from public_robots import PUBLIC, SHARED
from shared_data import require

from paprle.robot.discovery.limbs import FoundLimb, find_limbs, name_limbs
from paprle.robot.urdf import read_urdf


def limbs_of(path: Path) -> dict[str, FoundLimb]:
    require(path, "pip install example-robot-data, or make data")
    return {limb.name: limb for limb in find_limbs(read_urdf(path))}


@pytest.mark.parametrize(
    ("path", "limb", "base_link", "eef_link", "n_joints", "gripper"),
    [
        (
            "panda_description/urdf/panda.urdf",
            "arm",
            "panda_link0",
            "panda_hand_tcp",
            7,
            ("panda_finger_joint1", 0.0, 0.04),
        ),
        (
            "ur_description/urdf/ur5_gripper.urdf",
            "arm",
            "base_link",
            "ee_link",
            6,
            None,
        ),
        (
            "kinova_description/robots/kinova.urdf",
            "arm",
            "j2s6s200_link_base",
            "j2s6s200_end_effector",
            6,
            None,
        ),
        ("xarm_description/urdf/xarm7.urdf", "arm", "link_base", "link_eef", 7, None),
        (
            "z1_description/urdf/z1.urdf",
            "arm",
            "link00",
            "gripperStator",
            6,
            ("jointGripper", 0.0, -1.5707),
        ),
        (
            "so_arm_description/urdf/so101.urdf",
            "arm",
            "base_link",
            "gripper_frame_link",
            5,
            ("gripper", -0.174533, 1.74533),
        ),
        (
            "tiago_description/robots/tiago_no_hand.urdf",
            "arm",
            "torso_lift_link",
            "arm_tool_link",
            7,
            None,
        ),
        (
            "tiago_pro_description/robots/tiago_pro.urdf",
            "left_arm",
            "torso_lift_link",
            "arm_left_tool_link",
            7,
            ("gripper_left_finger_joint", 0.8028514559173916, 0.0),
        ),
        (
            "pr2_description/urdf/pr2.urdf",
            "right_arm",
            "torso_lift_link",
            "r_gripper_tool_frame",
            7,
            ("r_gripper_l_finger_joint", 0.0, 0.548),
        ),
        (
            "baxter_description/urdf/baxter.urdf",
            "left_arm",
            "left_arm_mount",
            "left_gripper_base_link",
            7,
            ("l_gripper_l_finger_joint", 0.0, 0.020833),
        ),
    ],
)
def test_finds_chain_and_gripper_of_public_robots(
    path: str,
    limb: str,
    base_link: str,
    eef_link: str,
    n_joints: int,
    gripper: tuple[str, float, float] | None,
) -> None:
    found = limbs_of(PUBLIC / path)[limb]

    assert (found.base_link, found.eef_link) == (base_link, eef_link)
    assert len(found.joint_names) == n_joints
    got = found.gripper and (
        found.gripper.joint,
        found.gripper.closed,
        found.gripper.open,
    )
    assert got == gripper
    assert ("gripper" in found.doubts) == (gripper is not None)


@pytest.mark.parametrize(
    ("path", "names"),
    [
        (
            "talos_data/robots/talos_full_v2.urdf",
            "left_arm right_arm left_leg right_leg",
        ),
        ("romeo_description/urdf/romeo.urdf", "left_leg right_leg left_arm right_arm"),
        ("icub_description/robots/icub.urdf", "left_leg right_leg left_arm right_arm"),
        (
            "anymal_b_simple_description/robots/anymal.urdf",
            "lf_leg rf_leg lh_leg rh_leg",
        ),
        (
            "anymal_b_simple_description/robots/anymal-kinova.urdf",
            "lf_leg rf_leg lh_leg rh_leg arm",
        ),
        ("tiago_description/robots/tiago.urdf", "arm"),
        ("allegro_hand_description/urdf/allegro_left_hand.urdf", ""),
        ("iris_description/robots/iris.urdf", ""),
    ],
)
def test_names_the_limbs_of_public_robots(path: str, names: str) -> None:
    assert set(limbs_of(PUBLIC / path)) == set(names.split())


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("g1_29dof.urdf", "left_leg right_leg left_arm right_arm"),
        ("papras_7dof_2arm_table.urdf", "robot3 robot4"),
        ("piper.urdf", "arm"),
    ],
)
def test_names_the_limbs_of_shared_robots(path: str, names: str) -> None:
    assert list(limbs_of(SHARED / "urdf" / path)) == names.split()


def test_a_hand_of_many_motors_is_no_gripper_but_a_doubt() -> None:
    found = limbs_of(PUBLIC / "tiago_description/robots/tiago.urdf")["arm"]

    assert found.gripper is None
    assert "no single joint opens it" in found.doubts["gripper"]


@pytest.mark.parametrize(
    ("chains", "names"),
    [
        ([("LShoulder", "LElbow"), ("RShoulder", "RElbow")], ["left_arm", "right_arm"]),
        ([("j1", "j2"), ("j3", "j4")], ["arm_1", "arm_2"]),
        ([("a/j1", "a/j2"), ("b/j1", "b/j2")], ["a", "b"]),
        ([("a/j1", "b/j2"), ("b/j1", "b/j3")], ["arm_1", "arm_2"]),
        ([("r0", "r1"), ("l0", "l1")], ["right_arm", "left_arm"]),
        ([("r0", "r1")], ["arm"]),
        ([("hip", "left_knee", "left_ankle")], ["left_leg"]),
        ([("j1", "j2", "left_j3")], ["arm"]),
    ],
)
def test_limbs_are_named_by_side_kind_prefix_or_number(
    chains: list[tuple[str, ...]], names: list[str]
) -> None:
    assert name_limbs(chains) == names


def chain(*joints: str, root: str = "base_link") -> str:
    """Return links and joints of ``name kind`` one after the other, or ``a>b``."""
    links, body, last = {root: None}, "", root
    for text in joints:
        name, kind, *parent = text.split()
        child = f"{name}_link"
        links[child] = None
        body += (
            f'<joint name="{name}" type="{kind}">'
            f'<parent link="{(parent or [last])[0]}"/><child link="{child}"/>'
            '<origin xyz="0 0 0.1"/><axis xyz="0 1 0"/>'
            '<limit lower="-1" upper="1" velocity="1"/></joint>'
        )
        last = child
    return "".join(f'<link name="{link}"/>' for link in links) + body


ARM = tuple(f"j{k} revolute" for k in range(6))


@pytest.mark.parametrize(
    ("body", "names", "n_joints", "gripper"),
    [
        pytest.param(
            chain(*ARM, "left revolute", "right revolute j5_link"),
            ["arm"],
            6,
            "left",
            id="two fingers that only their fork tells",
        ),
        pytest.param(
            chain("track prismatic", *ARM), ["arm"], 7, None, id="arm on a linear track"
        ),
        pytest.param(
            chain("front_wheel_steer continuous", *ARM),
            ["arm"],
            7,
            None,
            id="a joint called wheel that carries an arm",
        ),
        pytest.param(
            chain(*ARM, "wheel_1 continuous base_link", "wheel_2 continuous base_link"),
            ["arm"],
            6,
            None,
            id="arm on a cart",
        ),
        pytest.param(
            chain(*ARM, "head_pan revolute base_link", "head_tilt revolute"),
            ["arm"],
            6,
            None,
            id="a head beside an arm",
        ),
        pytest.param(
            chain(*ARM, "gripper_roll revolute", "gripper prismatic"),
            ["arm"],
            7,
            "gripper",
            id="a wrist named after the gripper",
        ),
        pytest.param(
            chain(*ARM, "head_pan revolute j0_link"),
            ["arm"],
            6,
            None,
            id="a head on the first joint of the arm, as Sawyer's",
        ),
        pytest.param(
            chain("torso_lift prismatic", *ARM, "head_pan revolute torso_lift_link"),
            ["arm"],
            6,
            None,
            id="a head and an arm on a torso",
        ),
        pytest.param(chain("j0 revolute"), ["arm"], 1, None, id="a single joint"),
        pytest.param(
            chain("r0 revolute", "r1 revolute", "r2 revolute", "z prismatic"),
            ["arm"],
            4,
            None,
            id="SCARA",
        ),
    ],
)
def test_tells_arms_fingers_wheels_and_heads_apart(
    tmp_path: Path, body: str, names: list[str], n_joints: int, gripper: str | None
) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="r">{body}</robot>')

    found = limbs_of(path)

    assert list(found) == names
    assert len(found["arm"].joint_names) == n_joints
    assert (found["arm"].gripper and found["arm"].gripper.joint) == gripper


def test_each_of_two_arms_has_its_own_base(tmp_path: Path) -> None:
    sides = [
        chain(
            f"{side}_base fixed world",
            f"{side}_base_inertia fixed",
            *(f"{side}_j{k} revolute" for k in range(3)),
            root="world",
        ).replace('<link name="world"/>', "")
        for side in ("left", "right")
    ]
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="r"><link name="world"/>{"".join(sides)}</robot>')

    found = limbs_of(path)

    assert found["left_arm"].base_link == "left_base_link"
    assert found["right_arm"].base_link == "right_base_link"
