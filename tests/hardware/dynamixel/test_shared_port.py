"""A port that a guardian reads, too: what one took, the other does not miss."""

from __future__ import annotations

import os
import threading
import time
import tty

import pytest

from paprle.hardware.dynamixel.guardian_process import is_hung_up
from paprle.hardware.dynamixel.line.port import SerialPort


@pytest.fixture
def pair():
    master, slave = os.openpty()
    tty.setraw(slave)
    port = SerialPort(os.ttyname(slave), timeout=0.01)
    port.setupPort(0)
    yield master, port
    port.closePort()
    os.close(slave)


def test_bytes_that_another_process_was_quicker_to_take_are_no_hang_up(pair):
    master, port = pair
    is_over = threading.Event()

    def steal():
        while not is_over.is_set():
            try:
                os.read(port.fileno(), 4096)
            except BlockingIOError:
                time.sleep(0)

    thief = threading.Thread(target=steal)
    thief.start()
    try:
        for _ in range(400):
            os.write(master, b"x")
            port.readPort(1)
    finally:
        is_over.set()
        thief.join()
        os.close(master)


def test_a_device_that_is_gone_hangs_up(pair):
    master, port = pair
    assert not is_hung_up(port.fileno())

    os.close(master)

    assert is_hung_up(port.fileno())
    with pytest.raises(OSError, match=r"hung up|Input/output"):
        port.readPort(1)
