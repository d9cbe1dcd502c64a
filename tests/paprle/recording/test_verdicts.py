"""What operators say of episodes, in manifests and in what ``info`` shows."""

from __future__ import annotations

import json

from paprle.recording.info import describe


def read_manifest(folder, number=0):
    return json.loads((folder / f"episode_{number:06d}.json").read_text())


def test_an_end_says_whether_it_is_kept_and_how_it_went(make, run, rings, tmp_path):
    recorder = make()
    _, _, now = run(recorder, 4, end="")
    rings[0].push_event(
        event="episode_end", end_reason="success", kept=True, outcome="success",
        t_ns=now,
    )  # fmt: skip
    recorder.step(now + 100_000_000)

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
