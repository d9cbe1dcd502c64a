"""Numbers that contradict their unit are refused or reported."""

from dataclasses import replace

import numpy as np
import pytest
from dataset_files import JOINTS, write_lerobot, write_umi
from dataset_player import Player, load_config

from paprle.contracts.errors import ConfigError, DeviceError
from paprle.leaders.dataset.config import ColumnSettings, DatasetConfig
from paprle.leaders.dataset.leader import Dataset
from paprle.testing import ManualClock, make_robot_info

ARM = ColumnSettings(
    joints={joint: f"{joint}.pos" for joint in JOINTS},
    gripper="gripper.pos",
    open=100.0,
)
HAND = ColumnSettings(
    position=("x", "y", "z"),
    rotation=("a", "b", "c"),
    rotation_as="rpy_xyz_extrinsic",
)


def write_joints(folder, q, opening=None):
    """Write an episode of joints as they are given, shape (n, 3), and one gripper."""

    def change(_number, t, _action):
        more = np.linspace(0.0, 100.0, len(t)) if opening is None else opening
        return t, np.column_stack([q, more]).astype(np.float32)

    return write_lerobot(folder / "set", [len(q)], change=change)


def write_hand(folder, p, angles):
    """Write an episode of positions and angles as they are given, shape (n, 3)."""

    def change(_number, t, _action):
        return t, np.column_stack([p, angles]).astype(np.float32)

    return write_lerobot(folder / "set", [len(p)], names=[*"xyzabc"], change=change)


def play(path, robot=None, limb=ARM, **settings):
    config = DatasetConfig(path=str(path), limbs={"arm": limb}, **settings)
    leader = Dataset(config, ManualClock())
    if robot is not None:
        leader.meet(robot)
    _ = leader.info
    return leader


def find_checks(leader):
    return [note for note in leader.notes if note.startswith("CHECK: ")]


def swing(middle, amplitude, n=40):
    t = np.linspace(0.0, 1.0, n)
    return middle + amplitude * np.sin(np.add.outer(t, np.arange(3.0)))


STILL = np.zeros((40, 3))


@pytest.mark.parametrize("middle", [30.0, -25.0, 400.0])
def test_joints_far_beyond_any_turn_are_refused_as_degrees(tmp_path, middle):
    path = write_joints(tmp_path, swing(middle, 1.0))

    with pytest.raises(ConfigError, match=r"'pan\.pos' from .*say leader\.angle=deg"):
        play(path, angle="rad")


def test_a_joint_that_the_robot_can_turn_that_far_is_played(tmp_path):
    path = write_joints(tmp_path, swing(30.0, 1.0))
    robot = make_robot_info(len(JOINTS), q_min=-40.0, q_max=40.0)

    leader = play(path, replace(robot, joint_names=JOINTS), angle="rad")

    assert find_checks(leader) == []


def test_small_motion_in_degrees_is_a_line_to_check(tmp_path):
    leader = play(write_joints(tmp_path, swing(10.0, 2.0)), angle="rad")

    (check,) = find_checks(leader)
    assert "more than a turn" in check
    assert check.endswith("leader.angle=deg")


def test_radians_read_as_degrees_are_a_line_to_check(tmp_path):
    leader = play(write_joints(tmp_path, swing(0.3, 1.2)), angle="deg")

    (check,) = find_checks(leader)
    assert check.endswith("if they are radians, leader.angle=rad")


@pytest.mark.parametrize("amplitude", [20.0, 0.0])
def test_degrees_that_move_by_degrees_or_not_at_all_are_no_doubt(tmp_path, amplitude):
    leader = play(write_joints(tmp_path, swing(0.0, amplitude)), angle="deg")

    assert find_checks(leader) == []


@pytest.mark.parametrize(
    ("angles", "said"),
    [(swing(90.0, 5.0), "are they degrees"), (np.round(swing(0.0, 3.0)), "degrees")],
    ids=["far", "whole"],
)
def test_euler_angles_that_are_no_radians_are_refused(tmp_path, angles, said):
    path = write_hand(tmp_path, STILL, angles)

    with pytest.raises(ConfigError, match=said):
        play(path, limb=HAND, angle="rad")


@pytest.mark.parametrize("angle", [None, "rad"])
def test_euler_angles_that_may_be_either_are_a_doubt_where_no_unit_is_set(
    tmp_path, angle
):
    leader = play(write_hand(tmp_path, STILL, swing(0.0, 1.0)), limb=HAND, angle=angle)

    assert len(find_checks(leader)) == (angle is None)
    assert any("[rad] (assumed)" in note for note in leader.notes) == (angle is None)


@pytest.mark.parametrize(
    ("radian", "is_refused"), [(180.0 / np.pi, True), (2.5, False), (1.0, None)]
)
def test_rotation_vectors_longer_than_a_turn_are_refused(tmp_path, radian, is_refused):
    path = write_umi(tmp_path / "hand.zarr", [60], radian=radian)
    leader = Dataset(load_config("dataset_umi", path=str(path)), ManualClock())

    if is_refused:
        with pytest.raises(ConfigError, match=r"a turn .*leader\.angle=deg"):
            _ = leader.info
    else:
        assert len(find_checks(leader)) == (is_refused is False)


@pytest.mark.parametrize(
    ("amplitude", "length", "said"),
    [
        (80.0, None, "say leader.length=mm"),
        (3.0, "m", "if they are mm or cm, leader.length"),
        (0.1, "mm", "read in mm; if they are metres"),
        (0.1, "cm", "read in cm; if they are metres"),
        (100.0, "mm", ""),
        (10.0, "cm", ""),
        (0.1, "m", ""),
    ],
)
def test_positions_of_another_unit_are_refused_or_reported(
    tmp_path, amplitude, length, said
):
    path = write_hand(tmp_path, swing(0.0, amplitude), STILL)
    settings = {"limb": HAND, "angle": "rad", "length": length}

    try:
        told = find_checks(play(path, **settings))
    except (ConfigError, DeviceError) as err:
        told = [str(err)]

    assert len(told) == bool(said)
    assert all(said in text for text in told)


def test_openings_beyond_their_ends_are_counted_and_reported(tmp_path):
    opening = np.linspace(0.0, 400.0, 40)

    leader = play(write_joints(tmp_path, swing(0.0, 20.0), opening), angle="deg")

    (check,) = find_checks(leader)
    assert "is this percent? closed and open of leader.limbs.arm" in check
    n = int((opening > 100.0).sum())
    assert any(f"{n} gripper openings of 'arm' clipped" in t for t in leader.notes)


def test_openings_that_are_hardly_used_are_a_line_to_check(tmp_path):
    opening = np.linspace(0.0, 1.0, 40)

    leader = play(write_joints(tmp_path, swing(0.0, 20.0), opening), angle="deg")

    assert "0 is closed and 1 is open" in find_checks(leader)[0]


def test_each_column_is_reported_with_its_range_and_unit(tmp_path):
    leader = play(write_joints(tmp_path, swing(0.0, 20.0)), angle="deg")

    (told,) = [note for note in leader.notes if "'arm' from" in note]
    assert "'pan.pos' 0 … 16.8" in told
    assert "in [deg]; gripper 'gripper.pos' 0 … 100, closed at 0, open at 100" in told


def test_rows_that_are_seconds_apart_are_a_line_to_check(tmp_path):
    def change(_number, t, action):
        return 1e3 * t, action

    path = write_lerobot(tmp_path / "set", [40], change=change)

    assert "are the stamps in ms" in find_checks(play(path, angle="deg"))[0]


def test_a_jump_names_the_unit_that_may_be_wrong(tmp_path):
    q = swing(8.0, 0.0)
    q[20:] += 5.0

    with pytest.raises(DeviceError, match=r"jumps in joints.*leader\.angle=deg"):
        play(write_joints(tmp_path, q), angle="rad")


@pytest.mark.parametrize(
    ("second", "n_told"), [(0.3, 1), (20.0, 0)], ids=["radians", "degrees"]
)
def test_a_later_episode_is_judged_when_it_is_read(tmp_path, second, n_told):
    def change(number, t, action):
        if number == 1:
            action[:, :3] *= second / 20.0
            action[:, :3] -= 0.5 * second
        return t, action

    path = write_lerobot(tmp_path / "set", [40, 40], change=change)
    player = Player(DatasetConfig(path=str(path), limbs={"arm": ARM}, angle="deg"))
    player.play()
    player.reset()

    told = player.leader.take_warnings()
    player.leader.close()

    assert len([text for text in told if "CHECK" in text]) == n_told
    assert all("episode 1" in text for text in told)
