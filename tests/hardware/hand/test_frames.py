"""Hands between processes, and in files."""

import random

import numpy as np
import pytest

from paprle.hardware.hand.errors import HandError
from paprle.hardware.hand.frames import RECORD, FrameStream, pack_frame
from paprle.hardware.hand.recording import read_recording, write_recording
from paprle_emulators.hand.model import make_frame, make_hand

UNIT = np.tile([1.0, 0, 0, 0], (2, 1))
P = np.array([0.1, 0.0, 0.5])


def make_frames(n):
    return [make_frame(0.033 * k, k, make_hand(P)) for k in range(n)]


@pytest.mark.parametrize("piece", [1, 100, 10_000])
def test_frames_come_back_however_the_reads_are_split(piece):
    data = b"".join(pack_frame(frame) for frame in make_frames(4))
    stream, found = FrameStream(), []
    for at in range(0, len(data), piece):
        found += stream.feed(data[at : at + piece])

    assert [frame.seq for frame in found] == [0, 1, 2, 3]
    assert found[0].hands[0].uv == pytest.approx(make_hand(P).uv, abs=1e-3)
    assert found[0].hands[0].label == "right"


def test_damaged_frames_are_left_out():
    rng, frames = random.Random(0), make_frames(200)
    data = bytearray()
    for frame in frames:
        record = bytearray(pack_frame(frame))
        if frame.seq % 10 == 0:
            record[rng.randrange(len(record))] ^= 1 << rng.randrange(8)
        if frame.seq % 10 == 5:
            del record[rng.randrange(len(record)) :]
        data += record

    found = FrameStream().feed(bytes(data))

    assert [f.seq for f in found] == [f.seq for f in frames if f.seq % 5]


def test_a_recording_comes_back(tmp_path):
    t, quat = np.arange(5) * 0.005, np.tile([1.0, 0, 0, 0], (5, 1))
    write_recording(tmp_path / "hand.npz", make_frames(3), t, quat)

    recording = read_recording(tmp_path / "hand.npz")

    assert len(recording.frames) == 3
    assert recording.imu_t == pytest.approx(t)
    assert recording.imu_quat_wxyz == pytest.approx(quat)


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        {"frames": np.zeros(3)},
        {"frames": np.zeros(2, RECORD)},
        {"frames": np.zeros(0, RECORD)},
        {"imu_t": np.array([1.0, 0.0]), "imu_quat_wxyz": UNIT},
        {"imu_t": np.arange(2.0), "imu_quat_wxyz": np.zeros((2, 4))},
        {"imu_t": np.arange(2.0), "imu_quat_wxyz": np.full((2, 4), np.nan)},
        {"imu_t": np.arange(2.0), "imu_quat_wxyz": np.ones((3, 4))},
    ],
    ids=["empty", "numbers", "zeros", "none", "back", "no turn", "nan", "lengths"],
)  # fmt: skip
def test_an_invalid_recording_is_refused(tmp_path, arrays):
    if "imu_t" in arrays:
        data = b"".join(pack_frame(frame) for frame in make_frames(2))
        arrays = {"frames": np.frombuffer(data, RECORD), **arrays}
    np.savez(tmp_path / "hand.npz", **arrays)

    with pytest.raises(HandError, match="expected"):
        read_recording(tmp_path / "hand.npz")


def test_a_file_of_other_bytes_is_refused(tmp_path):
    (tmp_path / "hand.npz").write_bytes(b"no archive at all")

    with pytest.raises(HandError, match="expected a recording of hands"):
        read_recording(tmp_path / "hand.npz")
