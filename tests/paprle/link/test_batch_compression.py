"""Records as they cross a link."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from paprle.link.batch_compression import AT_ONCE, squeeze, stretch
from paprle.link.packets import MAX_BYTES

SIZE = 768


def make(n, rng=None):
    rows = np.zeros((n, SIZE), np.uint8)
    rows[:, 0] = np.arange(n)
    if rng is not None:
        rows = rng.integers(0, 256, (n, SIZE)).astype(np.uint8)
    return [row.tobytes() for row in rows]


@pytest.mark.parametrize("n", range(1, AT_ONCE + 1))
@pytest.mark.parametrize("seed", [None, 3], ids=["alike", "noise"])
def test_records_come_out_as_they_went_in_and_fit_datagrams(n, seed):
    records = make(n, None if seed is None else np.random.default_rng(seed))

    payloads = squeeze(records)

    assert [one for data in payloads for one in stretch(data, SIZE, AT_ONCE)] == records
    assert max(map(len, payloads)) < MAX_BYTES - 100


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"no zlib",
        zlib.compress(b""),
        zlib.compress(bytes(SIZE - 1)),
        zlib.compress(bytes(SIZE))[:-3],
        zlib.compress(bytes(SIZE)) + b"more",
        zlib.compress(bytes(3 * SIZE)),
    ],
    ids=["empty", "other", "none", "short", "cut", "tail", "too many"],
)
def test_an_invalid_batch_has_no_records(payload):
    assert stretch(payload, SIZE, 2) == []


def test_a_bomb_is_none():
    assert stretch(zlib.compress(bytes(100_000_000)), SIZE, 2) == []
