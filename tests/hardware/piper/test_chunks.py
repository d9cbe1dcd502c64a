import os
import tty

import pytest
from hypothesis import given
from hypothesis import strategies as st

serial = pytest.importorskip("serial")

from paprle.hardware.piper.chunks import ChunkedPort  # noqa: E402


class CountedPort:
    """Gives what it was given, and counts how often it is asked."""

    def __init__(self, data):
        self.waiting, self.n_asked = data, 0

    @property
    def in_waiting(self):
        return len(self.waiting)

    def read(self, size=1):
        self.n_asked += 1
        data, self.waiting = self.waiting[:size], self.waiting[size:]
        return data

    def reset_input_buffer(self):
        self.waiting = b""


@given(st.lists(st.binary(max_size=40), max_size=5), st.integers(1, 9))
def test_every_byte_is_read_once_and_in_order(arriving, size):
    port = CountedPort(b"")
    chunked, got = ChunkedPort(port), b""

    for data in arriving:
        port.waiting += data
        n = chunked.in_waiting
        while chunked.in_waiting > n // 2:
            got += chunked.read(size)
    while chunk := chunked.read(size):
        got += chunk

    assert got == b"".join(arriving)
    assert chunked.in_waiting == 0


def test_waiting_bytes_are_read_at_once():
    port = CountedPort(b"t2A58" * 100)
    chunked = ChunkedPort(port)

    for _ in range(500):
        assert len(chunked.read(1)) == 1

    assert port.n_asked == 1


def test_a_flushed_port_forgets_what_it_had_read():
    port = CountedPort(b"old")
    chunked = ChunkedPort(port)
    chunked.read(1)

    chunked.reset_input_buffer()

    assert chunked.read(1) == b""


def test_a_real_port_times_out_and_is_closed_through_it():
    master, slave = os.openpty()
    tty.setraw(slave)
    port = serial.serial_for_url(os.ttyname(slave), timeout=0.001)
    chunked = ChunkedPort(port)

    assert chunked.read(1) == b""
    os.write(master, b"ab")
    assert chunked.read(1) + chunked.read(1) == b"ab"
    chunked.close()

    assert not port.is_open
    os.close(master)
    os.close(slave)
