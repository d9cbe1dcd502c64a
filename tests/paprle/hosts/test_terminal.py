from __future__ import annotations

import os
import threading

import pytest

from paprle.contracts.types import Actions
from paprle.hosts.terminal import Operator


@pytest.fixture
def keys():
    read_end, write_end = os.pipe()
    operator = Operator()
    operator.forward_to([write_end])

    def press(data):
        operator.take_keys(data)
        os.set_blocking(read_end, False)
        try:
            forwarded = os.read(read_end, 1000)
        except BlockingIOError:
            forwarded = b""
        return operator.actions, forwarded

    yield press
    os.close(read_end)
    os.close(write_end)


@pytest.mark.parametrize(
    ("data", "actions", "forwarded"),
    [
        (b" ", Actions(stop=1), b""),
        (b"\r", Actions(engage=1), b""),
        (b"\n", Actions(engage=1), b""),
        (b"w", Actions(), b"w"),
        (b"wwn d", Actions(next_episode=1, stop=1), b"wwd"),
        (b"\x1b[A", Actions(), b"\x1b[A"),
        (b"\x1b[A ", Actions(stop=1), b"\x1b[A"),
        (b"\x1b[A\x1bOB q", Actions(stop=1, quit=1), b"\x1b[A\x1bOB"),
        (b"\x1b[1;5C ", Actions(stop=1), b"\x1b[1;5C"),
        (b"\x1b ", Actions(stop=1), b"\x1b"),
        (b"\xc3\xa9 x", Actions(stop=1, discard=1), b"\xc3\xa9"),
    ],
    ids=repr,
)
def test_keys_of_the_session_are_counted_and_the_rest_goes_to_the_leader(
    keys, data, actions, forwarded
):
    assert keys(data) == (actions, forwarded)


def test_no_press_is_lost_between_threads():
    operator = Operator()
    kinds = ["stop", "quit", "stop"]
    threads = [
        threading.Thread(target=lambda k=kind: [operator.add(k) for _ in range(20000)])
        for kind in kinds
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert operator.actions == Actions(stop=40000, quit=20000)
