"""Damage anywhere in a recording costs the chunk that it is in, and no other row."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from mcap.opcode import Opcode

from paprle.contracts.errors import RecordingError
from paprle.recording.gaps import list_gaps
from paprle.recording.info import describe
from paprle.recording.mcap.recover import recover
from paprle.recording.reader import Episode

N_TICKS, N_CHUNK = 40, 4


@pytest.fixture(scope="module", params=["closed", "killed"])
def recorded(request, tmp_path_factory, tools):
    """A recording of several chunks: (bytes, ticks, gates, starts of its chunks)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paprle.recording.mcap.compaction._CHUNK_BYTES", 1)
        folder = tmp_path_factory.mktemp("recorded")
        robot, leader = tools.make_robot(folder), tools.POSE_LEADER
        layout = tools.make_layout(robot, leader, tools.OBJECTS)
        header = tools.make_header(robot, leader) | {"objects": list(tools.OBJECTS)}
        path = folder / "episode_000000.mcap"
        written = tools.write_journal(path, layout, header, N_TICKS, N_CHUNK)
        if request.param == "closed":
            written[2].close("leader_end", {})
        data = path.read_bytes()
        written[2].abandon()
        return data, *written[:2], list_records(data)


def list_records(data):
    """Return opcode, begin and end of every record of a file that is whole."""
    at, found = 8, []
    while at + 9 <= len(data):
        opcode, length = struct.unpack_from("<BQ", data, at)
        if at + 9 + length > len(data):
            break
        found.append((opcode, at, at + 9 + length))
        at += 9 + length
        if opcode == Opcode.FOOTER:
            break
    return found


def flip(data, bit):
    flipped = bytearray(data)
    flipped[bit // 8] ^= 1 << (bit % 8)
    return bytes(flipped)


def save(folder, data):
    path = folder / "episode_000000.mcap"
    path.write_bytes(data)
    out = folder / "saved.mcap"
    for old in (out, out.with_suffix(".json")):
        old.unlink(missing_ok=True)
    return recover(path, out)


def find_lost(tools, rows, true):
    """Return which of the true rows are missing; every other one is there, exactly."""
    kept = np.isin(true["k"], rows["k"])
    assert tools.same_bits(rows, true[kept])
    return np.flatnonzero(~kept)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_flipped_bit_costs_one_chunk(recorded, tmp_path, tools, share):
    data, ticks, gates, records = recorded
    chunks = [one for one in records if one[0] == Opcode.CHUNK]
    _, begin, end = chunks[int(share * len(chunks))]

    report = save(tmp_path, flip(data, 4 * (begin + end)))

    episode = Episode.open(report.path)
    assert episode.is_complete, episode.note
    for rows, true in ((episode.ticks, ticks), (episode.gate, gates)):
        lost = find_lost(tools, rows, true)
        assert len(lost) == N_CHUNK
        assert (np.diff(lost) == 1).all()
    assert report.lost["/session/tick"] == report.lost["/gate/status"] == N_CHUNK
    (gap,) = report.gaps
    stamps = (ticks["stamp_ns"] - ticks["stamp_ns"][0]) * 1e-9
    first = find_lost(tools, episode.ticks, ticks)[0]
    assert gap.at == pytest.approx(stamps[first - 1], abs=0.002)
    assert gap.seconds == pytest.approx((N_CHUNK + 1) * 0.005, abs=0.002)
    assert f"missing: {gap.seconds:.3f} s at {gap.at:.3f} s" in str(report)
    assert list(list_gaps(episode.manifest)) == [gap]
    assert f"missing    {gap}" in describe(report.path)
    assert "/session/tick 4" in str(report)


@pytest.mark.long
@pytest.mark.parametrize(
    "n_flips",
    [18, pytest.param(2000, marks=[pytest.mark.nightly, pytest.mark.timeout(1800)])],
)
def test_flipped_bit_anywhere_costs_at_most_one_chunk(
    recorded, tmp_path, tools, n_flips
):
    data, ticks, gates, records = recorded
    before = next(begin for opcode, begin, _ in records if opcode == Opcode.CHUNK)
    rng = np.random.default_rng(11)
    n_saved = n_lossy = 0
    heads = [8 * begin + bit for _, begin, _ in records for bit in (0, 3, 9, 20)]
    n_heads = n_flips // 3
    anywhere = rng.integers(0, 8 * len(data), n_flips - n_heads)
    for bit in [*anywhere, *rng.choice(heads, n_heads)]:
        try:
            report = save(tmp_path, flip(data, int(bit)))
        except RecordingError:
            is_in_header = bit // 8 < before
            declares_all = bit // 8 < records_end(records, before)
            assert is_in_header or declares_all, bit
            continue
        episode = Episode.open(report.path)
        assert episode.is_complete, (bit, episode.note)
        for rows, true in ((episode.ticks, ticks), (episode.gate, gates)):
            lost = find_lost(tools, rows, true)
            assert len(lost) <= N_CHUNK, bit
        n_saved += 1
        n_lossy += len(episode.ticks) < N_TICKS
    assert n_saved > n_flips / 3
    assert n_lossy > n_flips / 9


def records_end(records, begin):
    return next(end for _, at, end in records if at == begin)


def test_two_damaged_stretches_are_two_gaps(recorded, tmp_path, tools):
    data, ticks, _, records = recorded
    chunks = [one for one in records if one[0] == Opcode.CHUNK]
    for place in (3, 6):
        data = flip(data, 4 * (chunks[place][1] + chunks[place][2]))

    report = save(tmp_path, data)

    assert len(report.gaps) == 2
    assert len(find_lost(tools, Episode.open(report.path).ticks, ticks)) == 2 * N_CHUNK


def test_overwritten_stretch_costs_the_chunks_that_it_touches(
    recorded, tmp_path, tools
):
    data, ticks, gates, records = recorded
    chunks = [one for one in records if one[0] == Opcode.CHUNK]
    begin, end = chunks[3][1] + 20, chunks[5][2] - 20
    data = data[:begin] + bytes(end - begin) + data[end:]

    report = save(tmp_path, data)

    episode = Episode.open(report.path)
    assert len(find_lost(tools, episode.ticks, ticks)) == 3 * N_CHUNK
    assert len(find_lost(tools, episode.gate, gates)) == 3 * N_CHUNK
