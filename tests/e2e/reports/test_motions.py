"""Recorded motions as public reports describe them, and others of the same kinds."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from bagfiles import write_bag
from dataset_files import write_aloha, write_lerobot, write_umi
from dry_runs import Cases, read_rows
from played import POSE, make_leader, make_pose_rows, play, write_csv

T = np.arange(0.0, 4.0, 0.02)
REST = np.array([0.0, 1.2, -1.0, 0.0, 0.6, 0.0])  # [rad] of the PiPER
JOINTS = tuple(f"joint{k}" for k in range(1, 7))
SO101 = ("shoulder_pan", "shoulder_lift", "elbow_flex", "wrist_flex", "wrist_roll")
CASES = Cases()
case = CASES.add


def move_joints(t=T):
    """A slow motion of the PiPER's joints from rest, shape (n, 6), [rad]."""
    return REST + 0.2 * np.sin(np.outer(t, np.linspace(0.5, 1.0, 6)))


def play_piper(path, *words):
    typed = f"leader=offline leader.path={path} follower=piper retarget.mode=joints"
    return [*typed.split(), *words]


def play_joints(folder, t, q):
    header = ",".join(["t", *JOINTS])
    path = write_csv(folder / "q.csv", header, np.column_stack([t, q]))
    return play_piper(path, "leader.units.angle=rad")


def play_poses(folder, rows, header=POSE):
    path = write_csv(folder / "p.csv", header, rows)
    return f"leader=offline leader.path={path} follower=piper".split()


def play_states(folder, say, times=T):
    """Play a bag of JointState."""
    bag = write_bag(folder / "bag", {"/joint_states": [(t, say) for t in times]})
    return play_piper(bag)


def say_state(m, t):
    return m.state(t, list(JOINTS), move_joints([t])[0])


def play_so101(folder, change, *words):
    names = [*(f"{joint}.pos" for joint in SO101), "gripper.pos"]
    path = write_lerobot(folder / "set", [60], names=names, change=change)
    typed = f"leader=dataset_lerobot leader.path={path} follower=so101"
    return [*typed.split(), *words]


def shake(t, action, scale=1.0):
    q = scale * 20.0 * np.sin(np.add.outer(t, np.arange(5.0)))
    return np.column_stack([q, action[:, -1]]).astype(np.float32)


# --- data sets -----------------------------------------------------------------------


@case("huggingface/lerobot#2191", "refused", "version 3", "'v2.1'", "convert it")
def data_set_of_version_2(folder):
    typed = play_so101(folder, lambda _, t, action: (t, shake(t, action)))
    info = folder / "set/meta/info.json"
    words = json.loads(info.read_text()) | {"codebase_version": "v2.1"}
    info.write_text(json.dumps(words))
    return typed


@case("huggingface/lerobot#2158", "handled", "'shoulder_pan.pos'")
def names_of_columns_in_a_dictionary(folder):
    typed = play_so101(folder, lambda _, t, action: (t, shake(t, action)))
    info = folder / "set/meta/info.json"
    words = json.loads(info.read_text())
    action = words["features"]["action"]
    action["names"] = {"motors": action["names"]}
    info.write_text(json.dumps(words))
    return typed


@case("unitreerobotics/unitree_lerobot#41", "refused", "stamps that rise")
def stamps_that_fall_back_to_zero_within_an_episode(folder):
    def change(_, t, action):
        return np.where(np.arange(len(t)) >= 30, t - t[30], t), shake(t, action)

    return play_so101(folder, change)


@case("strands-labs/robots#693", "reported", "CHECK:", "leader.angle=rad")
def radians_where_degrees_are_meant(folder):
    return play_so101(folder, lambda _, t, action: (t, shake(t, action, np.pi / 180.0)))


@case("LightwheelAI/leisaac#136", "refused", "leader.angle=deg")
def degrees_where_radians_are_meant(folder):
    degrees = np.array([11.2, -4.9, 18.0, 18.8, -1.3])

    def change(_, t, action):
        q = degrees + 0.1 * np.sin(t)[:, None]
        return t, np.column_stack([q, action[:, -1]]).astype(np.float32)

    return play_so101(folder, change, "leader.angle=rad")


@case("Lifelong-Robot-Learning/LIBERO#76", "refused", "expected an episode of ALOHA")
def hdf5_file_that_was_cut_off(folder):
    path = write_aloha(folder / "set", [60]) / "episode_0.hdf5"
    path.write_bytes(path.read_bytes()[:2000])
    typed = f"leader=dataset_aloha leader.path={path} follower=piper_2arm"
    return typed.split()


@case("real-stanford/universal_manipulation_interface#74", "refused", "'robot0.width'")
def hand_whose_gripper_was_never_seen(folder):
    path = write_umi(folder / "set.zarr", [60])
    shutil.rmtree(path / "data/robot0_gripper_width")
    return f"leader=dataset_umi leader.path={path} follower=piper".split()


@case("own", "reported", "CHECK:", "stamps in ms")
def data_set_with_stamps_in_milliseconds(folder):
    return play_so101(folder, lambda _, t, action: (1e3 * t, shake(t, action)))


@case("own", "refused", "numbers in all rows")
def data_set_whose_gripper_is_nan(folder):
    def change(_, t, action):
        action[:, -1] = np.nan
        return t, shake(t, action)

    return play_so101(folder, change)


@case("own", "refused", "columns: action.0")
def data_set_of_one_arm_where_two_are_meant(folder):
    path = write_aloha(folder / "set", [60], n_columns=7)
    typed = f"leader=dataset_aloha leader.path={path} follower=piper_2arm"
    return typed.split()


@case("own", "reported", "CHECK:", "leader.limbs.hand")
def width_of_a_gripper_in_millimetres(folder):
    path = write_umi(folder / "set.zarr", [60], width=80.0)
    return f"leader=dataset_umi leader.path={path} follower=piper".split()


# --- joints --------------------------------------------------------------------------


@case("wuphilipp/gello_software#19", "handled", "steps of a turn unwrapped", "joint1")
def joint_that_is_told_a_turn_off_from_a_row_on(folder):
    q = move_joints()
    q[100:, 0] += 2.0 * np.pi
    return play_joints(folder, T, q)


@case("Kinovarobotics/ros_kortex#196", "handled")
def continuous_joint_that_wraps_goes_on(folder):
    q = 2.5 + 0.5 * T
    rows = np.column_stack([T, (q + np.pi) % (2.0 * np.pi) - np.pi])
    leader = make_leader(write_csv(folder / "q.csv", "t,wrist", rows))

    t, samples = play(leader)

    played = np.array([sample.limbs["hand"].q[0] for sample in samples])
    np.testing.assert_allclose(played, 2.5 + 0.5 * t, atol=1e-3)


@case("x-humanoid-robomind/x-humanoid-robomind.github.io#25", "refused", "'joint3'")
def joint_with_the_other_sign(folder):
    return play_joints(folder, T, move_joints() * [1, 1, -1, 1, 1, 1])


@case("UniversalRobots/Universal_Robots_ROS_Driver#302", "handled", "far from all")
def zeros_now_and_then_among_joint_states(folder):
    q = move_joints()
    q[[40, 90, 141]] = 0.0
    return play_joints(folder, T, q)


@case("automaticaddison/yahboom_rosmaster#4", "refused", "two motions")
def zeros_of_a_second_publisher(folder):
    def say(m, t):
        is_other = round(t / 0.01) % 2
        return m.state(
            t, list(JOINTS), np.zeros(6) if is_other else move_joints([t])[0]
        )

    return play_states(folder, say, np.arange(0.0, 4.0, 0.01))


@case("ros-controls/ros2_controllers#159", "handled")
def joint_states_in_another_order_of_names(folder):
    order = [1, 2, 0, 3, 5, 4]

    def say(m, t):
        return m.state(t, [JOINTS[i] for i in order], move_joints([t])[0][order])

    bag = write_bag(folder / "bag", {"/joint_states": [(t, say) for t in T]})
    leader = make_leader(bag, joints=JOINTS)

    t, samples = play(leader)

    played = np.array([sample.limbs["hand"].q for sample in samples])
    np.testing.assert_allclose(played, move_joints(t), atol=2e-3)


@case("odriverobotics/ros_odrive#20", "refused", "NaN")
def joint_that_is_always_nan(folder):
    def say(m, t):
        q = move_joints([t])[0]
        q[2] = np.nan
        return m.state(t, list(JOINTS), q)

    return play_states(folder, say)


@case("own", "refused", "expected")
def joint_states_of_velocities_alone(folder):
    return play_states(folder, lambda m, t: m.state(t, list(JOINTS), []))


@case("own", "refused", "leader.units.angle=deg")
def numpy_file_in_degrees(folder):
    q = np.degrees(move_joints())
    np.savez(folder / "q.npz", t=T, q=q, joint_names=list(JOINTS))
    return play_piper(folder / "q.npz")


# --- bags ----------------------------------------------------------------------------


@case("ros2/rosbag2#857", "handled", "stamps out of order dropped")
def stamps_that_go_back(folder):
    t = T.copy()
    t[[60, 61]] = t[[61, 60]]
    return play_joints(folder, t, move_joints())


@case("ros2/rosbag2#2173", "handled", "duplicate stamps dropped")
def several_messages_of_one_stamp(folder):
    t = np.floor(T / 0.04) * 0.04
    return play_joints(folder, t, move_joints(t))


@case("ros2/rosbag2#791", "refused", "expected")
def bag_whose_recorder_was_killed(folder):
    typed = play_states(folder, say_state)
    file = next((folder / "bag").glob("*.mcap"))
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    (folder / "bag/metadata.yaml").unlink()
    return typed


# --- poses ---------------------------------------------------------------------------


@case(
    "fzi-forschungszentrum-informatik/cartesian_controllers#234", "refused", "quatern"
)
def poses_whose_quaternion_is_zero(folder):
    rows = make_pose_rows(T)
    rows[:, 4:] = 0.0
    return play_poses(folder, rows)


@case("isri-aist/RoboManipBaselines#11", "handled")
def quaternions_with_w_first(folder):
    rows = make_pose_rows(T)
    header = "t,x,y,z,qw,qx,qy,qz"
    first = make_leader(
        write_csv(folder / "a.csv", header, rows[:, [*range(4), 7, 4, 5, 6]])
    )
    last = make_leader(write_csv(folder / "b.csv", POSE, rows))

    played = [play(leader)[1][-1].limbs["hand"] for leader in (first, last)]

    one, other = (limb.T_leader_base_leader_eef.homogeneous for limb in played)
    np.testing.assert_allclose(one, other, atol=1e-9)


@case("xArm-Developer/xarm_ros2#65", "reported", "CHECK:", "leader.units.length")
def millimetres_beside_radians(folder):
    rows = np.zeros((len(T), 7))
    rows[:, 0], rows[:, 4] = T, 3.14
    rows[:, 1:4] = [-297.7, 193.0, 500.2] + 2.0 * np.outer(T, [1.0, 0.5, 0.2])
    typed = play_poses(folder, rows, "t,x,y,z,roll,pitch,yaw")
    return [
        *typed,
        "leader.columns.position=[x,y,z]",
        "leader.columns.euler=[roll,pitch,yaw]",
        "leader.columns.euler_order=xyz_extrinsic",
        "leader.units.angle=rad",
    ]


@case("MichaelGrupp/evo#329", "refused", "leader.units.time=ns")
def trajectory_with_stamps_in_nanoseconds(folder):
    rows = make_pose_rows(T)
    rows[:, 0] = 1.4e18 + 1e9 * T
    lines = [
        " ".join(f"{x:.9g}" if i else f"{x:.0f}" for i, x in enumerate(r)) for r in rows
    ]
    (folder / "p.txt").write_text("\n".join(lines) + "\n")
    return f"leader=offline leader.path={folder / 'p.txt'} follower=piper".split()


@case("NVIDIA/IsaacTeleop#731", "handled", "jumps above 3 m/s")
def controller_that_comes_back_elsewhere(folder):
    rows = make_pose_rows(T)
    rows[150:, 2] += 0.73
    return play_poses(folder, rows)


@case("alvr-org/ALVR#1510", "handled", "far from all others")
def position_of_zero_while_tracking_is_lost(folder):
    rows = make_pose_rows(T)
    rows[:, 1] += 1.0
    rows[80:84, 1:4] = 0.0
    return play_poses(folder, rows)


@case("own", "refused", "leader.units.time=ms")
def trajectory_with_stamps_in_milliseconds(folder):
    rows = make_pose_rows(T)
    rows[:, 0] *= 1e3
    return play_poses(folder, rows)


# --- text ----------------------------------------------------------------------------


@case("udacity/self-driving-car-sim#6", "refused", "expected")
def decimal_commas_between_commas(folder):
    rows = make_pose_rows(T)
    lines = [",".join(f"{x:.6f}".replace(".", ",") for x in row) for row in rows]
    (folder / "p.csv").write_text("\n".join([POSE, *lines]) + "\n")
    return f"leader=offline leader.path={folder / 'p.csv'} follower=piper".split()


@case("nyetwurk/ecuxplot#14", "handled", "columns between semicolons")
def decimal_commas_between_semicolons(folder):
    rows = make_pose_rows(T)
    lines = [";".join(f"{x:.6f}".replace(".", ",") for x in row) for row in rows]
    header = POSE.replace(",", ";")
    (folder / "p.csv").write_text("\n".join([header, *lines]) + "\n")
    return f"leader=offline leader.path={folder / 'p.csv'} follower=piper".split()


@case("own", "refused", "not numbers")
def stamps_as_dates(folder):
    rows = make_pose_rows(T)
    lines = [
        ",".join([f"2026-01-01T00:00:{row[0]:09.6f}", *map(repr, map(float, row[1:]))])
        for row in rows
    ]
    (folder / "p.csv").write_text("\n".join([POSE, *lines]) + "\n")
    return f"leader=offline leader.path={folder / 'p.csv'} follower=piper".split()


@pytest.mark.parametrize("name", CASES)
def test_an_input_leads_to_what_the_page_says(name, tmp_path, capsys):
    CASES.check(name, tmp_path, capsys)


def test_the_page_lists_these_inputs():
    assert read_rows("test_motions") == CASES.list_rows()
