"""Ports: what the session makes and what a process that inherits it opens."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

from paprle.ipc.mailbox import Image
from paprle.ipc.ports import Frames, LatestPort, Ordered, make_ports, name_port
from paprle.ipc.process import WORKSPACE

DTYPE = np.dtype([("k", "u8")])
PORTS = {
    "tick": LatestPort(DTYPE),
    "ring": Ordered(4096),
    "frames:front": Frames(1000, 3),
}


def test_both_ends_of_a_latest_port_see_the_same_record():
    made = make_ports(PORTS)["tick"]

    made.write(np.array((7,), DTYPE))

    reader, other = PORTS["tick"].open(made.fd), PORTS["tick"].open(made.fd)
    assert reader.read()["k"] == other.read()["k"] == 7


def test_both_ends_of_an_ordered_port_see_the_same_records():
    made = make_ports(PORTS)["ring"]
    writer = PORTS["ring"].open(made.fd)

    writer.push(1, b"a")
    writer.push(2, b"bc")

    assert made.drain() == [(1, b"a"), (2, b"bc")]


def test_the_newest_image_wins_whatever_its_size():
    slots = make_ports(PORTS)["frames:front"]
    assert slots.read() is None

    for k in range(1, 8):
        assert slots.write(k, bytes([k]) * 100 * k)

    assert slots.read() == Image(7, bytes([7]) * 700)
    assert slots.count == 7


def test_an_image_larger_than_a_slot_is_refused_and_the_last_one_stays():
    slots = Frames(10).open()
    slots.write(1, b"x" * 10)

    assert not slots.write(2, b"y" * 11)
    assert slots.read() == Image(1, b"x" * 10)


def test_an_image_that_was_taken_back_is_nobodys_newest():
    slots = Frames(10).open()
    slots.write(1, b"image")

    slots.write(2, b"")

    assert slots.read() is None
    assert slots.count == 2, "whoever watches sees that its writer lives"


@pytest.mark.parametrize("n", [2, 3])
def test_a_reader_never_sees_a_torn_image(n):
    slots = Frames(5000, n).open()
    done = threading.Event()

    def write():
        for k in range(1, 5000):
            slots.write(k, bytes([k % 251]) * (1 + k % 5000))
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = []
    while not done.is_set():
        image = slots.read()
        if image is not None:
            assert image.data == bytes([image.stamp_ns % 251]) * (
                1 + image.stamp_ns % 5000
            )
            seen.append(image.stamp_ns)
    writer.join()

    assert seen == sorted(seen)


@pytest.mark.parametrize("where", [8, 16, 24, 32, 60])
def test_a_writer_that_dies_half_way_leaves_the_last_image(where):
    slots = Frames(100, 3).open()
    slots.write(1, b"whole")
    start = 8 * (1 + 2 * slots._stride)  # where the second one goes

    slots._map[start : start + where] = b"\xaa" * where

    assert slots.read() == Image(1, b"whole")


@pytest.mark.long
def test_another_process_reads_an_image_that_this_one_wrote():
    slots = Frames(100, 3).open()
    slots.write(5, b"hello")
    code = (
        "import sys; from paprle.ipc.ports import Frames;"
        "image = Frames(100, 3).open(int(sys.argv[1])).read();"
        "sys.exit(image != (5, b'hello'))"
    )

    subprocess.run(
        [sys.executable, "-c", code, str(slots.fd)],
        pass_fds=(slots.fd,),
        check=True,
        cwd=WORKSPACE,
    )


def test_an_only_port_of_its_kind_has_a_plain_name():
    assert name_port("sample", "") == "sample"
    assert name_port("sample", "left") == "sample:left"
