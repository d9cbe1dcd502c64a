"""Codes of stops from the emulated primary interface's bytes."""

import struct
import time

import pytest

from paprle.hardware.ur.messages import Messages
from paprle_emulators.ur.controller import VERSION
from paprle_emulators.ur.primary import Reports, make_state, make_version

STATE = make_state(1.0, 7, (True,) * 7, 1.0, 1.0)


@pytest.fixture
def messages():
    return Messages(time.monotonic_ns)


def stop(code=204, argument=3, text="path sanity check"):
    reports = Reports()
    reports.add_stop(1.5, 3, code, argument, text)
    return reports.take(0)


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_code_is_found_among_other_packages_in_any_pieces(messages, size):
    since = time.monotonic_ns()
    stream = make_version(0.0, VERSION) + STATE + stop() + STATE
    for k in range(0, len(stream), size):
        messages.take(stream[k : k + size])

    assert messages.find_code(since) == "C204A3: path sanity check"


def test_the_code_of_an_earlier_stop_is_not_that_of_a_new_one(messages):
    messages.take(stop())

    assert messages.find_code(time.monotonic_ns() + 600_000_000) == ""


def test_a_safety_mode_message_alone_gives_its_code(messages):
    first = stop()
    (size,) = struct.unpack_from(">i", first)
    messages.take(first[:size])

    assert messages.find_code(time.monotonic_ns()) == "C204A3"


@pytest.mark.parametrize("noise", [b"\x00" * 64, b"\xff" * 64, b"\x7f" * 64])
def test_bytes_that_are_no_package_give_no_code(messages, noise):
    messages.take(noise)

    assert messages.find_code(0) == ""


def test_a_code_of_zero_is_none(messages):
    messages.take(stop(code=0, argument=0, text=""))

    assert messages.find_code(0) == ""


def test_the_layout_is_that_of_the_published_description():
    """Sizes of PolyScope 5: robot mode data 47, an error code 20 and its text."""
    size, kind, inner, inner_kind = struct.unpack_from(">iBIB", STATE)
    assert (size, kind) == (len(STATE), 16)
    assert (inner, inner_kind) == (47, 0)
    whole = stop(text="abc")
    (first,) = struct.unpack_from(">i", whole)
    error = whole[first:]
    assert first == 15 + 17
    assert len(error) == 15 + 20 + 3
    assert error[14] == 6
    assert struct.unpack_from(">iii", error, 15) == (204, 3, 3)
