"""Files with an index: as public readers want them, in memory that stays."""

from __future__ import annotations

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap.records import Attachment, Channel, Metadata, Schema

from benchmarks.memory import measure_memory
from paprle.recording.mcap.records import frame_rows
from paprle.recording.mcap.writer import IndexedFile

N_CHANNELS = 14  # as an arm has
MS = 1_000_000


def frame(channel, stamps, first):
    data = (np.arange(len(stamps)) + first).astype("<u8")
    rows = data.view("V8")
    return frame_rows(channel, rows, stamps, stamps + 1, first + np.arange(len(stamps)))


def begin(path):
    file = IndexedFile(path)
    file.attach(Attachment(0, 0, "a.json", "application/json", b"{}"))
    file.note(Metadata("paprle", {"key": "value"}))
    file.declare(Schema(1, b"uint64 data", "ros2msg", "std_msgs/msg/UInt64"))
    for k in range(1, N_CHANNELS + 1):
        file.declare(Channel(k, f"/topic/{k}", "cdr", {"k": str(k)}, 1))
    return file


@pytest.fixture
def written(tmp_path):
    """A file of 30 chunks, each of ten messages a channel, a millisecond apart."""
    path = tmp_path / "a.mcap"
    file = begin(path)
    for chunk in range(30):
        stamps = (10 * chunk + np.arange(10)) * MS
        for k in range(1, N_CHANNELS + 1):
            file.add(frame(k, stamps, 10 * chunk))
        file.end_chunk()
    file.finish()
    return path


def test_public_readers_find_every_message_by_the_index(written):
    with written.open("rb") as data:
        reader = make_reader(data, validate_crcs=True)
        told = [
            (channel.topic, message.sequence, message.log_time, message.data)
            for _, channel, message in reader.iter_messages(topics=["/topic/7"])
        ]

    assert told == [
        ("/topic/7", i, i * MS, i.to_bytes(8, "little")) for i in range(300)
    ]


def test_public_readers_jump_to_a_time(written):
    with written.open("rb") as data:
        reader = make_reader(data, validate_crcs=True)
        found = [
            message.log_time
            for _, _, message in reader.iter_messages(
                topics=["/topic/2", "/topic/3"],
                starting_at=95 * MS,
                ending_before=105 * MS,
            )
        ]

    assert found == [t * MS for t in range(95, 105) for _ in range(2)]


def test_the_summary_says_what_is_in_the_file(written):
    with written.open("rb") as data:
        reader = make_reader(data, validate_crcs=True)
        summary = reader.get_summary()
        attached = [one.name for one in reader.iter_attachments()]
        noted = [one.metadata for one in reader.iter_metadata()]

    statistics = summary.statistics
    assert statistics.message_count == 30 * 10 * N_CHANNELS
    assert statistics.channel_message_counts == dict.fromkeys(range(1, 15), 300)
    assert (statistics.message_start_time, statistics.message_end_time) == (0, 299 * MS)
    assert statistics.chunk_count == len(summary.chunk_indexes) == 30
    assert {len(one.message_index_offsets) for one in summary.chunk_indexes} == {14}
    assert summary.channels[5].metadata == {"k": "5"}
    assert summary.schemas[1].data == b"uint64 data"
    assert attached == ["a.json"]
    assert noted == [{"key": "value"}]


def test_a_channel_without_messages_makes_no_chunk(tmp_path):
    begin(tmp_path / "a.mcap").finish()

    with (tmp_path / "a.mcap").open("rb") as data:
        reader = make_reader(data, validate_crcs=True)
        summary = reader.get_summary()

        assert list(reader.iter_messages()) == []
    assert summary.chunk_indexes == []
    assert len(summary.channels) == N_CHANNELS


def test_nothing_is_left_beside_the_file(tmp_path):
    file = begin(tmp_path / "a.mcap")

    assert [path.name for path in tmp_path.iterdir()] == ["a.mcap"]
    file.close()
    file.close()


@pytest.mark.nightly
@pytest.mark.long
def test_memory_does_not_grow_with_the_chunks(tmp_path):
    file = begin(tmp_path / "a.mcap")
    messages = [frame(k, np.arange(2) * MS, 0) for k in range(1, N_CHANNELS + 1)]

    def write(n):
        for _ in range(n):
            for message in messages:
                file.add(message)
            file.end_chunk()

    write(1000)
    before = measure_memory()
    write(20_000)
    grown = measure_memory() - before
    file.finish()
    finished = measure_memory() - before

    assert grown / 20_000 < 50, "[bytes] a chunk"
    assert finished / 20_000 < 50, "[bytes] a chunk, with the summary written"
    with (tmp_path / "a.mcap").open("rb") as data:
        assert len(make_reader(data).get_summary().chunk_indexes) == 21_000
