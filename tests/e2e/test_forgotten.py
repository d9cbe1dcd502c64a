"""Forgotten units, swapped sides and wrong frames are refused or reported.

Each case is typed as a user types it, as a dry run: nothing moves in one.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from bagfiles import write_bag
from dataset_files import write_aloha, write_lerobot, write_umi
from played import POSE, make_pose_rows, write_csv

from paprle.cli import main
from paprle.ipc.process import WORKSPACE

T = np.arange(0.0, 4.0, 0.02)
REST = np.array([0.0, 1.2, -1.0, 0.0, 0.6, 0.0])  # [rad] of the PiPER
PIPER = WORKSPACE / "urdf/piper/robot.urdf"
JOINTS = tuple(f"joint{k}" for k in range(1, 7))
EULER = (
    "leader.columns.position=[x,y,z]", "leader.columns.euler=[roll,pitch,yaw]",
    "leader.columns.euler_order=xyz_extrinsic",
)  # fmt: skip
CASES = {}


def case(*words):
    """Note a case; its maker returns what else is typed."""

    def note(make):
        CASES[make.__name__] = make, words
        return make

    return note


def move_joints(scale=1.0):
    """A slow motion of all joints from rest, shape (n, 6)."""
    swing = 0.2 * np.sin(np.outer(T, np.linspace(0.5, 1.0, 6)))
    return scale * (REST + swing)


def play_joints(folder, t, q):
    path = write_csv(
        folder / "joints.csv", ",".join(["t", *JOINTS]), np.column_stack([t, q])
    )
    typed = f"leader=offline leader.path={path} follower=piper retarget.mode=joints"
    return typed.split()


def play_poses(folder, rows, header=POSE):
    path = write_csv(folder / "poses.csv", header, rows)
    return f"leader=offline leader.path={path} follower=piper".split()


def vary_piper(folder, change):
    """Write the PiPER's URDF with a change in it; return what drives it."""
    tree = ET.parse(PIPER)
    change(tree.getroot())
    for mesh in tree.iter("mesh"):
        mesh.set("filename", str((PIPER.parent / mesh.get("filename")).resolve()))
    tree.write(folder / "robot.urdf")
    return ["leader=autopilot", f"follower={folder / 'robot.urdf'}"]


@case("leader.units.angle=deg")
def joints_in_degrees(folder):
    return play_joints(folder, T, move_joints(180.0 / np.pi))


@case("leader.units.angle=deg")
def joints_of_small_motion_in_degrees(folder):
    return play_joints(folder, T, 10.0 + 3.0 * np.sin(np.outer(T, np.ones(6))))


@case("leader.units.time=ms")
def time_in_milliseconds(folder):
    return play_joints(folder, 1e3 * T, move_joints())


@case("leader.units.time=ns")
def time_in_nanoseconds(folder):
    return play_joints(folder, 1.7e18 + 1e9 * T, move_joints())


@case("leader.units.length")
def positions_in_millimetres(folder):
    rows = make_pose_rows(T)
    rows[:, 1:4] *= 1e3
    return play_poses(folder, rows)


@case("leader.units.length")
def positions_in_centimetres(folder):
    rows = make_pose_rows(T)
    rows[:, 1:4] = 1e2 * (rows[:, 1:4] + [0.3, 0.0, 0.2])
    return play_poses(folder, rows)


def turn(folder, largest):
    rows = np.zeros((len(T), 7))
    rows[:, 0], rows[:, 4] = T, largest * np.sin(T)
    return [*play_poses(folder, rows, "t,x,y,z,roll,pitch,yaw"), *EULER]


@case("leader.units.angle=deg")
def euler_angles_in_degrees(folder):
    return turn(folder, 90.0)


@case("leader.units.angle=deg")
def euler_angles_of_a_few_degrees(folder):
    return turn(folder, 3.0)


@case("quaternion")
def quaternion_columns_that_are_no_quaternion(folder):
    rows = make_pose_rows(T)
    rows[:, 4:] *= 100.0
    return play_poses(folder, rows)


def open_gripper(folder, most):
    rows = np.column_stack([make_pose_rows(T), 0.5 * most * (1.0 + np.sin(T))])
    return play_poses(folder, rows, POSE + ",gripper")


@case("percent")
def opening_in_percent(folder):
    return open_gripper(folder, 100.0)


@case("metres")
def opening_in_metres(folder):
    return open_gripper(folder, 0.07)


SO101 = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll")
NAMES = [*(f"{joint}.pos" for joint in SO101), "gripper.pos"]


def play_lerobot(folder, scale, gripper=1.0):
    """Play an episode that shakes an SO-101; its joints are degrees times `scale`."""

    def change(_number, t, _action):
        q = 20.0 * np.sin(np.add.outer(t, np.arange(5)))
        opening = gripper * np.linspace(0.0, 100.0, len(t))
        return t, np.column_stack([scale * q, opening]).astype(np.float32)

    path = write_lerobot(folder / "set", [60], names=NAMES, change=change)
    return f"leader=dataset_lerobot leader.path={path} follower=so101".split()


@case("leader.angle=rad")
def data_set_in_radians_under_degrees(folder):
    return play_lerobot(folder, np.pi / 180.0)


@case("percent", "leader.limbs.arm")
def data_set_with_openings_beyond_percent(folder):
    return play_lerobot(folder, 1.0, gripper=10.0)


@case("leader.angle=deg")
def data_set_of_aloha_in_degrees(folder):
    path = write_aloha(folder / "set", [60], scale=1800.0 / np.pi)
    typed = f"leader=dataset_aloha leader.path={path} follower=piper_2arm"
    return [*typed.split(), "retarget.mode=joints"]


@case("leader.length=mm")
def data_set_of_a_hand_in_millimetres(folder):
    path = write_umi(folder / "set.zarr", [60], metre=1e3)
    return f"leader=dataset_umi leader.path={path} follower=piper".split()


@case("leader.angle=deg")
def data_set_of_a_hand_in_degrees(folder):
    path = write_umi(folder / "set.zarr", [60], radian=180.0 / np.pi)
    return f"leader=dataset_umi leader.path={path} follower=piper".split()


@case("frame")
def poses_of_two_frames(folder):
    def say(m, t):
        frame = "base_link" if t < 2.0 else "odom"
        return m.pose(t, [0.1 * t, 0.0, 0.0], frame=frame)

    bag = write_bag(folder / "bag", {"/hand": [(t, say) for t in T]})
    return f"leader=offline leader.path={bag} follower=piper".split()


@case("optical")
def poses_in_an_optical_frame(folder):
    def say(m, t):
        return m.pose(t, [0.1 * t, 0.0, 0.0], frame="camera_color_optical_frame")

    bag = write_bag(folder / "bag", {"/hand": [(t, say) for t in T]})
    return f"leader=offline leader.path={bag} follower=piper".split()


@case("leader.units.angle=deg")
def joint_states_in_degrees(folder):
    q = move_joints(180.0 / np.pi)

    def say(m, t):
        return m.state(t, list(JOINTS), q[round(t / 0.02)])

    bag = write_bag(folder / "bag", {"/joint_states": [(t, say) for t in T]})
    typed = f"leader=offline leader.path={bag} follower=piper retarget.mode=joints"
    return typed.split()


@case("degrees")
def limits_in_degrees(folder):
    def change(root):
        for limit in root.iter("limit"):
            for name in ("lower", "upper"):
                limit.set(name, str(np.degrees(float(limit.get(name)))))

    return vary_piper(folder, change)


@case("degrees")
def one_limit_in_degrees(folder):
    def change(root):
        limit = root.find(".//joint[@name='joint2']/limit")
        limit.set("upper", str(np.degrees(float(limit.get("upper")))))

    return vary_piper(folder, change)


@case("inertia")
def inertia_in_gram_square_millimetres(folder):
    def change(root):
        for inertia in root.iter("inertia"):
            for name in inertia.attrib:
                inertia.set(name, str(1e9 * float(inertia.get(name))))

    return vary_piper(folder, change)


@case("grams")
def mass_in_grams(folder):
    def change(root):
        for mass in root.iter("mass"):
            mass.set("value", str(1e3 * float(mass.get("value"))))

    return vary_piper(folder, change)


@case("tonnes")
def mass_in_tonnes(folder):
    def change(root):
        for mass in root.iter("mass"):
            mass.set("value", str(1e-3 * float(mass.get("value"))))

    return vary_piper(folder, change)


@case("moment")
def inertia_that_no_body_has(folder):
    def change(root):
        for inertia in root.iter("inertia"):
            inertia.set("ixx", str(9.0 * float(inertia.get("izz"))))

    return vary_piper(folder, change)


@case("ixx", "at least 0")
def negative_inertia(folder):
    def change(root):
        root.find(".//inertia").set("ixx", "-0.001")

    return vary_piper(folder, change)


@case("limbs.arm.home", "got 86")
def home_in_degrees(folder):
    text = (WORKSPACE / "configs/follower/piper.yaml").read_text()
    text = text.replace("urdf/piper/robot.urdf", str(PIPER))
    text = text.replace(
        "[0.0, 1.5, -1.0, 0.0, -0.75, 0.0]", "[0.0, 86.0, -57.0, 0.0, -43.0, 0.0]"
    )
    (folder / "mine.yaml").write_text(text)
    return ["leader=autopilot", f"follower={folder / 'mine.yaml'}"]


def play_two(folder, first, second):
    names = ((first, folder / "one.csv"), (second, folder / "two.csv"))
    paths = ", ".join(
        f"{name}: {write_csv(path, POSE, make_pose_rows(T))}" for name, path in names
    )
    return ["leader=offline", f"leader.paths={{{paths}}}", "follower=piper_2arm"]


@case("left", "right")
def sides_swapped_by_hand(folder):
    return [
        *play_two(folder, "left", "right"),
        "retarget.limbs={left: {from: right}, right: {from: left}}",
    ]


@case("left", "right")
def sides_that_no_name_says(folder):
    return play_two(folder, "one", "two")


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_is_refused_or_told_before_motion(name, tmp_path, capsys):
    make, words = CASES[name]

    code = main(["run", *make(tmp_path), "env=kinematic", "--dry-run"])

    shown = capsys.readouterr()
    lines = [shown.err] if code else shown.out.splitlines()
    found = [line for line in lines if line.startswith(("error:", "CHECK:"))]
    assert any(all(word in line for word in words) for line in found), shown
