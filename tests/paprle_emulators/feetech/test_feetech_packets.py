"""The emulator's packets and the vendor's SDK agree on every byte."""

from __future__ import annotations

import random

import pytest
from scservo_sdk import COMM_RX_CORRUPT, COMM_SUCCESS, PacketHandler

from paprle_emulators.feetech.packets import (
    Packet,
    Parser,
    make_instruction,
    make_status,
)

SDK = PacketHandler(0)
N_PACKETS = 10_000


class Memory:
    """A port of the vendor's SDK that keeps what is sent and gives what it holds."""

    def __init__(self) -> None:
        self.is_using = False
        self.sent = b""
        self.held = b""

    def clearPort(self) -> None:
        self.sent = b""

    def writePort(self, packet: list[int]) -> int:
        self.sent += bytes(packet)
        return len(packet)

    def readPort(self, length: int) -> bytes:
        taken, self.held = self.held[:length], self.held[length:]
        return taken

    def isPacketTimeout(self) -> bool:
        return not self.held


def make_random(count, seed, codes):
    """Yield IDs, codes and parameters."""
    dice = random.Random(seed)
    for _ in range(count):
        params = dice.randbytes(dice.randint(0, 40))
        yield dice.randint(0, 253), dice.choice(codes), params


@pytest.mark.long
def test_ten_thousand_answers_are_read_by_the_vendors_sdk():
    port = Memory()
    for servo, error, params in make_random(N_PACKETS, 1, range(0x80)):
        port.held = make_status(servo, error, params)
        packet, result = SDK.rxPacket(port)

        assert result == COMM_SUCCESS
        assert (packet[2], packet[4]) == (servo, error)
        assert bytes(packet[5:-1]) == params


@pytest.mark.long
def test_ten_thousand_instructions_of_the_vendors_sdk_are_read():
    port, parser = Memory(), Parser()
    for servo, code, params in make_random(N_PACKETS, 2, [1, 2, 3, 4, 5, 6, 130, 131]):
        packet = [0, 0, servo, len(params) + 2, code, *params, 0]
        assert SDK.txPacket(port, packet) == COMM_SUCCESS
        port.is_using = False

        assert list(parser.feed(port.sent)) == [Packet(servo, code, params, True)]
        assert make_instruction(servo, code, params) == port.sent
    assert parser.n_skipped == 0


@pytest.mark.long
def test_both_reject_the_same_spoilt_answers():
    dice, port = random.Random(3), Memory()
    n_corrupt = 0
    for servo, error, params in make_random(2000, 4, range(0x80)):
        data = bytearray(make_status(servo, error, params))
        data[dice.randrange(4, len(data))] ^= 1 << dice.randrange(7)
        port.held = bytes(data)
        _, result = SDK.rxPacket(port)
        (packet,) = Parser().feed(bytes(data))

        assert packet.is_whole == (result == COMM_SUCCESS)
        n_corrupt += result == COMM_RX_CORRUPT
    assert n_corrupt > 1500


def test_packets_are_found_in_noise():
    first, second = make_instruction(1, 2, b"\x38\x02"), make_instruction(2, 1)
    stream = b"\xff\x00\xff" + first + b"\xff\xff\xff" + second

    packets = list(Parser().feed(stream))

    assert [(one.servo, one.code) for one in packets] == [(1, 2), (2, 1)]
    assert all(one.is_whole for one in packets)


def test_packets_are_found_when_they_come_byte_by_byte():
    parser, packets = Parser(), []
    for byte in make_instruction(3, 3, b"\x2a\xff\xff") + make_instruction(4, 1):
        packets += parser.feed(bytes((byte,)))

    assert [one.servo for one in packets] == [3, 4]


def test_a_packet_after_a_spoilt_one_is_not_lost():
    spoilt = bytearray(make_instruction(1, 3, b"\x2a\x00\x08"))
    spoilt[-1] ^= 1
    packets = list(Parser().feed(bytes(spoilt) + make_instruction(2, 1)))

    assert [(one.servo, one.is_whole) for one in packets] == [(1, False), (2, True)]


def test_a_length_that_cannot_be_does_not_swallow_what_follows():
    packets = list(Parser().feed(b"\xff\xff\x01\xfe\x03" + make_instruction(2, 1)))

    assert [one.servo for one in packets if one.is_whole] == [2]
