"""Truncation, bit flips and lies: a prefix comes back, or an error, never nonsense."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace

import numpy as np
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcap.writer import Writer

from paprle.contracts.errors import RecordingError
from paprle.recording import reading
from paprle.recording.mcap.recover import make_recovered_path, recover
from paprle.recording.mcap.scan import Damaged, Scanner, unpack_chunk
from paprle.recording.reader import Episode

N_TICKS = 12


@pytest.fixture(scope="module")
def both(tmp_path_factory, tools):
    """One small recording, before its close and after: (bytes, bytes, ticks, gates)."""
    folder = tmp_path_factory.mktemp("whole")
    robot, leader = tools.make_robot(folder), tools.POSE_LEADER
    layout = tools.make_layout(robot, leader)
    header = tools.make_header(robot, leader)
    path = folder / "episode_000000.mcap"
    ticks, gates, journal = tools.write_journal(path, layout, header, N_TICKS, 3)
    before = path.read_bytes()
    journal.close("leader_end", {})
    return before, path.read_bytes(), ticks, gates


@pytest.fixture(scope="module")
def whole(both):
    """A recording that was closed: (bytes, ticks, gates)."""
    return both[1:]


@pytest.fixture(scope="module")
def growing(both):
    """A recording whose recorder was killed: (bytes, ticks, gates)."""
    return both[0], *both[2:]


def is_prefix(tools, episode, ticks, gates):
    n, m = len(episode.ticks), len(episode.gate)
    return tools.same_bits(episode.ticks, ticks[:n]) and tools.same_bits(
        episode.gate, gates[:m]
    )


@pytest.mark.long
def test_truncation_anywhere_leaves_a_prefix(growing, tmp_path, tools):
    data, ticks, gates = growing
    path = tmp_path / "cut.mcap"
    lengths = []
    for size in [*range(0, len(data), 211), len(data)]:
        path.write_bytes(data[:size])
        try:
            episode = Episode.open(path)
        except RecordingError:
            lengths.append(-1)
            continue
        assert not episode.is_complete
        assert is_prefix(tools, episode, ticks, gates)
        lengths.append(len(episode.ticks))
    assert lengths == sorted(lengths)
    assert set(lengths) == {-1, 0, 3, 6, 9, 12}


@pytest.mark.long
def test_truncation_after_the_close_leaves_a_prefix(whole, tmp_path, tools):
    data, ticks, gates = whole
    path = tmp_path / "cut.mcap"
    lengths = set()
    for size in range(0, len(data), 211):
        path.write_bytes(data[:size])
        try:
            episode = Episode.open(path)
        except RecordingError:
            lengths.add(-1)
            continue
        assert not episode.is_complete
        assert is_prefix(tools, episode, ticks, gates)
        lengths.add(len(episode.ticks))
    assert lengths == {-1, 0, 12}


@pytest.mark.parametrize("tail", [bytes(5000), b"\xa5" * 5000], ids=["zeros", "noise"])
def test_torn_tail_after_power_loss_is_left_out(growing, tmp_path, tools, tail):
    data, ticks, gates = growing
    path = tmp_path / "torn.mcap"
    path.write_bytes(data[: len(data) // 2] + tail)

    episode = Episode.open(path)

    assert 0 < len(episode.ticks) < N_TICKS
    assert not episode.is_complete
    assert is_prefix(tools, episode, ticks, gates)


@pytest.mark.long
def test_bit_flips_are_never_silently_wrong(whole, tmp_path, tools):
    data, ticks, gates = whole
    path = tmp_path / "flipped.mcap"
    rng = np.random.default_rng(7)
    for bit in rng.integers(0, 8 * len(data), 150):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << (bit % 8)
        path.write_bytes(flipped)
        try:
            episode = Episode.open(path)
        except RecordingError:
            continue
        assert is_prefix(tools, episode, ticks, gates), bit
        assert not episode.is_complete
        assert "manifest" not in episode.note or len(episode.ticks) == N_TICKS


@pytest.mark.long
def test_bit_flips_without_the_summary_give_a_prefix(growing, tmp_path, tools):
    """A killed recorder leaves no checksum over everything: chunks have to do."""
    data, ticks, gates = growing
    path = tmp_path / "flipped.mcap"
    rng = np.random.default_rng(8)
    for bit in rng.integers(0, 8 * len(data), 150):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << (bit % 8)
        path.write_bytes(flipped)
        try:
            episode = Episode.open(path)
        except RecordingError:
            continue
        assert is_prefix(tools, episode, ticks, gates), bit


def test_file_that_is_not_its_manifests_is_noted(tmp_path, robot, tools):
    layout = tools.make_layout(robot, tools.POSE_LEADER)
    header = tools.make_header(robot, tools.POSE_LEADER)
    first, second = (tmp_path / f"episode_00000{i}.mcap" for i in range(2))
    tools.write_episode(first, layout, header, 4)
    tools.write_episode(second, layout, header, 8)
    first.write_bytes(second.read_bytes())

    episode = Episode.open(first)

    assert not episode.is_complete
    assert "manifest" in episode.note


def test_recover_saves_the_prefix_and_says_what_was_lost(growing, tmp_path, tools):
    data, ticks, gates = growing
    path = tmp_path / "episode_000000.mcap"
    cut = data[:-100]
    path.write_bytes(cut)

    report = recover(path, make_recovered_path(path))

    episode = Episode.open(report.path)
    assert path.read_bytes() == cut
    assert episode.is_complete, episode.note
    assert episode.end_reason == "recovered"
    assert is_prefix(tools, episode, ticks, gates)
    assert len(episode.ticks) == report.n_ticks == 9
    assert report.lost_bytes > 0
    assert 0 < report.lost_time < 0.1
    assert "lost" in str(report)


def test_recover_of_a_whole_file_loses_nothing(whole, tmp_path):
    path = tmp_path / "episode_000000.mcap"
    path.write_bytes(whole[0])

    report = recover(path, tmp_path / "again.mcap")

    assert (report.lost_bytes, report.problem, report.n_ticks) == (0, "", N_TICKS)


def test_recover_never_overwrites(whole, tmp_path):
    path = tmp_path / "episode_000000.mcap"
    path.write_bytes(whole[0])

    with pytest.raises(RecordingError, match="it exists"):
        recover(path, path)

    assert path.read_bytes() == whole[0]


@pytest.mark.parametrize("data", [b"", b"\x89MCAP0\r\n", b"no recording at all" * 9])
def test_nothing_to_recover_is_an_error(tmp_path, data):
    path = tmp_path / "episode_000000.mcap"
    path.write_bytes(data)

    with pytest.raises(RecordingError):
        recover(path, tmp_path / "out.mcap")

    assert not (tmp_path / "out.mcap").exists()


def test_foreign_mcap_is_refused(tmp_path):
    path = tmp_path / "foreign.mcap"
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start()
        writer.finish()

    with pytest.raises(RecordingError, match="expected a recording of paprle"):
        Episode.open(path)


def make_chunk(data: bytes, declared: int, payload: bytes) -> bytes:
    head = struct.pack("<QQQI", 0, 0, declared, zlib.crc32(data))
    return head + struct.pack("<I4sQ", 4, b"zstd", len(payload)) + payload


def test_zstd_bomb_is_refused_before_it_is_unpacked():
    data = bytes(200 << 20)
    payload = zstandard.compress(data)
    assert len(payload) < 1 << 20

    with pytest.raises(Damaged, match="size"):
        unpack_chunk(make_chunk(b"", len(data), payload))
    with pytest.raises(Damaged, match="size"):
        unpack_chunk(make_chunk(b"", 100, payload))


def test_declared_sizes_beyond_the_file_are_refused(whole, tmp_path):
    at = whole[0].index(b"\x09", 8)  # the first attachment record
    data = bytearray(whole[0])
    data[at + 1 : at + 9] = struct.pack("<Q", 1 << 62)
    path = tmp_path / "lie.mcap"
    path.write_bytes(data)

    with pytest.raises(RecordingError, match="size is wrong"):
        Episode.open(path)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=400))
def test_scanner_survives_any_bytes(tmp_path, data):
    path = tmp_path / "any.mcap"
    path.write_bytes(b"\x89MCAP0\r\n" + data)

    scanner = Scanner(path)
    list(scanner)

    assert scanner.valid_bytes <= scanner.size
    assert scanner.is_complete == (not scanner.problem)


def test_records_of_another_version_name_their_writer(whole, tmp_path, monkeypatch):
    path = tmp_path / "old.mcap"
    path.write_bytes(whole[0])
    make_channels = reading.make_channels

    def make_longer(layout, base_links):
        *channels, last = make_channels(layout, base_links)
        dtype = np.dtype([*last.message.dtype.descr, ("more", "f8")])
        return (*channels, replace(last, message=replace(last.message, dtype=dtype)))

    monkeypatch.setattr(reading, "make_channels", make_longer)
    with pytest.raises(RecordingError, match=r"bytes on .*, got .*paprle .* recorded"):
        Episode.open(path)
