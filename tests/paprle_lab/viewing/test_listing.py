"""A path names recordings: episodes, a folder, a data set of LeRobot, or a bag."""

import json
import math
import shutil

import numpy as np
import pytest
from bagfiles import START_NS, write_bag
from filmed import write_episode

from paprle.contracts.errors import ConfigError, RecordingError
from paprle_lab.dataset.create import create
from paprle_lab.viewing.lerobot_list import name_dimensions
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


@pytest.mark.parametrize("name", ["missing", "."])
def test_a_path_without_recordings_is_refused(tmp_path, name):
    with pytest.raises(ConfigError, match="view: expected"):
        list_recordings(tmp_path / name)
