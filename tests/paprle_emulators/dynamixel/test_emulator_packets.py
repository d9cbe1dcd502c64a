"""The emulator's own reading of Protocol 2.0, held against the published examples."""

from __future__ import annotations

import pytest
from dynamixel_sdk import Protocol2PacketHandler
from hypothesis import assume, given
from hypothesis import strategies as st

from paprle_emulators.dynamixel.packets import (
    HEADER,
    Parser,
    compute_crc,
    make_fast_status,
    make_instruction,
    make_status,
    stuff,
    unstuff,
)

# spec: e-manual, protocol 2.0, worked examples of the instructions
PING = bytes.fromhex("ff ff fd 00 01 03 00 01 19 4e")
READ = bytes.fromhex("ff ff fd 00 01 07 00 02 84 00 04 00 1d 15")
PONG = bytes.fromhex("ff ff fd 00 01 07 00 55 00 06 04 26 65 5d")
ANSWER = bytes.fromhex("ff ff fd 00 01 08 00 55 00 a6 00 00 00 8c c0")
FAST = bytes.fromhex(
    "ff ff fd 00 fe 0e 00 55 00 03 a6 00 00 00 84 08 00 07 1f 08 00 00 aa bb"
)
SPELLING = st.lists(
    st.sampled_from([b"\xff", b"\xfd", b"\x00", b"\xff\xff\xfd", b"\x12"]), max_size=20
).map(b"".join)


def test_published_examples_are_made_byte_by_byte():
    assert make_instruction(1, 1) == PING
    assert make_instruction(1, 2, bytes.fromhex("84000400")) == READ
    assert make_status(1, 0, bytes.fromhex("060426")) == PONG
    assert make_status(1, 0, bytes.fromhex("a6000000")) == ANSWER


def test_published_examples_are_read():
    packets = list(Parser().feed(PING + READ))

    assert [(p.servo, p.code, p.params) for p in packets] == [
        (1, 1, b""),
        (1, 2, bytes.fromhex("84000400")),
    ]
    assert all(p.is_whole for p in packets)


def test_every_block_of_a_fast_answer_ends_with_the_crc_so_far():
    packet = make_fast_status([(0, 3, FAST[10:14]), (0, 7, FAST[18:22])])

    assert packet[:14] == FAST[:10].replace(b"\x0e", b"\x11") + FAST[10:14]
    assert int.from_bytes(packet[14:16], "little") == compute_crc(packet[:14])
    assert int.from_bytes(packet[-2:], "little") == compute_crc(packet[:-2])


@given(SPELLING)
def test_stuffing_is_undone_and_leaves_no_header(body):
    stuffed = stuff(body)

    assert unstuff(stuffed) == body
    assert HEADER not in stuffed
    assert stuffed.count(b"\xff\xff\xfd") == stuffed.count(b"\xff\xff\xfd\xfd")


@given(SPELLING, st.integers(0, 252))
def test_the_sdk_unstuffs_what_is_stuffed_here(body, servo):
    # SDK 4.1.0 unstuffs in place and looks back at what it has moved: after a first
    # stuffing it takes FF FD FD for another.
    assume(body.count(b"\xff\xfd") <= 1)
    packet = list(make_status(servo, 0, body))

    plain = Protocol2PacketHandler().removeStuffing(packet)

    length = plain[5] + (plain[6] << 8)
    assert bytes(plain[9 : 7 + length - 2]) == body


@given(SPELLING)
def test_the_crc_is_the_sdk_s(data):
    assert compute_crc(data) == Protocol2PacketHandler().updateCRC(
        0, list(data), len(data)
    )


@given(st.binary(max_size=30), st.lists(st.integers(1, 9), max_size=8))
def test_packets_are_found_in_noise_and_in_pieces(noise, cuts):
    noise = noise.replace(b"\xff", b"\x00")
    stream = noise + PING + noise + READ
    parser, found = Parser(), []

    for size in cuts:
        found += parser.feed(stream[:size])
        stream = stream[size:]
    found += parser.feed(stream)

    assert [p.code for p in found] == [1, 2]
    assert parser.n_skipped == 2 * len(noise)


@given(st.binary(max_size=200))
def test_nothing_that_arrives_raises(data):
    parser = Parser()

    list(parser.feed(data))
    list(parser.feed(HEADER + data))
    got = list(parser.feed(bytes(1100) + PING))

    assert not got or got[-1].code == 1


@pytest.mark.parametrize("at", range(4, len(READ)))
def test_a_turned_bit_is_noticed(at):
    spoilt = bytearray(READ)
    spoilt[at] ^= 0x10

    assert not any(p.is_whole for p in Parser().feed(bytes(spoilt)))


def test_a_packet_that_was_not_stuffed_is_lost_and_counted():
    body = b"\x03\x66\x00\xff\xff\xfd\xff\xff\xff"
    head = HEADER + bytes((1, len(body) + 2, 0)) + body
    bare = head + compute_crc(head).to_bytes(2, "little")
    parser = Parser()

    packets = list(parser.feed(bare + PING))

    assert [p.code for p in packets] == [1]
    assert parser.n_unstuffed == 1
