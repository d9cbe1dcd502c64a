"""What an episode was short of, in its manifest and in what ``info`` shows."""

from __future__ import annotations

import json

import pytest

from paprle.recording.info import describe
from paprle.recording.shortage import list_shortages

OUT = {"cause": "out of reach", "seconds": 1.25, "farthest": 0.314, "turned": 0.1}
LATE = {"cause": "acceleration", "seconds": 0.2, "farthest": 0.0, "turned": 0.0}
LINE = "short      out of reach 1.2 s (up to 31 cm), acceleration 0.2 s"


def read_manifest(folder):
    return json.loads((folder / "episode_000000.json").read_text())


@pytest.mark.parametrize(
    "end",
    [
        {"event": "episode_end", "end_reason": "next", "kept": True},
        {"event": "discard", "episode": 4, "reason": "redo"},
    ],
    ids=lambda end: end["event"],
)
def test_the_shortage_at_the_end_is_in_manifest_and_info(
    make, run, rings, tmp_path, end
):
    recorder = make()
    _, _, now = run(recorder, 4, end="")
    rings[0].push_event(**end, short=[OUT, LATE], t_ns=now)
    recorder.step(now + 100_000_000)

    assert read_manifest(tmp_path)["short"] == [OUT, LATE]
    assert LINE in describe(tmp_path)


def test_an_episode_that_was_short_of_nothing_says_nothing(make, run, tmp_path):
    run(make(), 4)

    assert "short" not in read_manifest(tmp_path)
    assert "short  " not in describe(tmp_path)


def test_an_episode_taken_back_says_what_was_said_last(make, succeed, rings, tmp_path):
    recorder = make()
    now = succeed(recorder)
    rings[0].push_event(event="discard", episode=4, reason="redo", t_ns=now + 1)
    recorder.step(now + 200_000_000)

    manifest = read_manifest(tmp_path)
    assert (manifest["end_reason"], manifest["kept"]) == ("redo", False)
    assert manifest["discarded"] is True
    assert "outcome" not in manifest
    text = describe(tmp_path)
    assert "end        redo, discarded by the operator" in text
    assert "outcome    " not in text


@pytest.mark.parametrize(
    "given",
    [
        "out of reach",
        7,
        ["out of reach"],
        [{"cause": "out of reach"}],
        [OUT | {"cause": 3}],
        [OUT | {"seconds": "long"}],
        [OUT | {"farthest": float("nan")}],
    ],
)
def test_another_ones_manifest_shows_only_what_can_be_read(given):
    assert list(list_shortages({"short": given})) == []
