"""Edited LeRobot sets of other people's layout, judged by pandas and PyAV."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from foreign_sets import (
    FPS,
    STILL,
    VIDEO,
    read_set,
    read_tasks,
    see_numbers,
    write_foreign,
)

from paprle.contracts.errors import ConfigError, RecordingError
from paprle_lab.editing.edit_set import edit_sets, undo
from paprle_lab.editing.edits import Edits

LENGTHS = (30, 20, 41)
FIRSTS = (0, 30, 50)


@pytest.fixture(scope="module", params=[(12, 2), (250, 3), (2, 0)], ids=str)
def source(request, tmp_path_factory):
    gop, b_frames = request.param
    root = tmp_path_factory.mktemp("foreign") / "set"
    return write_foreign(root, LENGTHS, gop=gop, b_frames=b_frames)


def edit(source, tmp_path, **edits):
    (made,) = edit_sets([source], Edits(**edits), tmp_path / "out")
    return made.root


def check_whole(root, numbers):
    """Check indices, times, images and totals against the numbers of each episode."""
    info, episodes, rows = read_set(root)
    assert [episode["length"] for episode in episodes] == [len(one) for one in numbers]
    assert rows["index"].tolist() == list(range(len(rows)))
    assert info["total_episodes"] == len(numbers)
    assert info["total_frames"] == len(rows) == sum(map(len, numbers))
    tasks = read_tasks(root)
    for k, (episode, shown) in enumerate(zip(episodes, numbers, strict=True)):
        own = rows[rows["episode_index"] == k]
        assert own["frame_index"].tolist() == list(range(len(shown)))
        np.testing.assert_allclose(
            own["timestamp"], np.arange(len(shown)) / FPS, atol=1e-6
        )
        assert [int(state[0]) for state in own["observation.state"]] == shown
        assert own["index"].iloc[0] == episode["dataset_from_index"]
        assert own["index"].iloc[-1] + 1 == episode["dataset_to_index"]
        assert own["next.done"].tolist() == [False] * (len(shown) - 1) + [True]
        assert {tasks[number] for number in own["task_index"]} == set(episode["tasks"])
        if VIDEO in info["features"]:
            assert see_numbers(root, episode) == shown
    return info, episodes, rows


def count(first, end):
    return list(range(first, end))


def test_a_deleted_episode_is_gone_and_others_are_as_they_were(source, tmp_path):
    root = edit(source, tmp_path, deleted=frozenset({1}))
    info, episodes, _ = check_whole(root, [count(0, 30), count(50, 91)])
    assert info["own_key"] == {"kept": True}
    assert [episode["note"] for episode in episodes] == ["episode 0", "episode 2"]


def test_a_trim_keeps_its_frames_alone(source, tmp_path):
    trims = {0: (0.2, 0.8), 2: (0.5, math.inf)}
    root = edit(source, tmp_path, trims=trims)
    _, _, rows = check_whole(root, [count(5, 20), count(30, 50), count(63, 91)])
    told = rows[rows["episode_index"] == 0]["language_persistent"].iloc[0]
    assert [(one["content"], round(one["timestamp"], 3)) for one in told] == [
        ("reach", 0.0),
        ("grasp", 0.4),
    ]
    told = rows[rows["episode_index"] == 2]["language_persistent"].iloc[0]
    assert [one["content"] for one in told] == ["reach", "grasp"]


def test_shares_split_all_episodes(source, tmp_path):
    train, val = edit_sets(
        [source], Edits(shares={"train": 0.67, "val": 0.33}), tmp_path / "parts"
    )
    check_whole(train.root, [count(0, 30), count(30, 50)])
    check_whole(val.root, [count(50, 91)])
    assert (train.root.name, val.root.name) == ("train", "val")


def test_named_episodes_make_parts(source, tmp_path):
    (part,) = edit_sets([source], Edits(parts={"odd": (2, 0)}), tmp_path / "parts")
    check_whole(part.root, [count(0, 30), count(50, 91)])


def test_sets_of_other_codec_settings_are_merged(source, tmp_path):
    other = write_foreign(
        tmp_path / "other", (25,), gop=7, b_frames=1, first=91, tasks=("lift", "place")
    )
    (made,) = edit_sets([source, other], Edits(), tmp_path / "out")
    numbers = [count(0, 30), count(30, 50), count(50, 91), count(91, 116)]
    _, episodes, _ = check_whole(made.root, numbers)
    assert sorted(read_tasks(made.root).values()) == ["lift", "pick", "place"]
    assert sorted(episodes[3]["tasks"]) == ["lift", "place"]


def test_tasks_are_renamed_and_relabelled(source, tmp_path):
    edits = {"renamed_tasks": {"pick": "pick up"}, "tasks": {1: "sort"}}
    root = edit(source, tmp_path, **edits)
    _, episodes, _ = check_whole(root, [count(0, 30), count(30, 50), count(50, 91)])
    assert [sorted(episode["tasks"]) for episode in episodes] == [
        ["pick up", "place"],
        ["sort"],
        ["pick up", "place"],
    ]


def test_features_are_removed_and_renamed(source, tmp_path):
    root = edit(source, tmp_path, removed=(STILL, VIDEO), renamed={"action": "command"})
    info, episodes, rows = read_set(root)
    assert STILL not in info["features"]
    assert VIDEO not in info["features"]
    assert info["video_path"] is None
    assert not (root / "videos").exists()
    assert not [key for key in episodes[0] if VIDEO in key]
    assert rows["command"].iloc[3].tolist() == pytest.approx([4.0, np.sin(4.0)])
    assert "action" not in rows
    assert "action" not in json.loads((root / "meta/stats.json").read_text())


def test_a_renamed_camera_is_seen_under_its_new_name(source, tmp_path):
    new = "observation.images.front"
    root = edit(source, tmp_path, renamed={VIDEO: new}, deleted=frozenset({0}))
    _, episodes, _ = read_set(root)
    assert see_numbers(root, episodes[0], new) == count(30, 50)


def test_statistics_are_those_of_the_rows(source, tmp_path):
    root = edit(source, tmp_path, trims={0: (0.2, 0.8)}, has_new_stats=True)
    _, episodes, rows = read_set(root)
    stats = json.loads((root / "meta/stats.json").read_text())
    values = np.stack(rows["observation.state"])
    for key, expected in (
        ("mean", values.mean(axis=0)),
        ("std", values.std(axis=0)),
        ("min", values.min(axis=0)),
        ("max", values.max(axis=0)),
    ):
        np.testing.assert_allclose(stats["observation.state"][key], expected, rtol=1e-5)
    assert stats["observation.state"]["count"] == [len(rows)]
    assert stats["index"]["max"] == [len(rows) - 1]
    green = np.array(stats[VIDEO]["mean"]).ravel()
    assert green[1] > 3 * max(green[0], green[2])
    assert episodes[0][f"stats/{STILL}/max"].tolist()[0][0][0] == pytest.approx(
        19 / 255
    )


def test_an_edit_in_place_can_be_undone(tmp_path):
    root = write_foreign(tmp_path / "set", LENGTHS)
    before = {
        p.relative_to(root): p.read_bytes() for p in root.rglob("*") if p.is_file()
    }
    (made,) = edit_sets([root], Edits(deleted=frozenset({0, 2})), None)
    check_whole(root, [count(30, 50)])
    assert made.before == tmp_path / "set.before-1"
    edit_sets([root], Edits(task="sort"), None)
    told = json.loads((root / "meta/edits.json").read_text())["edits"]
    assert [sorted(step) for step in told] == [["deleted", "of"], ["of", "task"]]
    undo(root)
    undo(root)
    after = {
        p.relative_to(root): p.read_bytes() for p in root.rglob("*") if p.is_file()
    }
    assert after == before
    with pytest.raises(ConfigError, match="before-N"):
        undo(root)


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        ({"deleted": frozenset({7})}, "no episode 7"),
        ({"deleted": frozenset({0, 1, 2})}, "all deleted"),
        ({"deleted": frozenset({0}), "tasks": {0: "x"}}, "deleted and edited"),
        ({"trims": {1: (5.0, 6.0)}}, "0.80"),
        ({"removed": ("observation.sta",)}, "did you mean 'observation.state'"),
        ({"removed": ("timestamp",)}, "every data set"),
        ({"renamed": {"action": "observation.state"}}, "got two"),
        ({"renamed": {"action": "../x"}}, "without '/'"),
        ({"renamed_tasks": {"pik": "x"}}, "did you mean 'pick'"),
        ({"shares": {"a": 0.9, "b": 0.2}}, "1 at most"),
        ({"shares": {"a": 0.01, "b": 0.2}}, "part 'a'"),
        ({"parts": {"a": (0,), "b": (0,)}}, "in one part"),
    ],
)
def test_an_edit_that_does_not_fit_changes_nothing(tmp_path, edits, told):
    root = write_foreign(tmp_path / "set", LENGTHS)
    with pytest.raises(ConfigError, match=told):
        edit_sets([root], Edits(**edits), tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["set"]


def test_sets_that_differ_are_not_merged(tmp_path):
    one = write_foreign(tmp_path / "one", (10,))
    other = write_foreign(tmp_path / "other", (10,))
    info = json.loads((other / "meta/info.json").read_text())
    info["features"]["action"]["names"] = ["b", "a"]
    (other / "meta/info.json").write_text(json.dumps(info | {"fps": 30}))
    with pytest.raises(ConfigError, match="fps, names of action"):
        edit_sets([one, other], Edits(), tmp_path / "out")
    with pytest.raises(ConfigError, match="edit each"):
        edit_sets([one, one], Edits(deleted=frozenset({0})), tmp_path / "out")
    with pytest.raises(ConfigError, match="--out"):
        edit_sets([one, one], Edits(), None)


@pytest.mark.parametrize(
    "part", ["data", "videos", "meta/tasks.parquet", "meta/episodes"]
)
def test_a_damaged_set_is_refused_whole(tmp_path, part):
    root = write_foreign(tmp_path / "set", LENGTHS)
    place = root / part
    files = [place] if place.is_file() else [p for p in place.rglob("*") if p.is_file()]
    for file in files:
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(RecordingError):
        edit_sets([root], Edits(deleted=frozenset({0})), tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["set"]


def test_a_feature_that_names_a_path_is_refused(tmp_path):
    root = write_foreign(tmp_path / "set", (10,))
    info = (root / "meta/info.json").read_text()
    (root / "meta/info.json").write_text(info.replace(VIDEO, "../../../evil"))
    with pytest.raises(RecordingError, match="evil"):
        edit_sets([root], Edits(task="x"), tmp_path / "out")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["set"]


def test_a_video_that_ends_early_names_its_episode(tmp_path):
    root = write_foreign(tmp_path / "set", (30, 20))
    short = write_foreign(tmp_path / "short", (30,))
    video = f"videos/{VIDEO}/chunk-000/file-000.mp4"
    (root / video).write_bytes((short / video).read_bytes())
    with pytest.raises(RecordingError, match="episode 1"):
        edit_sets([root], Edits(deleted=frozenset({0})), tmp_path / "out")
    (made,) = edit_sets([root], Edits(deleted=frozenset({1})), tmp_path / "out")
    check_whole(made.root, [count(0, 30)])


def test_statistics_that_are_not_whole_are_computed_anew(tmp_path):
    root = write_foreign(tmp_path / "set", (10, 12))
    path = root / "meta/episodes/chunk-000/file-000.parquet"
    table = pd.read_parquet(path)
    table["stats/action/count"] = [[10], [12]]
    table["stats/action/mean"] = [None, [1.0, 2.0]]
    table.to_parquet(path)
    made = edit(root, tmp_path, task="sort")
    stats = json.loads((made / "meta/stats.json").read_text())["action"]
    rows = np.stack(read_set(made)[2]["action"])
    np.testing.assert_allclose(stats["mean"], rows.mean(axis=0), rtol=1e-5)
