from __future__ import annotations

import numpy as np
import pytest
from shared_data import find_shared

from paprle.contracts.errors import RecordingError
from paprle.ipc.records import Stream
from paprle.recording.exports import (
    ARBOT_COLUMNS,
    find_nearest,
    make_arbot_table,
    read_arbot_csv,
    write_arbot_csv,
)
from paprle.recording.info import describe
from paprle.recording.mcap.journal import Journal
from paprle.recording.reader import Episode


@pytest.mark.parametrize("name", ["arbot_rectangle_H1", "arbot_rectangle_robot_1"])
def test_arbot_logs_are_rewritten_byte_for_byte(tmp_path, name):
    source = find_shared(f"motion/{name}.csv")

    write_arbot_csv(tmp_path / "again.csv", read_arbot_csv(source))

    assert (tmp_path / "again.csv").read_bytes() == source.read_bytes()


def test_arbot_has_19_columns():
    assert len(ARBOT_COLUMNS) == 19
    assert ARBOT_COLUMNS[4:8] == tuple(f"target_orient_{c}" for c in "xyzw")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "no capture_timestamp"),
        (",".join(ARBOT_COLUMNS) + "\n1,2,x\n", "line 2: expected numbers"),
    ],
)
def test_malformed_log_is_refused(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)

    with pytest.raises(RecordingError, match=message):
        read_arbot_csv(path)


def test_existing_export_is_not_overwritten(tmp_path):
    (tmp_path / "a.csv").write_text("mine")

    with pytest.raises(RecordingError, match="new file"):
        write_arbot_csv(tmp_path / "a.csv", np.zeros((0, 19)))


@pytest.mark.parametrize(
    ("stamps", "at", "expected"),
    [
        ([0, 10, 20], [-5, 4, 6, 15, 99], [0, 0, 1, 1, 2]),
        ([7], [0, 7, 9], [0, 0, 0]),
    ],
)
def test_nearest_stamp_is_found(stamps, at, expected):
    got = find_nearest(np.array(stamps), np.array(at))

    np.testing.assert_array_equal(got, expected)


@pytest.fixture
def episode(tmp_path, layout, header, tools):
    ticks, gates = tools.make_ticks(layout, 40), tools.make_gates(layout, 40)
    ticks["state"], ticks["state"][:10] = 4, 2
    ticks["target"] = np.arange(7.0)
    ticks["posted_ns"] = ticks["stamp_ns"] + 500_000
    path = tmp_path / "episode_000000.mcap"
    journal = Journal(path, layout, header)
    for tick, gate in zip(ticks, gates, strict=True):
        journal.write(Stream.TICK, tick.tobytes())
        journal.write(Stream.GATE, gate.tobytes())
    journal.close("leader_end", {"dropped": {"event": 0, "tick": 0, "gate": 3}})
    return Episode.open(path)


def test_episode_exports_as_arbot_log(episode, tmp_path):
    poses = np.tile(np.arange(7.0) + 1, (40, 1))

    table = make_arbot_table(episode, "limb_1", poses)

    column = dict(zip(ARBOT_COLUMNS, table.T, strict=True))
    assert len(table) == 15  # every other tick has a new sample; 30 are ENGAGED
    np.testing.assert_array_equal(table[:, 1:8], np.tile(np.arange(7.0), (15, 1)))
    np.testing.assert_array_equal(table[:, 8:15], poses[:15])
    np.testing.assert_allclose(column["e2e_latency_at_control_ms"], 1.734567)
    assert np.abs(column["sync_delta_ms"]).max() <= 2.5
    write_arbot_csv(tmp_path / "out.csv", table)
    np.testing.assert_array_equal(read_arbot_csv(tmp_path / "out.csv"), table)


def test_unknown_limb_lists_those_that_exist(episode):
    with pytest.raises(RecordingError, match="there are limb_0, limb_1"):
        make_arbot_table(episode, "arm", np.zeros((40, 7)))


def test_info_tells_the_essentials(episode):
    text = describe(episode.path)

    for part in (
        "leader=autopilot follower=toy env=kinematic",
        "40 records at 200.0 Hz, 0 gaps",
        "3 dropped",
        "ENGAGED 75.0 %",
        "leader_end",
        "gate.period=5 ms",
    ):
        assert part in text


def test_info_of_an_empty_recording_works(tmp_path, layout, header):
    path = tmp_path / "episode_000009.mcap"
    journal = Journal(path, layout, header)
    journal.flush()
    text = describe(path)
    journal.abandon()

    assert "nothing recorded" in text
    assert "aborted" in text
