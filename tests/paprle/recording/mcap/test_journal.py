from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from paprle.contracts.errors import RecordingError
from paprle.ipc.records import Stream
from paprle.recording.manifest import read_manifest
from paprle.recording.mcap.journal import Journal
from paprle.recording.mcap.recover import recover
from paprle.recording.reader import Episode


def read_ros(path):
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        for _, channel, _, message in reader.iter_decoded_messages():
            yield channel.topic, message


@pytest.fixture
def recorded(tmp_path, layout, header, tools):
    path = tmp_path / "episode_000000.mcap"
    return (path, *tools.write_episode(path, layout, header, 41))


def test_every_field_comes_back_bit_for_bit(recorded, tools):
    path, ticks, gates, _ = recorded

    episode = Episode.open(path)

    assert episode.is_complete, episode.note
    assert episode.ticks.dtype == ticks.dtype
    assert episode.gate.dtype == gates.dtype
    assert tools.same_bits(episode.ticks, ticks)
    assert tools.same_bits(episode.gate, gates)


@pytest.mark.parametrize(
    ("name", "bits"), [("err_pos", 16), ("err_rot", 16), ("q_des", 16), ("dq_cmd", 12)]
)
def test_reports_come_back_to_some_digits_and_what_is_nothing_as_nothing(
    tmp_path, layout, header, name, bits
):
    is_tick = name.startswith("err")
    records = np.zeros(200, layout.tick if is_tick else layout.status)
    records["stamp_ns"] = np.arange(len(records)) * 5_000_000
    values = records[name].reshape(len(records), -1)
    signs = np.where(np.arange(len(records)) % 2, 1.0, -1.0)
    values[:] = (signs * np.geomspace(1e-300, 1e300, len(records)))[:, None]
    values[::10] = np.array([0.0, -0.0, np.nan, np.inf, -np.inf] * 4)[:, None]
    records[name] = values.reshape(records[name].shape)
    journal = Journal(tmp_path / "episode_000000.mcap", layout, header)
    for record in records:
        journal.write(Stream.TICK if is_tick else Stream.GATE, record.tobytes())
    journal.close("end", {})

    episode = Episode.open(tmp_path)

    told = (episode.ticks if is_tick else episode.gate)[name].reshape(values.shape)
    special = ~np.isfinite(values) | (values == 0.0)
    assert told[special].tobytes() == values[special].tobytes()
    shares = told[~special] / values[~special]
    assert (shares > 1.0 - 2.0**-bits).all()
    assert (shares <= 1.0).all(), "no speed is told as larger than it was"


def test_the_header_is_read_as_recorded(recorded, robot, header):
    episode = Episode.open(recorded[0])

    assert episode.config == header["config"]
    assert episode.urdf == header["urdf"]
    assert episode.header["gate_period"] == 0.005
    assert episode.robot["joint_names"] == list(robot.joint_names)
    assert episode.robot_info.limbs == robot.limbs
    assert episode.robot_info.mimics == robot.mimics
    np.testing.assert_array_equal(episode.robot_info.q_min, robot.q_min)
    assert episode.events[0]["event"] == "hello"


def test_manifest_describes_the_file(recorded):
    path, _, _, manifest = recorded

    assert read_manifest(path) == manifest
    assert manifest["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert manifest["bytes"] == path.stat().st_size
    assert manifest["frames"] == {"event": 1, "tick": 41, "gate": 41}
    assert manifest["end_reason"] == "leader_end"
    assert manifest["limits"]["q_max"][0] is None
    assert manifest["duration"] == pytest.approx(0.201)


def test_public_ros_reader_decodes_equal_values(recorded, layout):
    path, ticks, gates, _ = recorded
    rows = {"/q_cmd": 0, "/target/limb_1/pose": 0, "/session/tick": 0}
    for topic, ros in read_ros(path):
        if topic not in rows:
            continue
        i = rows[topic]
        rows[topic] += 1
        record = gates[i] if topic == "/q_cmd" else ticks[i]
        stamp = ros.header.stamp.sec * 10**9 + ros.header.stamp.nanosec
        assert stamp == record["stamp_ns"]
        if topic == "/q_cmd":
            assert tuple(ros.name) == layout.joint_names
            np.testing.assert_array_equal(ros.position, record["q_cmd"])
        elif topic == "/session/tick":
            assert ros.k == record["k"]
            np.testing.assert_array_equal(ros.err_rot, record["err_rot"])
        else:
            got = [ros.pose.position.x, ros.pose.orientation.w]
            np.testing.assert_array_equal(got, record["target"][1][[0, 6]])
    assert set(rows.values()) == {41}


def test_public_ros_reader_decodes_every_message(recorded):
    topics = {topic for topic, _ in read_ros(recorded[0])}

    assert {"/events", "/q_des", "/q_meas", "/gate/status"} <= topics


def test_public_reader_finds_attachments_and_times(recorded, header):
    path, ticks, _, _ = recorded
    with path.open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        names = [a.name for a in reader.iter_attachments()]
        metadata = next(iter(reader.iter_metadata())).metadata
        _, _, first = next(iter(reader.iter_messages(topics=["/session/tick"])))

    assert names == ["header.json", "config.json", "robot.urdf"]
    assert int(metadata["wall_offset_ns"]) == header["wall_offset_ns"]
    assert first.log_time == ticks["stamp_ns"][0] + header["wall_offset_ns"]


def test_stop_reason_survives_as_text(recorded):
    gate = Episode.open(recorded[0]).gate

    assert gate["stop_reason"][0].decode() == "protective stop: joint 3 · 12 N"
    assert gate["stop_reason"][1] == b""


def test_leader_poses_are_one_a_sample(recorded, layout):
    _, ticks, _, _ = recorded
    episode = Episode.open(recorded[0])

    t_ns, values = episode.leader["right"]

    assert len(np.unique(t_ns)) == len(t_ns) <= 21
    assert values.shape[1] == (7 if layout.leader.emits == "pose" else 3)
    assert set(t_ns) <= set(ticks["sample"]["stamp_ns"])


def test_first_sample_counts_as_new_though_its_number_is_zero(
    tmp_path, layout, header, tools
):
    ticks = tools.make_ticks(layout, 4)
    ticks["has_sample"] = [False, True, True, True]
    ticks["sample"]["seq"] = [0, 0, 0, 1]
    journal = Journal(tmp_path / "episode_000000.mcap", layout, header)
    for tick in ticks:
        journal.write(Stream.TICK, tick.tobytes())
    journal.close("end", {})

    episode = Episode.open(tmp_path)

    assert episode.is_new_sample.tolist() == [False, True, False, True]


def test_target_leaves_out_what_is_absent(recorded):
    path, ticks, _, _ = recorded

    t_ns, poses = Episode.open(path).target["limb_0"]

    present = ~np.isnan(ticks["target"][:, 0]).all(axis=1)
    np.testing.assert_array_equal(t_ns, ticks["stamp_ns"][present])
    np.testing.assert_array_equal(poses, ticks["target"][present, 0])


def test_poses_of_objects_come_back_by_name(recorded):
    path, _, gates, _ = recorded

    objects = Episode.open(path).objects

    assert list(objects) == ["block", "cup"]
    t_ns, poses = objects["cup"]
    present = ~np.isnan(gates["objects"][:, 1]).all(axis=1)
    np.testing.assert_array_equal(t_ns, gates["meas_ns"][present])
    np.testing.assert_array_equal(poses, gates["objects"][present, 1])


def test_a_recording_without_a_prefix_ends_as_the_same_file(
    tmp_path, layout, header, tools
):
    paths = [tmp_path / name / "episode_000000.mcap" for name in ("whole", "end")]
    sizes = []
    for path in paths:
        path.parent.mkdir()
        journal = Journal(path, layout, header, has_prefix=path == paths[0])
        for tick in tools.make_ticks(layout, 300):
            journal.write(Stream.TICK, tick.tobytes())
        journal.flush()
        sizes.append(path.stat().st_size)
        journal.close("end", {})

    assert sizes[1] < sizes[0]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_existing_file_is_never_overwritten(recorded, layout, header):
    before = recorded[0].read_bytes()

    with pytest.raises(FileExistsError):
        Journal(recorded[0], layout, header)

    assert recorded[0].read_bytes() == before


def test_payload_of_wrong_size_is_refused(tmp_path, layout, header):
    journal = Journal(tmp_path / "episode_000000.mcap", layout, header)

    with pytest.raises(RecordingError, match="expected .* bytes of TICK, got 3"):
        journal.write(Stream.TICK, b"abc")

    journal.abandon()


def test_attachments_stand_before_any_message(tmp_path, layout, header):
    path = tmp_path / "episode_000000.mcap"
    journal = Journal(path, layout, header)

    episode = Episode.open(path)
    journal.abandon()

    assert not episode.is_complete
    assert "summary" in episode.note
    assert episode.urdf == header["urdf"]
    assert len(episode.ticks) == len(episode.gate) == 0


def test_no_manifest_means_aborted(recorded):
    recorded[0].with_suffix(".json").unlink()

    episode = Episode.open(recorded[0])

    assert episode.end_reason == "aborted"
    assert episode.note.startswith("no manifest")
    assert len(episode.ticks) == 41


def test_header_is_plain_json(header):
    assert json.loads(json.dumps(header, allow_nan=False)) == header


def test_an_object_that_lies_still_has_one_message_a_chunk(
    tmp_path, layout, header, tools
):
    gates = tools.make_gates(layout, 40)
    gates["objects"][:] = gates["objects"][0]
    gates["objects"][25:, 1, 0] = 0.25  # the cup was moved, once
    path = tmp_path / "episode_000000.mcap"
    journal = Journal(path, layout, header)
    for gate in gates:
        journal.write(Stream.GATE, gate.tobytes())
    journal.close("end", {})

    told = [topic for topic, _ in read_ros(path)]

    assert told.count("/objects/block/pose") == 1
    assert told.count("/objects/cup/pose") == 2
    assert told.count("/q_meas") == 40
    assert tools.same_bits(Episode.open(path).gate, gates)


def test_rows_between_messages_of_an_object_survive_a_kill_and_recover(
    tmp_path, layout, header, tools
):
    gates = tools.make_gates(layout, 40)
    gates["objects"] = np.repeat(gates["objects"][::7], 7, axis=0)[:40]
    path = tmp_path / "episode_000000.mcap"
    journal = Journal(path, layout, header)
    for i, gate in enumerate(gates):
        journal.write(Stream.GATE, gate.tobytes())
        if i % 4 == 3:
            journal.flush()
    journal.abandon()
    recover(path, tmp_path / "whole.mcap")

    for one in (path, tmp_path / "whole.mcap"):
        assert tools.same_bits(Episode.open(one).gate, gates)
