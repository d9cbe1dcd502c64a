"""The way from a file on disk to a report."""

from __future__ import annotations

import json

import pytest

from paprle.ipc.records import Stream
from paprle.recording.header import SCHEMA_VERSION
from paprle.recording.mcap.journal import Journal
from paprle_lab.evaluation.reporting import report


@pytest.fixture(scope="module")
def recording(make_episode, tmp_path_factory):
    """Record an episode of known delay, and return the path of its file."""
    episode = make_episode(n=1000)
    path = tmp_path_factory.mktemp("recording") / "episode_000000.mcap"
    header = dict(episode.header) | {
        "schema": SCHEMA_VERSION,
        "config": dict(episode.config),
        "urdf": episode.urdf,
    }
    journal = Journal(path, episode.layout, header)
    for tick, gate in zip(episode.ticks, episode.gate, strict=True):
        journal.write(Stream.TICK, tick.tobytes())
        journal.write(Stream.GATE, gate.tobytes())
        if tick["k"] % 100 == 0:
            journal.flush()
    journal.close("leader_end", {})
    return path


@pytest.mark.nightly
@pytest.mark.long
def test_a_recording_is_evaluated_from_its_file_alone(recording, tmp_path):
    (entry,) = report.evaluate([recording], tmp_path)

    assert entry["error"] is None
    assert entry["is_complete"] is True
    assert entry["end_reason"] == "leader_end"
    assert entry["ate_mm"]["lag_compensated"]["tau_ms"] == pytest.approx(22, abs=0.1)
    assert entry["latency_ms"]["capture_to_command"]["p50"] == pytest.approx(3.0)
    assert entry["gate"]["violations"] == 0
    assert (tmp_path / "episode_000000.report.html").is_file()
    figures = json.loads((tmp_path / "episode_000000.report.json").read_text())
    assert figures[0]["lag_ms"] > 0


@pytest.mark.parametrize("share", [0.2, 0.6, 0.95])
def test_a_truncated_recording_is_evaluated_as_far_as_it_goes(
    recording, tmp_path, share
):
    data = recording.read_bytes()
    torn = tmp_path / recording.name
    torn.write_bytes(data[: int(share * len(data))])

    (entry,) = report.evaluate([torn])

    assert entry["error"] is None
    assert entry["is_complete"] is False
    assert entry["end_reason"] == "aborted"
    assert entry["notes"]
