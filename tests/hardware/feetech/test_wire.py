"""Requests through the vendor's SDK on a pseudo-terminal, byte by byte."""

import os
import threading
import time
import tty

import pytest
from scservo_sdk import scservo_def

from paprle.hardware.feetech.errors import BusError, BusTimeout
from paprle.hardware.feetech.models import REGISTERS
from paprle.hardware.feetech.wire import Wire

pytestmark = pytest.mark.timed  # a busy machine makes servos silent

POSITION = REGISTERS["Present_Position"]


def make_packet(servo_id, *body):
    """A status packet, by the protocol manual: FF FF ID LEN body ~sum."""
    rest = [servo_id, len(body) + 1, *body]
    return bytes([0xFF, 0xFF, *rest, ~sum(rest) & 0xFF])


class Line:
    """A pseudo-terminal whose far end answers requests as a test says."""

    def __init__(self):
        self.master, self.slave = os.openpty()
        tty.setraw(self.slave)
        self.path = os.ttyname(self.slave)
        self.requests = []

    def answer_with(self, *answers):
        def run():
            for data in answers:
                self.requests.append(os.read(self.master, 1000))
                os.write(self.master, data)

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def close(self):
        for end in (self.master, self.slave):
            if end is not None:
                os.close(end)


@pytest.fixture
def line():
    line = Line()
    yield line
    line.close()


@pytest.fixture
def wire(line):
    wire = Wire(line.path, 1_000_000, timeout=0.05)
    wire.open()
    yield wire
    wire.close()


def test_a_register_is_read(line, wire):
    line.answer_with(make_packet(3, 0, 0x34, 0x12))

    assert wire.read(3, POSITION) == 0x1234
    assert line.requests == [bytes.fromhex("ffff0304023802bc")]


def test_a_late_answer_is_not_taken_for_the_next(line, wire):
    late = make_packet(3, 0)
    line.answer_with(late, make_packet(3, 0, 7, 0))

    assert wire.read(3, POSITION) == 7
    assert wire.n_failed["corrupt"] == 1


def test_unrequested_bytes_are_dropped_and_counted(line, wire):
    os.write(line.master, b"\x01" * 10)
    time.sleep(0.01)
    line.answer_with(make_packet(3, 0, 7, 0))

    assert wire.read(3, POSITION) == 7
    assert wire.port.n_unasked == 1


@pytest.mark.parametrize("length", [0, 1, 200])
def test_a_damaged_length_is_survived(line, wire, length):
    damaged = bytearray(make_packet(3, 0, 7, 0))
    damaged[3] = length
    line.answer_with(bytes(damaged), make_packet(3, 0, 7, 0))

    assert wire.read(3, POSITION) == 7


def test_damaged_bytes_are_counted_and_asked_again(line, wire):
    damaged = bytearray(make_packet(3, 0, 7, 0))
    damaged[5] ^= 1
    line.answer_with(bytes(damaged), make_packet(3, 0, 7, 0))

    assert wire.read(3, POSITION) == 7
    assert wire.packets.n_damaged == 1


def test_a_sync_read_goes_on_after_a_silent_servo(line, wire):
    rows = make_packet(1, 0, 1, 0), make_packet(3, 0x20, 3, 0)
    line.answer_with(b"".join(rows))

    assert wire.sync_read(POSITION, [1, 2, 3]) == {1: b"\1\0", 3: b"\3\0"}
    assert wire.packets.errors == {1: 0, 3: 0x20}


def test_waiting_for_a_silent_servo_takes_hardly_any_processor(wire):
    begin, busy = time.monotonic(), time.thread_time()

    with pytest.raises(BusTimeout, match="servo 3 on .* silence 3 times; check its"):
        wire.read(3, POSITION)

    assert time.thread_time() - busy < 0.3 * (time.monotonic() - begin)


def test_byte_order_of_others_in_the_process_changes_nothing(line, wire):
    scservo_def.SCS_SETEND(1)
    try:
        line.answer_with(make_packet(3, 0), make_packet(3, 0, 0x09, 0x03))
        assert wire.ping(3) == 777
    finally:
        scservo_def.SCS_SETEND(0)


@pytest.mark.usefixtures("wire")
def test_a_port_is_one_process_s_alone(line):
    with pytest.raises(BusError, match="another process has open"):
        Wire(line.path, 1_000_000).open()


def test_an_unplugged_port_is_an_error_and_opens_again(line, wire):
    os.close(line.master)
    line.master = None

    with pytest.raises(BusError, match="plug the adapter in again"):
        wire.read(3, POSITION)
    with pytest.raises(BusError, match="expected a serial device"):
        wire.open()


def test_an_unknown_rate_is_refused():
    with pytest.raises(BusError, match="baud rate that the SDK has .* got 76800"):
        Wire("/dev/null", 76_800).open()
