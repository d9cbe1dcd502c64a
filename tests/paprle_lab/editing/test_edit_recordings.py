"""Edits of recordings: their data stay, and ``dataset create`` takes what is left."""

import hashlib

import pandas as pd
import pytest
from filmed import write_episode

pytest.importorskip("av")
pytest.importorskip("pyarrow")

from paprle.contracts.errors import ConfigError, RecordingError
from paprle.recording.manifest import read_manifest
from paprle_lab.dataset.create import create
from paprle_lab.editing.edit_recordings import edit_recordings, undo
from paprle_lab.editing.edits import Edits


@pytest.fixture
def recorded(tmp_path):
    folder = tmp_path / "recorded"
    for seconds, task in ((0.6, "pick"), (1.0, "place"), (0.8, "pick")):
        write_episode(folder, seconds, task=task, cameras=())
    return folder


def list_recordings(folder):
    return sorted(folder.glob("*.mcap"))


def hash_all(folder):
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
    }


def make_set(folder, tmp_path, name="set"):
    create([folder], tmp_path / name, "lerobot")
    return pd.read_parquet(tmp_path / name / "meta/episodes/chunk-000/file-000.parquet")


def test_a_deleted_recording_is_left_out_and_comes_back(recorded, tmp_path):
    before = hash_all(recorded)
    ((path, told),) = edit_recordings([recorded], Edits(deleted=frozenset({1})), None)
    assert (path, told) == (list_recordings(recorded)[1], "deleted")
    assert make_set(recorded, tmp_path)["length"].tolist() == [18, 24]
    undo([recorded])
    assert hash_all(recorded) == before


def test_a_trim_leaves_its_times(recorded, tmp_path):
    whole = make_set(recorded, tmp_path, "whole")["length"].tolist()
    edit_recordings([recorded], Edits(trims={1: (0.2, 0.6)}), None)
    assert make_set(recorded, tmp_path)["length"].tolist() == [whole[0], 12, whole[2]]


def test_tasks_are_renamed_and_relabelled(recorded, tmp_path):
    edits = Edits(renamed_tasks={"pick": "pick up"}, tasks={2: "sort"})
    edit_recordings([recorded], edits, None)
    tasks = make_set(recorded, tmp_path)["tasks"]
    assert [list(one) for one in tasks] == [["pick up"], ["place"], ["sort"]]


def test_edits_in_turn_are_undone_together(recorded):
    before = hash_all(recorded)
    for task in ("one", "two"):
        edit_recordings([recorded], Edits(task=task), None)
    edit_recordings([recorded], Edits(trims={0: (0.1, 0.3)}), None)
    undo([recorded])
    assert hash_all(recorded) == before


def test_parts_are_copies_that_hold_all_data(recorded, tmp_path):
    data = hash_all(recorded)
    out = tmp_path / "parts"
    told = edit_recordings([recorded], Edits(shares={"a": 0.67, "b": 0.33}), out)
    assert [path.relative_to(out).as_posix() for path, _ in told] == [
        "a/episode_000000.mcap",
        "a/episode_000001.mcap",
        "b/episode_000000.mcap",
    ]
    names = [path.name for path in list_recordings(recorded)]
    assert [hash_all(path.parent)[path.name] for path, _ in told] == [
        data[name] for name in names
    ]
    assert read_manifest(told[2][0])["file"] == "episode_000000.mcap"
    assert hash_all(recorded) == data


def test_folders_are_merged(recorded, tmp_path):
    other = tmp_path / "other"
    write_episode(other, 0.5, task="lift", cameras=())
    edit_recordings([recorded, other], Edits(), tmp_path / "all")
    tasks = make_set(tmp_path / "all", tmp_path)["tasks"]
    assert [list(one) for one in tasks] == [["pick"], ["place"], ["pick"], ["lift"]]


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        ({"deleted": frozenset({3})}, "no episode 3"),
        ({"trims": {0: (2.0, 3.0)}}, "expected times"),
        ({"renamed_tasks": {"pik": "x"}}, "did you mean 'pick'"),
        ({"removed": ("action",)}, "dataset create"),
        ({"shares": {"a": 0.5}}, "--out"),
        ({}, "expected an edit"),
    ],
)
def test_an_edit_that_does_not_fit_changes_nothing(recorded, edits, told):
    before = hash_all(recorded)
    with pytest.raises(ConfigError, match=told):
        edit_recordings([recorded], Edits(**edits), None)
    assert hash_all(recorded) == before


def test_an_unfinished_recording_is_named(recorded):
    list_recordings(recorded)[1].with_suffix(".json").unlink()
    with pytest.raises(RecordingError, match="recover"):
        edit_recordings([recorded], Edits(task="x"), None)


def test_a_damaged_trim_is_left_out_with_its_reason(recorded, tmp_path):
    manifest = list_recordings(recorded)[0].with_suffix(".json")
    manifest.write_text(
        manifest.read_text().replace('"task"', '"trim": [3, 1], "task"')
    )
    report = create([recorded], tmp_path / "set", "lerobot")
    assert "trim" in report.left_out[0].reason
