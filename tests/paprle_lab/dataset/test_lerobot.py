"""LeRobot v3.0, judged by our own reading of it with pyarrow, pandas and PyAV."""

import json

import numpy as np
import pytest
from filmed import move, write_episode

pytest.importorskip("av")
pytest.importorskip("pyarrow")

import av
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from paprle_emulators.camera.clock_picture import read_clock
from paprle_lab.dataset.create import create

START_MS = 5_000
FIRST_MS = 10  # of the first picture in an episode
BEHIND_MS = 1e3 / 30 / 4  # rows are a quarter of one behind the pictures
KEY = "observation.images.front"
FPS = 30


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    write_episode(folder, 1.0, task="pick", cameras=("front", "side"))
    write_episode(folder, 1.3, task="place", cameras=("front", "side"), outcome="")
    return folder


@pytest.fixture(scope="module")
def made(recorded, tmp_path_factory):
    root = tmp_path_factory.mktemp("made") / "set"
    return root, create([recorded], root, "lerobot")


@pytest.fixture(scope="module")
def rows(made):
    return pq.read_table(made[0] / "data/chunk-000/file-000.parquet")


@pytest.fixture(scope="module")
def episodes(made):
    return pq.read_table(
        made[0] / "meta/episodes/chunk-000/file-000.parquet"
    ).to_pylist()


def read_video(root, key=KEY, number=0):
    """Return times [s], images and key flags of a video, as any player has them."""
    path = root / f"videos/{key}/chunk-000/file-{number:03d}.mp4"
    with av.open(str(path)) as file:
        stream = file.streams.video[0]
        frames = list(file.decode(stream))
        assert float(stream.average_rate) == FPS
    images = [frame.to_ndarray(format="rgb24") for frame in frames]
    return [frame.time for frame in frames], images, [f.key_frame for f in frames]


def column(rows, name):
    values = rows[name].to_pylist()
    return np.array(values)


def find_times(rows, episode):
    """Return when each frame of an episode was, since the recording began, [s]."""
    n = int((column(rows, "episode_index") == episode).sum())
    return (FIRST_MS + BEHIND_MS) * 1e-3 + np.arange(n) / FPS


def test_info_is_what_lerobot_asks_for(made):
    info = json.loads((made[0] / "meta/info.json").read_text())

    assert info["codebase_version"] == "v3.0"
    assert info["fps"] == FPS
    assert (info["total_episodes"], info["total_tasks"]) == (2, 2)
    assert info["splits"] == {"train": "0:2"}
    features = info["features"]
    assert features["observation.state"] == {
        "dtype": "float32",
        "shape": [3],
        "names": ["turn.pos", "lift.pos", "gripper.pos"],
    }
    assert features[KEY]["shape"] == [80, 96, 3]
    assert features[KEY]["info"]["video.pix_fmt"] == "yuv420p"
    for name in ("timestamp", "frame_index", "episode_index", "index", "task_index"):
        assert features[name]["shape"] == [1]
        assert features[name]["names"] is None


def test_columns_have_the_types_of_their_features(made, rows):
    features = json.loads((made[0] / "meta/info.json").read_text())["features"]
    kinds = {"float32": pa.float32(), "int64": pa.int64(), "bool": pa.bool_()}

    expected = {
        name: kinds[one["dtype"]]
        if one["shape"] == [1]
        else pa.list_(kinds[one["dtype"]], one["shape"][0])
        for name, one in features.items()
        if one["dtype"] != "video"
    }
    assert {field.name: field.type for field in rows.schema} == expected


@pytest.mark.long
def test_indices_run_through_and_times_are_index_over_rate(rows, episodes):
    assert column(rows, "index").tolist() == list(range(len(rows)))
    for one in episodes:
        own = rows.slice(one["dataset_from_index"], one["length"])
        assert set(column(own, "episode_index")) == {one["episode_index"]}
        frames = column(own, "frame_index")
        assert frames.tolist() == list(range(one["length"]))
        np.testing.assert_allclose(column(own, "timestamp"), frames / FPS, rtol=1e-6)
        assert column(own, "next.done").tolist() == [False] * (len(own) - 1) + [True]


def test_each_episode_is_a_row_group(made):
    file = pq.ParquetFile(made[0] / "data/chunk-000/file-000.parquet")

    assert file.num_row_groups == 2


def test_joints_are_degrees_metres_and_percent_at_the_time_of_the_frame(rows):
    t = find_times(rows, 0)
    q = move(t)

    state = column(rows, "observation.state")[: len(t)]
    np.testing.assert_allclose(state[:, 0], np.degrees(q[:, 0]), atol=1e-4)
    np.testing.assert_allclose(state[:, 1], q[:, 1], atol=1e-6)
    np.testing.assert_allclose(state[:, 2], 100.0 * q[:, 2] / 0.04, atol=1e-4)
    speed = column(rows, "observation.velocity")[0]
    np.testing.assert_allclose(speed, [np.degrees(0.4), 0.1, -25.0], rtol=1e-5)
    np.testing.assert_allclose(column(rows, "observation.effort")[5], [1, 2, 3])


def test_actions_are_what_was_in_force_then(rows):
    t = find_times(rows, 0)

    # a row that meets a request comes 1 ns before it, by rounding
    sent_at = np.floor((t - 0.001) / 0.005 - 1e-6) * 0.005
    asked_at = np.floor(t / 0.005 - 1e-6) * 0.005
    sent = np.degrees(move(sent_at)[:, 0] + 0.01)
    asked = np.degrees(move(asked_at)[:, 0] + 0.02)
    n = len(t)
    np.testing.assert_allclose(column(rows, "action")[:n, 0], sent, atol=1e-4)
    np.testing.assert_allclose(
        column(rows, "requested.joints")[:n, 0], asked, atol=1e-4
    )


def test_the_pose_is_that_of_the_measured_joints(rows):
    t = find_times(rows, 0)
    q = move(t)

    pose = column(rows, "observation.ee_pose")[: len(t)]
    expected = [0.5 * np.cos(q[:, 0]), 0.5 * np.sin(q[:, 0]), q[:, 1]]
    np.testing.assert_allclose(pose[:, :3], np.array(expected).T, atol=1e-5)
    np.testing.assert_allclose(pose[:, 5], q[:, 0], atol=1e-5)


@pytest.mark.parametrize("key", [KEY, "observation.images.side"])
def test_each_image_is_the_newest_at_or_before_its_row(made, rows, episodes, key):
    times, images, _ = read_video(made[0], key)

    for one in episodes:
        first = one[f"videos/{key}/from_timestamp"]
        begin = round(first * FPS)
        shown = [read_clock(image) for image in images[begin : begin + one["length"]]]
        own = rows.slice(one["dataset_from_index"], one["length"])
        turned = np.radians(column(own, "observation.state")[:, 0]) / 0.4
        assert None not in shown
        off = np.array(shown) - START_MS - 1e3 * turned + BEHIND_MS
        assert np.abs(off).max() < 1.1  # ms: the clock shows whole ones
        np.testing.assert_allclose(
            times[begin : begin + one["length"]],
            first + column(own, "timestamp"),
            atol=5e-5,
        )


def test_episodes_stand_behind_each_other_in_one_video(made, rows, episodes):
    times, _, is_key = read_video(made[0])

    assert len(times) == len(rows)
    assert episodes[0][f"videos/{KEY}/to_timestamp"] == pytest.approx(
        episodes[1][f"videos/{KEY}/from_timestamp"]
    )
    starts = np.flatnonzero(is_key)
    assert np.diff(starts).max() == 2  # any frame is found without a long past


def test_pandas_finds_the_tasks_as_the_index(made, rows, episodes):
    tasks = pd.read_parquet(made[0] / "meta/tasks.parquet")

    assert list(tasks.columns) == ["task_index"]
    for one in episodes:
        number = rows["task_index"][one["dataset_from_index"]].as_py()
        assert tasks.loc[one["tasks"][0], "task_index"] == number
    assert [one["tasks"] for one in episodes] == [["pick"], ["place"]]


def test_success_is_told_apart_from_silence(rows, episodes):
    assert [one["outcome"] for one in episodes] == ["success", ""]
    ends = [one["dataset_to_index"] - 1 for one in episodes]
    success = column(rows, "next.success")
    assert success[ends].tolist() == [True, False]
    assert success.sum() == 1


def test_statistics_are_those_of_the_rows(made, rows, episodes):
    stats = json.loads((made[0] / "meta/stats.json").read_text())["action"]
    action = column(rows, "action")

    np.testing.assert_allclose(stats["mean"], action.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(stats["std"], action.std(axis=0), rtol=1e-4)
    np.testing.assert_allclose(stats["min"], action.min(axis=0), rtol=1e-6)
    assert stats["count"] == [len(rows)]
    one = episodes[1]
    own = action[one["dataset_from_index"] : one["dataset_to_index"]]
    np.testing.assert_allclose(
        one["stats/action/q90"], np.quantile(own, 0.9, axis=0), rtol=1e-5
    )
    low = np.array(one[f"stats/{KEY}/min"])
    assert low.shape == (3, 1, 1)
    assert 0.0 <= low.min() < 0.2


def test_units_and_what_became_of_columns_stand_beside_the_data(made):
    root, report = made
    card = (root / "README.md").read_text()
    told = (root / "meta/report.txt").read_text()

    assert "`turn.pos` deg" in card
    assert "`lift.pos` m" in card
    assert "`gripper.pos` 0-100" in card
    for name in ("observation.state", "action", "requested.ee_pose", KEY):
        assert name in told
    assert report.accounts["sent"].worst == pytest.approx(0.004, abs=2e-3)
    assert report.accounts["front"].worst == pytest.approx(BEHIND_MS * 1e-3, abs=1e-6)
