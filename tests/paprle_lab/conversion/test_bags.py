"""Bags of others become data sets whose rows are judged by the written motion."""

from __future__ import annotations

import shutil

import foreign_bags
import numpy as np
import pytest
from foreign_bags import Motion, move, read_number, write_rosbag
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from paprle.cli.app import main

pytest.importorskip("pyarrow")
pytest.importorskip("av")

import av
import pyarrow.parquet as pq

FPS = 20.0

FORMS = {
    "mcap": lambda path: write_rosbag(path / "bag"),
    "single": lambda path: foreign_bags.find_mcap(write_rosbag(path / "folder")),
    "sqlite": lambda path: write_rosbag(path / "bag", form="sqlite3"),
    "ros1": lambda path: write_rosbag(path / "one.bag", form="bag"),
    "protobuf": lambda path: foreign_bags.write_protobuf_mcap(path / "p.mcap"),
}


def draft(bag, path):
    assert main(["dataset", "inspect", str(bag), "--out", str(path)]) == 0
    return path


def convert(bags, mapping, out, *words):
    places = [str(bag) for bag in bags]
    head = ["dataset", "convert", *places, "--mapping", str(mapping)]
    return main([*head, "--out", str(out), *words])


def read_set(out):
    """Return rows by column, and the numbers of the pictures."""
    tables = [pq.read_table(path) for path in sorted((out / "data").rglob("*.parquet"))]
    rows = {
        name: np.array([row for table in tables for row in table[name].to_pylist()])
        for name in tables[0].column_names
    }
    numbers = []
    for path in sorted(out.glob("videos/*/*/*.mp4")):
        with av.open(str(path)) as file:
            frames = file.decode(video=0)
            numbers += [read_number(f.to_ndarray(format="rgb24")) for f in frames]
    return rows, np.array(numbers)


def check_rows(rows, numbers, motion=None):
    """States of the written motion; the last command and picture, never later ones."""
    motion = motion or Motion()
    state = rows["observation.state"]
    t = 10.0 * state[:, 2]
    np.testing.assert_allclose(state, [move(one) for one in t], atol=2e-3)
    sent = np.floor(t / 0.05 + 1e-3) * 0.05
    expected = [move(one + 0.05) for one in sent]
    np.testing.assert_allclose(rows["action"], expected, atol=1e-5)
    if len(numbers):
        np.testing.assert_array_equal(numbers, np.floor(t * motion.fps + 1e-3))


@pytest.mark.parametrize("form", FORMS)
def test_rows_of_a_bag_are_of_their_times(tmp_path, form):
    bag = FORMS[form](tmp_path)

    code = convert([bag], draft(bag, tmp_path / "m.yaml"), tmp_path / "set")

    rows, numbers = read_set(tmp_path / "set")
    assert code == 0
    assert len(rows["index"]) >= 78
    assert len(numbers) == len(rows["index"])
    check_rows(rows, numbers)


@pytest.mark.parametrize("use_chunking", [True, False])
def test_json_channels_become_rows(tmp_path, use_chunking):
    bag = foreign_bags.write_json_mcap(tmp_path / "j.mcap", use_chunking=use_chunking)

    code = convert([bag], draft(bag, tmp_path / "m.yaml"), tmp_path / "set")

    rows, numbers = read_set(tmp_path / "set")
    assert code == 0
    assert len(rows["index"]) >= 110
    check_rows(rows, numbers)


def test_compressed_pictures_become_rows(tmp_path):
    told = [
        (r, s, "/wrist/image_raw/compressed" if "camera" in topic else topic, value)
        for r, s, topic, value in Motion().list_messages()
    ]
    bag = write_rosbag(tmp_path / "bag", told=told)

    code = convert([bag], draft(bag, tmp_path / "m.yaml"), tmp_path / "set")

    assert code == 0
    assert (tmp_path / "set/videos/observation.images.wrist").is_dir()
    rows, numbers = read_set(tmp_path / "set")
    check_rows(rows, numbers)


def test_a_draft_names_joints_cameras_and_guesses(tmp_path, capsys):
    bag = write_rosbag(tmp_path / "bag")

    text = draft(bag, tmp_path / "m.yaml").read_text()

    assert "names: [shoulder, elbow, wrist], unit: rad" in text
    assert "CHECK: names are those of the state" in text
    assert text.count("[shoulder, elbow, wrist]") == 4
    assert "camera: {topic: /camera/image_raw, size: [48, 64]}" in text
    assert "fps: 20" in text
    assert 'task: ""  # CHECK' in text
    shown = capsys.readouterr().out
    assert "pictures of 64 × 48" in shown
    assert "dataset convert" in shown


def test_without_commands_the_next_state_is_the_action(tmp_path):
    told = [one for one in Motion().list_messages() if "commands" not in one[2]]
    bag = write_rosbag(tmp_path / "bag", told=told)
    mapping = draft(bag, tmp_path / "m.yaml")

    assert "CHECK: no topic of commands was found" in mapping.read_text()
    assert convert([bag], mapping, tmp_path / "set") == 0

    rows, _ = read_set(tmp_path / "set")
    np.testing.assert_array_equal(rows["action"][:-1], rows["observation.state"][1:])


def test_a_pause_of_a_topic_ends_an_episode(tmp_path, capsys):
    told = [
        one
        for one in Motion(length=8.0).list_messages()
        if not ("image" in one[2] and 3.0 < one[1] < 5.0)
    ]
    bag = write_rosbag(tmp_path / "bag", told=told)

    assert convert([bag], draft(bag, tmp_path / "m.yaml"), tmp_path / "set") == 0

    rows, numbers = read_set(tmp_path / "set")
    assert set(rows["episode_index"]) == {0, 1}
    check_rows(rows, numbers)
    t = 10.0 * rows["observation.state"][:, 2]
    assert not ((t > 3.06) & (t < 4.99)).any()
    assert "2 episodes, as topics paused" in capsys.readouterr().out


def test_a_topic_that_begins_late_and_ends_early_bounds_the_rows(tmp_path, capsys):
    told = [
        one
        for one in Motion(length=8.0).list_messages()
        if "states" not in one[2] or 2.0 < one[1] < 5.0
    ]
    bag = write_rosbag(tmp_path / "bag", told=told)

    assert convert([bag], draft(bag, tmp_path / "m.yaml"), tmp_path / "set") == 0

    rows, numbers = read_set(tmp_path / "set")
    check_rows(rows, numbers)
    t = 10.0 * rows["observation.state"][:, 2]
    assert 2.0 <= t.min() <= 2.1
    assert 4.9 <= t.max() <= 5.0
    shown = capsys.readouterr().out
    assert "its first 2.1 s are left out" in shown
    assert "its last 3.0 s are left out: '/joint_states' had ended" in shown


def damage(path, kind):
    data = bytearray(path.read_bytes())
    if kind == "cut off":
        data = data[: len(data) // 2]
    elif kind == "flipped":
        for at in range(len(data) // 2, len(data) // 2 + 64):
            data[at] ^= 0xFF
    elif kind == "empty":
        data = bytearray()
    else:
        data = bytearray(np.random.default_rng(0).bytes(4096))
    path.write_bytes(data)


@pytest.mark.parametrize("kind", ["cut off", "flipped", "empty", "noise"])
def test_a_damaged_bag_is_left_out_and_told(tmp_path, kind, capsys):
    bags = [tmp_path / name for name in ("bags/a.mcap", "bags/b.mcap")]
    whole = foreign_bags.write_json_mcap(tmp_path / "whole.mcap")  # with checksums
    (tmp_path / "bags").mkdir()
    for bag in bags:
        shutil.copy(whole, bag)
    mapping = draft(whole, tmp_path / "m.yaml")
    damage(bags[0], kind)

    code = convert([tmp_path / "bags"], mapping, tmp_path / "set")

    shown = capsys.readouterr().out
    assert code == 1
    assert "left out" in shown
    assert "a.mcap" in shown
    rows, numbers = read_set(tmp_path / "set")
    assert set(rows["episode_index"]) == {0}
    check_rows(rows, numbers)


def test_a_bag_without_a_topic_is_left_out(tmp_path, capsys):
    bag = write_rosbag(tmp_path / "one")
    told = [one for one in Motion().list_messages() if "commands" not in one[2]]
    other = write_rosbag(tmp_path / "other", told=told)

    code = convert([bag, other], draft(bag, tmp_path / "m.yaml"), tmp_path / "set")

    shown = capsys.readouterr().out
    assert code == 1
    assert "expected messages on /joint_commands, got none" in shown
    assert set(read_set(tmp_path / "set")[0]["episode_index"]) == {0}


def test_a_clock_of_another_computer_is_not_used(tmp_path):
    told = [
        (r, s - 3600.0 if "image" in topic else s, topic, value)
        for r, s, topic, value in Motion(delay=0.001).list_messages()
    ]
    bag = write_rosbag(tmp_path / "bag", told=told)
    mapping = draft(bag, tmp_path / "m.yaml")

    assert "clock: reception" in mapping.read_text()
    assert convert([bag], mapping, tmp_path / "set") == 0
    rows, numbers = read_set(tmp_path / "set")
    assert len(rows["index"]) >= 75
    shown = np.floor((10.0 * rows["observation.state"][:, 2]) * FPS + 0.1)
    assert (np.abs(numbers - shown) <= 2).all()


def test_unusable_messages_are_left_out_and_counted(tmp_path, capsys):
    told = list(Motion().list_messages())
    n_bad = 0
    for k, (r, s, topic, _) in enumerate(told):
        if topic == "/joint_states" and k % 50 == 7:
            told[k] = (r, s, topic, np.array([np.nan, 0.0, 0.0]))
            n_bad += 1
    bag = write_rosbag(tmp_path / "bag", told=told)

    assert convert([bag], draft(bag, tmp_path / "m.yaml"), tmp_path / "set") == 0

    rows, numbers = read_set(tmp_path / "set")
    check_rows(rows, numbers)
    assert n_bad
    assert f"{n_bad} messages left out on /joint_states" in capsys.readouterr().out


def test_reordered_and_repeated_messages_change_no_row(tmp_path):
    rng = np.random.default_rng(3)
    told = []
    for r, s, topic, value in Motion().list_messages():
        late = float(rng.uniform(0.0, 0.3))
        told.append((r + late, s, topic, value))
        if rng.random() < 0.2:
            told.append((r + late + 0.1, s, topic, value))
    bag = write_rosbag(tmp_path / "bag", told=sorted(told, key=lambda one: one[0]))

    assert convert([bag], draft(bag, tmp_path / "m.yaml"), tmp_path / "set") == 0

    rows, numbers = read_set(tmp_path / "set")
    # commands have no stamp of the sender, and are of their reception
    state = rows["observation.state"]
    t = 10.0 * state[:, 2]
    np.testing.assert_allclose(state, [move(one) for one in t], atol=2e-3)
    assert (np.abs(numbers - np.floor(t * FPS + 1e-3)) <= 1).all()
    assert len(t) >= 75


def test_the_same_command_goes_on_and_adds_bags(tmp_path, capsys):
    first = write_rosbag(tmp_path / "one")
    mapping = draft(first, tmp_path / "m.yaml")
    assert convert([first], mapping, tmp_path / "set") == 0
    files = {p: p.read_bytes() for p in (tmp_path / "set/data").rglob("*.parquet")}
    more = write_rosbag(tmp_path / "two", Motion(length=3.0))

    assert convert([first, more], mapping, tmp_path / "set", "--task", "sort") == 0

    rows, numbers = read_set(tmp_path / "set")
    assert set(rows["episode_index"]) == {0, 1}
    check_rows(rows, numbers)
    assert all(path.read_bytes() == data for path, data in files.items())
    assert "1 recordings were in it" in capsys.readouterr().out


def test_another_mapping_is_refused(tmp_path, capsys):
    bag = write_rosbag(tmp_path / "one")
    mapping = draft(bag, tmp_path / "m.yaml")
    assert convert([bag], mapping, tmp_path / "set") == 0
    mapping.write_text(mapping.read_text().replace("fps: 20", "fps: 10"))

    assert convert([bag], mapping, tmp_path / "set") == 2

    assert "choose another --out" in capsys.readouterr().err


def test_a_copy_of_a_bag_is_no_second_episode(tmp_path, capsys):
    bag = write_rosbag(tmp_path / "one.bag", form="bag")
    shutil.copy(bag, tmp_path / "two.bag")

    code = convert(
        [bag, tmp_path / "two.bag"], draft(bag, tmp_path / "m.yaml"), tmp_path / "set"
    )

    assert code == 1
    assert "a copy of another one" in capsys.readouterr().out


def test_numbers_are_scaled_chosen_and_put_together(tmp_path):
    bag = write_rosbag(tmp_path / "bag")
    mapping = tmp_path / "m.yaml"
    mapping.write_text(
        "fps: 10\ncolumns:\n  observation.state:\n"
        "  - {topic: /joint_states, field: position, names: [wrist], unit: deg,"
        " scale: 57.29577951}\n"
        "  - {topic: /joint_states, field: position, names: [elbow], unit: rad}\n"
        "  action: {topic: /joint_commands, field: data, names: [a, b, c]}\n"
    )

    assert convert([bag], mapping, tmp_path / "set") == 0

    rows, _ = read_set(tmp_path / "set")
    state = rows["observation.state"]
    t = 10.0 * np.deg2rad(state[:, 0])
    np.testing.assert_allclose(state[:, 1], 0.5 * np.cos(0.7 * t), atol=2e-3)
    assert np.allclose(np.diff(t), 0.1, atol=2e-3)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("fps: 20", "fps: 0"), "fps"),
        (("fps: 20", "fps: .nan"), "fps"),
        (("fps: 20", "rate: 20"), "rate"),
        (("field: data", "field: 3"), "field"),
        (("[48, 64]", "[48]"), "size"),
        (("[48, 64]", "[48, -64]"), "size"),
        (("[shoulder, elbow", "[elbow, elbow"), "twice"),
        (("  camera:", "  ../camera:"), "name of letters"),
        (("clock: header", "clock: mine"), "clock"),
    ],
)
def test_a_wrong_mapping_is_refused_with_its_key(tmp_path, capsys, change, expected):
    bag = write_rosbag(tmp_path / "bag", Motion(length=0.5))
    mapping = draft(bag, tmp_path / "m.yaml")
    text = mapping.read_text()
    assert change[0] in text
    mapping.write_text(text.replace(*change, 1))

    assert convert([bag], mapping, tmp_path / "set") == 2

    assert expected in capsys.readouterr().err
    assert not (tmp_path / "set").exists()


def test_a_place_without_bags_is_refused(tmp_path, capsys):
    assert main(["dataset", "inspect", str(tmp_path)]) == 2

    assert "expected bags" in capsys.readouterr().err


def test_a_type_of_the_makers_own_is_read_by_its_definition(tmp_path):
    store = get_typestore(Stores.ROS2_HUMBLE)
    kind = "lab_msgs/msg/ArmState"
    store.register(
        get_types_from_msg("builtin_interfaces/Time stamp\nfloat32[3] q\n", kind)
    )
    time = store.types["builtin_interfaces/msg/Time"]
    with Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as to:
        connection = to.add_connection("/arm/joint_state", kind, typestore=store)
        for k in range(200):
            ns = foreign_bags.BEGIN_NS + k * 10_000_000
            stamp = time(ns // 10**9, ns % 10**9)
            message = store.types[kind](stamp, move(k / 100).astype(np.float32))
            to.write(connection, ns + 2_000_000, store.serialize_cdr(message, kind))

    bag = tmp_path / "bag"
    assert convert([bag], draft(bag, tmp_path / "m.yaml"), tmp_path / "set") == 0

    rows, _ = read_set(tmp_path / "set")
    state = rows["observation.state"]
    assert len(state) >= 55
    expected = [move(10.0 * one) for one in state[:, 2]]
    np.testing.assert_allclose(state, expected, atol=2e-3)
