"""A path names recordings: episodes, a folder, a data set of LeRobot, or a bag."""

import json
import math
import shutil

import numpy as np
import pytest
from bagfiles import START_NS, write_bag
from filmed import write_episode
from mcap.writer import Writer

from paprle.contracts.errors import ConfigError, RecordingError
from paprle_lab.dataset.create import create
from paprle_lab.dataset.formats.lerobot_tables import find_unit, name_dimensions
from paprle_lab.viewing.listing import list_recordings

SECONDS = 1.0


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    write_episode(folder, SECONDS, task="pick", cameras=("front", "side"))
    write_episode(folder, 0.6, task="place", discard=True, cameras=("front",))
    return folder


@pytest.fixture(scope="module")
def data_set(recorded, tmp_path_factory):
    root = tmp_path_factory.mktemp("made") / "set"
    create([recorded], root, "lerobot")
    return root


def test_a_folder_lists_its_episodes_without_opening_them(recorded, tmp_path):
    (tmp_path / "below").mkdir()
    for path in recorded.iterdir():
        (tmp_path / "below" / path.name).write_bytes(
            b"" if path.suffix == ".mcap" else path.read_bytes()
        )
    first, second = list_recordings(tmp_path).entries

    assert (first.name, first.task) == ("episode_000000", "pick")
    assert first.seconds == pytest.approx(SECONDS, abs=0.05)
    assert (first.outcome, second.outcome) == ("success", "discarded")


def test_an_episode_that_was_never_finished_is_listed(recorded, tmp_path):
    path = tmp_path / "episode_000000.mcap"
    path.write_bytes((recorded / path.name).read_bytes())
    (entry,) = list_recordings(tmp_path).entries

    assert entry.outcome == "never finished"
    assert math.isnan(entry.seconds)


@pytest.mark.parametrize("text", ["{", "[]", '{"end_reason": 3}'])
def test_a_damaged_manifest_is_a_note_not_an_end(recorded, tmp_path, text):
    path = tmp_path / "episode_000000.mcap"
    path.write_bytes((recorded / path.name).read_bytes())
    path.with_suffix(".json").write_text(text)
    (entry,) = list_recordings(tmp_path).entries

    assert "expected" in entry.notes[0]


def test_the_report_beside_an_episode_is_its_score(recorded, tmp_path):
    for path in recorded.glob("episode_000000.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    report = tmp_path / "episode_000000.report.json"
    report.write_text(json.dumps([{"error": "it is empty"}]))
    assert list_recordings(tmp_path).entries[0].score == "unknown"
    report.write_text("nonsense")
    assert list_recordings(tmp_path).entries[0].score == ""


def test_a_still_is_an_early_image(recorded):
    frame, info = list_recordings(recorded).find_still(0)

    assert info.find_fault(frame) == ""
    assert info.encoding == "rgb8"


def test_a_data_set_shows_state_and_action_of_each_joint(data_set):
    listed = list_recordings(data_set)
    (entry,) = listed.entries
    film = listed.open(0)
    turn = [k for k, one in enumerate(film.signals) if one.chart == "turn.pos"]

    assert entry.task == "pick"
    assert entry.seconds == pytest.approx(film.length, abs=0.05)
    assert {film.signals[k].name for k in turn} == {"state", "action"}
    for k in turn:
        t, values = film.read_signal(k)
        assert np.degrees(0.4) * t == pytest.approx(values, abs=2.0)
    film.close()


def test_images_of_a_data_set_are_those_of_the_time(data_set):
    film = list_recordings(data_set).open(0)
    info = film.cameras["front"]

    for t in (0.0, 0.9, 0.3, 0.3, 0.31):
        assert info.find_fault(film.see("front", t)) == ""
    early, late = (film.see("front", t).data for t in (0.1, 0.8))
    assert early != late
    assert film.see("front", 0.1).data == early
    film.close()


def test_a_data_set_without_a_video_shows_the_rest(data_set, tmp_path):
    root = tmp_path / "set"
    shutil.copytree(data_set, root)
    shutil.rmtree(root / "videos" / "observation.images.side")
    film = list_recordings(root).open(0)

    assert list(film.cameras) == ["front"]
    assert "side" in film.notes[0]
    assert film.signals
    film.close()


def test_a_data_set_of_another_version_is_refused_with_a_remedy(data_set, tmp_path):
    info = json.loads((data_set / "meta" / "info.json").read_text())
    (tmp_path / "meta").mkdir()
    path = tmp_path / "meta" / "info.json"
    path.write_text(json.dumps(info | {"codebase_version": "v2.1"}))

    with pytest.raises(RecordingError, match="LeRobot's own scripts convert"):
        list_recordings(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"codebase_version": "v3.0"}'])
def test_a_damaged_info_is_refused(tmp_path, text):
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta" / "info.json").write_text(text)

    with pytest.raises(RecordingError, match=r"info\.json"):
        list_recordings(tmp_path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("data_path", "../{chunk_index}"),
        ("data_path", "/etc/passwd"),
        ("data_path", "{chunk_index.__class__}"),
        ("data_path", None),
        ("video_path", "../../{video_key}.mp4"),
        ("video_path", None),
        ("features", {"a": {"dtype": "image"}}),
        ("fps", float("nan")),
        ("fps", "30"),
    ],
)
def test_a_hostile_info_is_an_error_or_a_note(data_set, tmp_path, key, value):
    root = tmp_path / "set"
    shutil.copytree(data_set, root)
    path = root / "meta" / "info.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))

    try:
        film = list_recordings(root).open(0)
    except RecordingError as err:
        assert "expected" in str(err)
    else:
        assert film.cameras == {}
        assert "expected" in film.notes[0]
        film.close()


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (["a", "b"], ["a", "b"]),
        ({"motors": ["a", "b"]}, ["a", "b"]),
        ({"axes": ["x"], "motors": ["a"]}, ["x", "a"]),
        (None, ["0", "1"]),
        (["one too few"], ["0", "1"]),
        ({"motors": 2}, ["0", "1"]),
    ],
)
def test_dimensions_have_the_names_that_others_write(given, names):
    assert name_dimensions(given, 2) == names


def make_image(t, form="bgr8"):
    def make(messages, _):
        pixels = np.zeros((4, 6, 3), np.uint8)
        pixels[:, :, 0] = round(100 * t)  # blue of bgr8
        kind = "sensor_msgs/msg/Image"
        header = messages.header(t)
        data = pixels.ravel()
        return kind, messages.make(kind, header, 4, 6, form, 0, 18, data)

    return t, make


@pytest.mark.parametrize("storage", ["mcap", "db3", "bag"])
def test_a_bag_shows_joints_fields_and_images(tmp_path, storage):
    said = {
        "/joint_states": [
            (t, lambda m, t: m.state(t, ["a", "b"], [t, -t])) for t in (0.0, 0.1, 0.2)
        ],
        "/tool": [(t, lambda m, t: m.pose(t, (t, 0.5, 0.0))) for t in (0.0, 0.2)],
        "/eye": [make_image(t) for t in (0.0, 0.1, 0.2)],
    }
    listed = list_recordings(write_bag(tmp_path / "said", said, storage))
    film = listed.open(0)
    found = {(one.chart, one.name): k for k, one in enumerate(film.signals)}

    t, values = film.read_signal(found["/joint_states position", "b"])
    assert values == pytest.approx(-t)
    assert t == pytest.approx([0.0, 0.1, 0.2])
    _, x = film.read_signal(found["/tool pose.position", "x"])
    assert x.tolist() == pytest.approx([0.0, 0.2])
    assert film.length == pytest.approx(0.2)
    frame = film.see("eye", 0.15)
    assert np.frombuffer(frame.data, np.uint8)[:3].tolist() == [0, 0, 10]
    assert film.see("eye", 9.0) is None
    frame, info = listed.find_still(0)
    assert info.find_fault(frame) == ""
    assert frame.stamp_ns >= START_NS
    film.close()


def test_an_image_of_another_encoding_hides_only_itself(tmp_path):
    said = {
        "/eye": [make_image(t, "bayer_rggb8") for t in (0.0, 0.1)],
        "/tool": [(t, lambda m, t: m.pose(t, (t, 0.5, 0.0))) for t in (0.0, 0.2)],
    }
    film = list_recordings(write_bag(tmp_path / "said", said)).open(0)

    assert film.cameras == {}
    assert film.signals
    film.close()


def write_json(path, said, encoding="json"):
    """Write {topic: [(t, message)]} as Foxglove's libraries do, of no profile."""
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start(library="foxglove")
        schema = writer.register_schema("any", "jsonschema", b"{}")
        for topic, rows in said.items():
            channel = writer.register_channel(topic, encoding, schema)
            for n, (t, message) in enumerate(rows):
                data = message if isinstance(message, bytes) else to_json(message)
                stamp = START_NS + round(t * 1e9)
                writer.add_message(channel, stamp, data, stamp, n)
        writer.finish()
    return path


def to_json(message):
    return json.dumps(message).encode()


def test_numbers_of_json_channels_of_others_are_plotted(tmp_path):
    stamp = {"sec": 7, "nsec": 5}
    joints = [{"name": "a", "position": 0.5}, {"name": "b", "position": -0.5}]
    said = {
        "/pose": [
            (t, {"timestamp": stamp, "p": {"x": t, "frame": "base"}, "is_on": True})
            for t in (0.0, 0.1, 0.2)
        ],
        "/joints": [(0.1, {"joints": joints, "image": "x" * 99})],
        "/temperature": [(0.0, 21.5), (0.2, 10**400)],
    }
    listed = list_recordings(write_json(tmp_path / "log.mcap", said))
    (entry,) = listed.entries
    film = listed.open(0)
    found = {(one.chart, one.name): k for k, one in enumerate(film.signals)}

    assert entry.seconds == pytest.approx(0.2)
    t, x = film.read_signal(found["/pose p", "x"])
    assert t == pytest.approx([0.0, 0.1, 0.2])
    assert x.tolist() == [0.0, 0.1, 0.2]
    assert ("/pose", "is_on") in found
    assert film.read_signal(found["/joints joints.b", "position"])[1] == [-0.5]
    assert film.read_signal(found["/temperature", "value"])[1].tolist() == [21.5]
    assert not {name for _, name in found} & {"sec", "nsec", "frame", "image"}
    assert listed.find_still(0) is None
    film.close()


@pytest.mark.parametrize("text", [b"{", b"[" * 100_000, b"\xff"])
def test_a_damaged_json_channel_hides_only_itself(tmp_path, text):
    said = {"/bad": [(0.0, text)], "/good": [(0.0, {"x": 1.0}), (1.0, {"x": 2.0})]}
    film = list_recordings(write_json(tmp_path / "log.mcap", said)).open(0)

    assert [one.chart for one in film.signals] == ["/good"]
    assert "/bad" in film.notes[0]
    film.close()


def test_an_mcap_without_json_or_ros_is_refused(tmp_path):
    path = write_json(tmp_path / "log.mcap", {"/x": [(0.0, b"1")]}, "protobuf")

    with pytest.raises(RecordingError, match="expected a whole bag"):
        list_recordings(path)


def test_a_folder_lists_own_episodes_and_bags_of_others(recorded, tmp_path):
    for path in recorded.glob("episode_000000.*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    below = tmp_path / "below"
    below.mkdir()
    write_json(below / "log.mcap", {"/x": [(0.0, {"x": 1.0}), (0.5, {"x": 2.0})]})
    said = {"/tool": [(t, lambda m, t: m.pose(t, (t, 0.5, 0.0))) for t in (0.0, 0.2)]}
    write_bag(below / "ros", said)
    write_bag(below / "old", said, "bag")
    (below / "broken.bag").write_bytes(b"#ROSBAG V2.0\n")
    listed = list_recordings(tmp_path)

    names = [entry.name for entry in listed.entries]
    assert names == [
        "episode_000000", "below/broken", "below/log", "below/old", "below/ros",
    ]  # fmt: skip
    assert "expected a whole bag" in listed.entries[1].notes[0]
    assert [listed.entries[k].seconds for k in (2, 3, 4)] == pytest.approx(
        [0.5, 0.2, 0.2], abs=0.01
    )
    for k, chart in ((0, "turn"), (2, "/x"), (4, "/tool pose.position")):
        film = listed.open(k)
        assert chart in {one.chart for one in film.signals}
        film.close()


def test_a_folder_of_bags_alone_is_listed(tmp_path):
    write_json(tmp_path / "one.mcap", {"/x": [(0.0, {"x": 1.0})]})
    write_json(tmp_path / "episode_000001.mcap", {"/x": [(0.0, {"x": 1.0})]})

    listed = list_recordings(tmp_path)

    assert [one.name for one in listed.entries] == ["episode_000001", "one"]
    assert listed.open(0).signals


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("shoulder_pan.pos", "° or %"),
        ("arm_left_gripper.pos", "%"),
        ("x.vel", "m/s"),
        ("theta.vel", "°/s"),
        ("ee.x", "m"),
        ("ee.wz", "rad"),
        ("motor_1", ""),
        ("shoulder.vel", ""),
        ("index.vel", ""),
    ],
)
def test_names_of_lerobot_fix_units(name, unit):
    assert find_unit(name) == unit


@pytest.mark.parametrize("name", ["missing", "."])
def test_a_path_without_recordings_is_refused(tmp_path, name):
    with pytest.raises(ConfigError, match="view: expected"):
        list_recordings(tmp_path / name)
