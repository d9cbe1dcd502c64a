"""Subtasks and mistakes of recordings in a data set."""

import json

import pandas as pd
import pytest
from filmed import START_NS, write_episode
from lerobot_env import find_lerobot, run

pytest.importorskip("av")
pytest.importorskip("pyarrow")

from paprle.recording.notes import MISTAKE, SUBTASK, Note
from paprle_lab.dataset.create import create
from paprle_lab.dataset.formats.marks import PlacedMark, place_marks
from paprle_lab.viewing.lerobot_list import LeRobotList

STAMPS = [100, 200, 300, 400]


def mark(folder, *notes, **what):
    """Record an episode with notes (ms, kind, text)."""
    path = write_episode(folder, 1.0, cameras=(), **what)
    manifest = path.with_suffix(".json")
    told = [
        {"t_ns": START_NS + 1_000_000 * ms, "kind": kind, "text": text}
        for ms, kind, text in notes
    ]
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"notes": told}))
    return path


def read_rows(root):
    return pd.read_parquet(root / "data/chunk-000/file-000.parquet")


@pytest.mark.parametrize(
    ("t_ns", "frame"), [(100, 0), (101, 1), (200, 1), (400, 3), (900, 3)]
)
def test_a_mark_is_at_the_next_frame(t_ns, frame):
    note = Note(t_ns, "slipped", MISTAKE)
    assert place_marks([note], STAMPS) == [PlacedMark(frame, MISTAKE, "slipped")]


def test_the_last_subtask_before_a_piece_holds_from_its_beginning():
    notes = [Note(10, "a", SUBTASK), Note(20, "b", SUBTASK), Note(30, "x", MISTAKE)]
    assert place_marks(notes, STAMPS) == [PlacedMark(0, SUBTASK, "b")]


def test_typed_notes_are_no_marks():
    assert place_marks([Note(150, "light is bad")], STAMPS) == []


def test_frames_have_subtasks_with_times_and_mistakes_at_their_own(tmp_path):
    mark(
        tmp_path / "out",
        (0, SUBTASK, "reach"),
        (400, SUBTASK, "grasp"),
        (600, MISTAKE, "mistake"),
    )
    mark(tmp_path / "out", task="place", scale=0.5)
    root = tmp_path / "set"
    create([tmp_path / "out"], root, "lerobot")
    rows = read_rows(root)
    first, second = (rows[rows["episode_index"] == k] for k in (0, 1))
    for told in first["language_persistent"]:
        assert [(one["content"], one["style"]) for one in told] == [
            ("reach", "subtask"),
            ("grasp", "subtask"),
        ]
        assert [round(one["timestamp"], 3) for one in told] == [0.0, 0.4]
    at = [k for k, told in enumerate(first["language_events"]) if len(told)]
    assert at == [18]
    assert first["language_events"].iloc[18][0]["content"] == "mistake"
    assert not any(len(told) for told in second["language_persistent"])
    info = json.loads((root / "meta/info.json").read_text())
    assert info["features"]["language_persistent"]["dtype"] == "language"
    film = LeRobotList(root).open(0)
    assert [(round(m.t, 2), m.text) for m in film.marks if m.kind == "note"] == [
        (0.0, "subtask: reach"),
        (0.4, "subtask: grasp"),
        (0.6, "mistake"),
    ]
    film.close()


def test_a_set_without_marks_has_no_columns_of_them(tmp_path):
    write_episode(tmp_path / "out", 1.0, cameras=())
    create([tmp_path / "out"], tmp_path / "set", "lerobot")
    assert "language_persistent" not in read_rows(tmp_path / "set")
    mark(tmp_path / "out", (0, SUBTASK, "reach"), scale=0.5)
    report = create([tmp_path / "out"], tmp_path / "set", "lerobot")
    assert any("subtasks" in note for note in report.notes)
    assert "language_persistent" not in read_rows(tmp_path / "set")


READ = """
import json, sys
from lerobot.datasets.lerobot_dataset import LeRobotDataset
made = LeRobotDataset("me/set", root=sys.argv[1], video_backend="pyav")
rows = [made[k] for k in (0, 18, 30)]
print(json.dumps([[r["language_persistent"], r["language_events"]] for r in rows]))
"""


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_lerobot_reads_subtasks_and_mistakes(tmp_path):
    notes = (0, SUBTASK, "reach"), (400, SUBTASK, "grasp"), (600, MISTAKE, "mistake")
    mark(tmp_path / "out", *notes)
    mark(tmp_path / "out", task="place", scale=0.5)
    create([tmp_path / "out"], tmp_path / "set", "lerobot")
    done = run(find_lerobot("0.6"), "-c", READ, str(tmp_path / "set"))
    assert done.returncode == 0, done.stderr[-2000:]
    first, middle, second = json.loads(done.stdout.splitlines()[-1])
    assert [one["content"] for one in first[0]] == ["reach", "grasp"]
    assert [one["content"] for one in middle[1]] == ["mistake"]
    assert second == [[], []]
