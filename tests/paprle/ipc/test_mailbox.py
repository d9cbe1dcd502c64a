from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

from paprle.ipc.mailbox import Mailbox, Ring
from paprle.ipc.process import WORKSPACE

DTYPE = np.dtype([("k", "u8"), ("values", "f8", (50,))])


def make_record(k):
    record = np.zeros((), dtype=DTYPE)
    record["k"], record["values"] = k, k
    return record


def test_an_empty_mailbox_reads_as_none():
    assert Mailbox(DTYPE).read() is None


def test_the_newest_record_wins():
    box = Mailbox(DTYPE)

    for k in range(5):
        box.write(make_record(k))

    assert box.read()["k"] == 4
    assert box.read()["k"] == 4


def test_a_reader_keeps_what_it_read():
    box = Mailbox(DTYPE)
    box.write(make_record(1))
    held = box.read()

    box.write(make_record(2))
    box.write(make_record(3))

    assert held["k"] == 1
    assert not held["values"].flags.writeable


def test_a_reader_never_sees_a_torn_record():
    box = Mailbox(DTYPE)
    done = threading.Event()

    def write():
        for k in range(20000):
            box.write(make_record(k))
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = []
    while not done.is_set():
        record = box.read()
        if record is not None:
            assert (record["values"] == record["k"]).all()
            seen.append(int(record["k"]))
    writer.join()

    assert seen == sorted(seen)


@pytest.mark.parametrize("where", [8, 20, 40, 300])
def test_a_writer_that_dies_half_way_leaves_the_last_record(where):
    box = Mailbox(DTYPE)
    box.write(make_record(7))
    slot = 8 * (1 + (1 - 1 % 2) * box._stride)  # the slot that is not current

    box._map[slot : slot + where] = b"\xaa" * where

    assert box.read()["k"] == 7


def test_a_corrupt_slot_reads_as_nothing():
    box = Mailbox(DTYPE)
    box.write(make_record(7))

    at = 8 * (1 + box._stride) + 16 + 20
    box._map[at] ^= 1

    assert box.read() is None


@pytest.mark.long
def test_another_process_writes_what_this_one_reads():
    box = Mailbox(DTYPE)
    code = (
        "import numpy as np, sys; from paprle.ipc.mailbox import Mailbox;"
        "d = np.dtype([('k', 'u8'), ('values', 'f8', (50,))]);"
        "r = np.zeros((), d); r['k'] = 42; Mailbox(d, int(sys.argv[1])).write(r)"
    )

    subprocess.run(
        [sys.executable, "-c", code, str(box.fd)],
        pass_fds=(box.fd,),
        check=True,
        cwd=WORKSPACE,
    )

    assert box.read()["k"] == 42


def test_a_ring_gives_back_all_records_in_order():
    ring = Ring(4096)
    sent = [(k % 3, bytes([k]) * k) for k in range(40)]
    got = []

    for kind, payload in sent:
        assert ring.push(kind, payload)
        if kind == 2:
            got += ring.drain()
    got += ring.drain()

    assert got == sent


def test_a_full_ring_drops_and_counts_by_kind_and_recovers():
    ring = Ring(100)

    kept = [ring.push(1, b"x" * 32) for _ in range(4)]

    assert kept == [True, True, False, False]
    assert ring.dropped == {1: 2}
    assert len(ring.drain()) == 2
    assert ring.push(1, b"y" * 32)


def test_a_record_larger_than_the_ring_is_refused():
    ring = Ring(64)

    assert not ring.push(0, b"x" * 100)
    assert ring.drain() == []
