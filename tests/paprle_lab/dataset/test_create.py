"""Which recordings become part of a data set, and runs that go on."""

import json
import shutil

import av
import numpy as np
import pyarrow.parquet as pq
import pytest
from filmed import write_episode

from paprle.contracts.errors import ConfigError, RecordingError
from paprle.contracts.kit.work import Work
from paprle_lab.dataset.create import create
from paprle_lab.dataset.episodes import Selection
from paprle_lab.dataset.staging_folder import OWN

EVERY = Selection(keep_undriven=True)

pytestmark = pytest.mark.long

FIRST_MS = 10  # of the first picture in an episode
FPS = 30
KEY = "observation.images.front"


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    write_episode(folder, 0.6, task="pick")
    write_episode(folder, 0.7, task="place", scale=0.5)
    return folder


@pytest.fixture(scope="module")
def made(recorded, tmp_path_factory):
    root = tmp_path_factory.mktemp("made") / "set"
    create([recorded], root, "lerobot")
    return root


def column(rows, name):
    return np.array(rows[name].to_pylist())


def count_images(root, number):
    path = root / f"videos/{KEY}/chunk-000/file-{number:03d}.mp4"
    with av.open(str(path)) as file:
        return len(list(file.decode(file.streams.video[0])))


def test_discarded_episodes_are_left_out_and_named(tmp_path):
    folder = tmp_path / "recorded"
    write_episode(folder, 0.6)
    write_episode(folder, 0.6, discard=True)
    write_episode(folder, 0.6, end="lost")
    write_episode(folder, 0.6, finish=False)

    report = create([folder], tmp_path / "set", "lerobot")

    assert report.n_episodes == 1
    reasons = {one.path.name[-6]: one.reason for one in report.left_out}
    assert "discarded" in reasons["1"]
    assert "broke off: lost" in reasons["2"]
    assert "never finished" in reasons["3"]


def test_a_damaged_recording_is_left_out(tmp_path):
    folder = tmp_path / "recorded"
    write_episode(folder, 0.6)
    damaged = write_episode(folder, 0.6, scale=0.5)
    data = bytearray(damaged.read_bytes())
    data[len(data) // 2] ^= 0xFF
    damaged.write_bytes(bytes(data))

    report = create([folder], tmp_path / "set", "lerobot")

    assert report.n_episodes == 1
    assert [one.path.name for one in report.left_out] == [damaged.name]


def test_a_copy_of_a_recording_is_used_once(tmp_path):
    write_episode(tmp_path / "a", 0.6)
    shutil.copytree(tmp_path / "a", tmp_path / "b")

    report = create([tmp_path], tmp_path / "set", "lerobot")

    assert report.n_episodes == 1
    assert [one.reason for one in report.left_out] == ["a copy of another one"]


@pytest.mark.parametrize(("choice", "worst"), [("newest", 0.625), ("nearest", 0.5)])
def test_images_of_a_slow_camera_are_chosen_as_asked(tmp_path, choice, worst):
    path = write_episode(tmp_path / "recorded", 1.0, fps=10.0)

    report = create(
        [path],
        tmp_path / "set",
        "lerobot",
        fps=20,
        selection=Selection(choice=choice),
    )

    account = report.accounts["front"]
    assert account.worst == pytest.approx(worst / 10, abs=1e-3)


def test_images_of_a_set_are_all_chosen_alike(tmp_path):
    path = write_episode(tmp_path / "recorded", 1.0)
    create([path], tmp_path / "set", "lerobot")
    more = write_episode(tmp_path / "recorded", 1.0)

    with pytest.raises(ConfigError, match="--images newest"):
        create(
            [more],
            tmp_path / "set",
            "lerobot",
            selection=Selection(choice="nearest"),
        )


def test_missing_images_are_held_and_counted(tmp_path):
    path = write_episode(tmp_path / "recorded", 1.0, skip=range(10, 16))

    report = create([path], tmp_path / "set", "lerobot")

    account = report.accounts["front"]
    assert account.n_held == 6
    assert account.n_gaps > 0
    assert account.worst == pytest.approx(6.25 / 30, abs=1e-3)


def test_images_that_no_frame_shows_are_counted_as_dropped(tmp_path):
    path = write_episode(tmp_path / "recorded", 1.0)

    report = create([path], tmp_path / "set", "lerobot", fps=10)

    account = report.accounts["front"]
    assert account.n_frames + account.n_dropped >= 28
    assert account.n_held == 0


def test_a_gap_in_the_joints_is_held_and_not_bridged(tmp_path):
    path = write_episode(tmp_path / "recorded", 1.5, gap=(0.5, 0.9))

    report = create([path], tmp_path / "set", "lerobot")

    account = report.accounts["measured"]
    assert account.n_held >= 11
    assert account.worst > 0.3
    rows = pq.read_table(tmp_path / "set/data/chunk-000/file-000.parquet")
    turned = np.radians(column(rows, "observation.state")[:, 0]) / 0.4
    t = FIRST_MS * 1e-3 + np.arange(len(rows)) / FPS
    inside = (t > 0.51) & (t < 0.89)
    assert np.ptp(turned[inside]) == 0.0


def test_without_efforts_there_is_no_such_column(tmp_path):
    path = write_episode(tmp_path / "recorded", 0.6, effort=False, cameras=())

    create([path], tmp_path / "set", "lerobot")

    info = json.loads((tmp_path / "set/meta/info.json").read_text())
    assert "observation.effort" not in info["features"]
    assert info["video_path"] is None


def test_hours_without_samples_do_not_become_frames(tmp_path):
    path = write_episode(tmp_path / "recorded", 14.0, gap=(0.5, 13.0), cameras=())
    write_episode(tmp_path / "recorded", 0.6, cameras=())

    report = create([path.parent], tmp_path / "set", "lerobot")

    assert report.n_episodes == 1
    assert "got none for 13 [s]" in report.left_out[0].reason


@pytest.mark.parametrize("name", ["../front", "a/b", "", ".."])
def test_a_camera_cannot_name_a_file_elsewhere(tmp_path, name):
    path = write_episode(tmp_path / "recorded", 0.6, cameras=(name,))

    with pytest.raises(ConfigError, match="expected a camera's name of letters"):
        create([path], tmp_path / "set", "lerobot")

    assert not (tmp_path / "set").exists()


def test_two_robots_are_refused_by_name(tmp_path):
    write_episode(tmp_path / "recorded", 0.6)
    write_episode(tmp_path / "recorded", 0.6, robot="other")

    with pytest.raises(ConfigError, match="one robot.*robot's name.*data set of each"):
        create([tmp_path / "recorded"], tmp_path / "set", "lerobot")


def test_a_folder_of_others_is_never_written_into(tmp_path):
    path = write_episode(tmp_path / "recorded", 0.6)
    (tmp_path / "set").mkdir()
    (tmp_path / "set/thesis.txt").write_text("mine")

    with pytest.raises(ConfigError, match="something else; choose another --out"):
        create([path], tmp_path / "set", "lerobot")

    assert [one.name for one in (tmp_path / "set").iterdir()] == ["thesis.txt"]


class Killed(BaseException):
    pass


class Counts(Work):
    """Keeps the seconds that are done, and calls something at each count."""

    def __init__(self, act=lambda *_: None):
        self.done, self._act = [], act

    def count(self, n_done, n_all, unit):
        assert 0.0 <= n_done <= n_all
        assert unit == "s of recordings"
        self.done.append(n_done)
        self._act(n_done, n_all)


def test_a_run_that_was_killed_goes_on_where_it_was(recorded, made, tmp_path):
    whole = Counts()
    create([recorded], tmp_path / "whole", "lerobot", work=whole)

    def kill_near_the_end(done, all_s):
        if done > 0.9 * all_s:
            raise Killed

    root = tmp_path / "set"
    with pytest.raises(Killed):
        create([recorded], root, "lerobot", work=Counts(kill_near_the_end))
    assert not (root / "meta").exists()

    again = Counts()
    create([recorded], root, "lerobot", work=again)

    assert 0 < len(again.done) < len(whole.done)
    assert again.done[0] > 0.0, "it goes on where it was"
    for name in (
        "data/chunk-000/file-000.parquet",
        "meta/info.json",
        "meta/stats.json",
    ):
        assert (root / name).read_bytes() == (made / name).read_bytes()
    assert not (root / ".paprle").exists()


def test_later_recordings_are_added_and_files_stay(tmp_path):
    folder, root = tmp_path / "recorded", tmp_path / "set"
    write_episode(folder, 0.6)
    create([folder], root, "lerobot")
    first = (root / "data/chunk-000/file-000.parquet").read_bytes()
    write_episode(folder, 0.9, task="place", scale=0.5)

    report = create([folder], root, "lerobot")

    assert (root / "data/chunk-000/file-000.parquet").read_bytes() == first
    assert (report.n_episodes, report.n_before) == (2, 1)
    rows = pq.read_table(root / "data/chunk-000/file-001.parquet")
    info = json.loads((root / "meta/info.json").read_text())
    assert rows["index"][-1].as_py() == info["total_frames"] - 1
    assert set(column(rows, "task_index")) == {1}
    assert count_images(root, 1) == len(rows)
    stats = json.loads((root / "meta/stats.json").read_text())
    assert stats["action"]["count"] == [info["total_frames"]]


def test_a_recording_discarded_later_is_told(tmp_path):
    folder, root = tmp_path / "recorded", tmp_path / "set"
    path = write_episode(folder, 0.6)
    write_episode(folder, 0.6, scale=0.5)
    create([folder], root, "lerobot")
    manifest = path.with_suffix(".json")
    values = json.loads(manifest.read_text()) | {"discarded": True}
    manifest.write_text(json.dumps(values))

    report = create([folder], root, "lerobot")

    assert report.n_episodes == 2
    assert any("after it became part" in note for note in report.notes)


def test_another_rate_does_not_fit_what_is_there(tmp_path):
    path = write_episode(tmp_path / "recorded", 0.6)
    create([path], tmp_path / "set", "lerobot")

    with pytest.raises(ConfigError, match="expected the fps of the data set"):
        create([path], tmp_path / "set", "lerobot", fps=15)


def test_a_disk_that_cannot_be_written_is_an_error_and_pieces_stay(tmp_path):
    path = write_episode(tmp_path / "recorded", 0.6)
    root = tmp_path / "set"

    def be_in_the_way(*_):
        (root / "data").write_text("")

    with pytest.raises(RecordingError, match="expected to write it.*run it again"):
        create([path], root, "lerobot", work=Counts(be_in_the_way))

    (root / "data").unlink()
    again = Counts()
    assert create([path], root, "lerobot", work=again).n_episodes == 1
    assert again.done == []


@pytest.mark.parametrize("duration", ["a while", None, [1], float("nan"), -1.0])
def test_an_invalid_duration_spoils_only_the_progress(duration, tmp_path):
    path = write_episode(tmp_path / "recorded", 0.6)
    manifest = path.with_suffix(".json")
    values = json.loads(manifest.read_text()) | {"duration": duration}
    manifest.write_text(json.dumps(values))

    assert create([path], tmp_path / "set", "lerobot", work=Counts()).n_episodes == 1


def test_depth_that_is_left_out_is_told(tmp_path):
    path = write_episode(tmp_path / "recorded", 0.6, depth=True)

    report = create([path], tmp_path / "set", "lerobot")

    assert any("depth is left out" in line for line in report.lines())


def test_two_runs_do_not_write_one_data_set(tmp_path):
    path = write_episode(tmp_path / "recorded", 0.6)

    def run_another(*_):
        with pytest.raises(ConfigError, match="another run that writes it"):
            create([path], tmp_path / "set", "lerobot")

    create([path], tmp_path / "set", "lerobot", work=Counts(run_another))


def test_a_broken_note_of_an_earlier_run_is_an_error(tmp_path):
    path = write_episode(tmp_path / "recorded", 0.6)
    create([path], tmp_path / "set", "lerobot")
    (tmp_path / "set/meta" / OWN).write_text("{")

    with pytest.raises(ConfigError, match=f"{OWN} as paprle writes it"):
        create([path], tmp_path / "set", "lerobot")


def test_frames_that_nobody_drove_are_left_out_and_counted(tmp_path):
    path = write_episode(tmp_path / "recorded", 1.5, driven=(0.5, 1.0))

    report = create([path], tmp_path / "set", "lerobot")
    kept = create([path], tmp_path / "all", "lerobot", selection=EVERY)

    assert report.n_frames == pytest.approx(15, abs=1)
    assert kept.n_frames == pytest.approx(44, abs=1)
    assert any("that nobody drove are left out" in note for note in report.notes)
    rows = pq.read_table(tmp_path / "set/data/chunk-000/file-000.parquet")
    turned = np.radians(column(rows, "observation.state")[:, 0]) / 0.4
    assert turned.min() >= 0.49
    assert turned.max() <= 1.01
    np.testing.assert_allclose(np.diff(column(rows, "timestamp")), 1 / FPS, atol=1e-6)
    assert count_images(tmp_path / "set", 0) == len(rows)


def test_driven_frames_and_all_frames_are_not_mixed(tmp_path):
    path = write_episode(tmp_path / "recorded", 0.6)
    create([path], tmp_path / "set", "lerobot")

    with pytest.raises(ConfigError, match="--keep-undriven"):
        create([path], tmp_path / "set", "lerobot", selection=EVERY)


@pytest.mark.parametrize("form", ["lerobot", "hdf5"])
@pytest.mark.parametrize("driven", [(0.5, 0.5), (0.5, 0.56)])
def test_an_episode_of_hardly_a_driven_frame_is_left_out(tmp_path, form, driven):
    folder = tmp_path / "recorded"
    write_episode(folder, 0.6)
    write_episode(folder, 1.0, scale=0.5, driven=driven)

    report = create([folder], tmp_path / "set", form)

    assert report.n_episodes == 1
    [one] = report.left_out
    assert "frames that a leader drove" in one.reason
