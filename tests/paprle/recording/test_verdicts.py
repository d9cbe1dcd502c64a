"""What operators say of episodes, in manifests and in what ``info`` shows."""

from __future__ import annotations

import json

import pytest

from paprle.recording.info import describe
from paprle.recording.mcap.recover import recover
from paprle.recording.notes import MOST
from paprle.recording.reader import Episode


def read_manifest(folder, number=0):
    return json.loads((folder / f"episode_{number:06d}.json").read_text())


def test_an_end_says_whether_it_is_kept_and_how_it_went(make, succeed, tmp_path):
    succeed(make())

    manifest = read_manifest(tmp_path)
    assert (manifest["kept"], manifest["outcome"]) == (True, "success")
    text = describe(tmp_path)
    assert "end        success, kept" in text
    assert "outcome    success" in text


def test_a_later_verdict_is_written_to_the_episode_it_names(make, run, rings, tmp_path):
    recorder = make()
    _, _, now = run(recorder, 4)
    rings[0].push_event(event="outcome", episode=3, outcome="success", t_ns=now)
    recorder.step(now + 100_000_000)
    assert "outcome" not in read_manifest(tmp_path), "that was another episode"

    rings[0].push_event(event="outcome", episode=4, outcome="failure", t_ns=now + 1)
    recorder.step(now + 200_000_000)

    assert read_manifest(tmp_path)["outcome"] == "failure"


def test_a_redone_episode_says_so(make, run, rings, tmp_path):
    recorder = make()
    _, _, now = run(recorder, 4, end="")
    rings[0].push_event(event="discard", episode=4, reason="redo", t_ns=now)
    recorder.step(now + 100_000_000)

    manifest = read_manifest(tmp_path)
    assert (manifest["end_reason"], manifest["discarded"]) == ("redo", True)
    assert "end        redo, discarded" in describe(tmp_path)


def test_an_episode_may_have_a_task_of_its_own(make, rings, tools, tmp_path):
    recorder = make()
    now = tools.START_NS
    rings[0].push_event(event="episode_begin", episode=0, task="stack", t_ns=now)
    rings[0].push_event(event="episode_end", end_reason="next", t_ns=now + 1)
    recorder.step(now + 100_000_000)

    assert read_manifest(tmp_path)["task"] == "stack"


@pytest.fixture
def noted(make, run, rings):
    """Return a recorder with an open episode, a note in it, and the time."""
    recorder = make()
    _, _, now = run(recorder, 4, end="")
    rings[0].push_event(event="note", episode=4, text="it <slipped>", t_ns=now)
    recorder.step(now + 100_000_000)
    return recorder, now


def test_notes_stand_in_the_episode_they_are_on(noted, rings, tmp_path):
    recorder, now = noted
    rings[0].push_event(event="episode_end", end_reason="next", t_ns=now + 1)
    recorder.step(now + 10**9)
    rings[0].push_event(event="note", episode=4, text="but held", t_ns=now + 2 * 10**9)
    rings[0].push_event(event="note", episode=3, text="elsewhere", t_ns=now + 3 * 10**9)
    recorder.step(now + 4 * 10**9)

    notes = [note["text"] for note in read_manifest(tmp_path)["notes"]]
    assert notes == ["it <slipped>", "but held"]
    text = describe(tmp_path)
    assert " s: it <slipped>\n" in text
    assert "  note       after its end: but held\n" in text
    happened = Episode.open(tmp_path).events
    assert [e["text"] for e in happened if e["event"] == "note"] == ["it <slipped>"]


@pytest.mark.usefixtures("noted")
def test_a_note_outlives_its_recorder(tmp_path):
    path = tmp_path / "episode_000000.mcap"
    assert ": it <slipped>" in describe(path), "it is on the disk"

    recover(path, tmp_path / "saved.mcap")

    manifest = json.loads((tmp_path / "saved.json").read_text())
    assert [note["text"] for note in manifest["notes"]] == ["it <slipped>"]


def test_so_many_notes_as_are_read_again_stand_in_a_manifest(noted, rings, tmp_path):
    recorder, now = noted
    for k in range(2 * MOST):
        rings[0].push_event(event="note", episode=4, text="é" * 200, t_ns=now + k)
    rings[0].push_event(event="episode_end", end_reason="next", t_ns=now + 1000)
    recorder.step(now + 10**9)

    assert len(read_manifest(tmp_path)["notes"]) == MOST
    assert ": it <slipped>" in describe(tmp_path)


@pytest.mark.parametrize("notes", ["x", [3], [{"text": 4, "t_ns": 1}], [{"t_ns": 1}]])
def test_notes_of_another_program_are_left_out(noted, rings, tmp_path, notes):
    recorder, now = noted
    rings[0].push_event(event="episode_end", end_reason="next", t_ns=now + 1)
    recorder.step(now + 10**9)
    path = tmp_path / "episode_000000.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"notes": notes}))

    assert "note " not in describe(tmp_path)
