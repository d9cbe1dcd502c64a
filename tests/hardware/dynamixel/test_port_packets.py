"""Packets against the worked examples of the protocol, and the traps of the SDK."""

import numpy as np
import pytest
from dynamixel_sdk import GroupSyncRead, GroupSyncWrite
from dynamixel_sdk.robotis_def import COMM_RX_CORRUPT, COMM_SUCCESS

from paprle.hardware.dynamixel.line.packets import Packets

PING_1 = "FF FF FD 00 01 03 00 01 19 4E"
READ_POSITION_1 = "FF FF FD 00 01 07 00 02 84 00 04 00 1D 15"
POSITION_166 = "FF FF FD 00 01 08 00 55 00 A6 00 00 00 8C C0"


class Script:
    """A port that notes what is sent and plays what is given."""

    def __init__(self, *replies):
        self.sent, self.is_using = b"", False
        self._rest = bytearray(b"".join(replies))

    def clearPort(self):
        pass

    def writePort(self, packet):
        self.sent = bytes(packet)
        return len(packet)

    def readPort(self, n):
        taken, self._rest = self._rest[:n], self._rest[n:]
        return bytes(taken)

    def setPacketTimeout(self, n):
        pass

    def isPacketTimeout(self):
        return not self._rest


def crc(data):
    """CRC-16 of the protocol, written from its polynomial 0x8005."""
    value = 0
    for byte in data:
        value ^= byte << 8
        for _ in range(8):
            value = value << 1 ^ (0x8005 if value & 0x8000 else 0)
        value &= 0xFFFF
    return value.to_bytes(2, "little")


def status(servo_id, *rest):
    """A status packet of these bytes, as they stand on the line."""
    body = bytes([0x55, *rest])
    head = bytes(
        [0xFF, 0xFF, 0xFD, 0, servo_id, *(len(body) + 2).to_bytes(2, "little")]
    )
    return head + body + crc(head + body)


def test_packets_are_those_of_the_published_examples():
    port, packets = Script(), Packets()

    packets.ping(port, 1)
    assert port.sent == bytes.fromhex(PING_1)
    packets.readTx(port, 1, 132, 4)
    assert port.sent == bytes.fromhex(READ_POSITION_1)

    data, result, error = packets.readRx(Script(bytes.fromhex(POSITION_166)), 1, 4)
    assert (bytes(data), result, error) == (b"\xa6\0\0\0", COMM_SUCCESS, 0)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 118, 119])
def test_checksums_are_those_of_the_polynomial(n):
    data = np.random.default_rng(n).bytes(n + 4)

    found = Packets().updateCRC(0, list(data), n)

    assert found.to_bytes(2, "little") == crc(data[:n])
    assert Packets().updateCRC(Packets().updateCRC(0, data, 1), data[1:], n) == int(
        crc(data[: n + 1])[::-1].hex(), 16
    )


def test_a_header_within_sent_data_is_stuffed():
    port = Script()
    group = GroupSyncWrite(port, Packets(), 116, 4)
    group.addParam(1, [0xFF, 0xFF, 0xFD, 0xFF])

    assert group.txPacket() == COMM_SUCCESS

    assert b"\xff\xff\xfd\xfd\xff" in port.sent[5:]
    assert int.from_bytes(port.sent[5:7], "little") == len(port.sent) - 7
    assert port.sent[-2:] == crc(port.sent[:-2])


def test_stuffed_data_are_read_without_the_stuffing():
    reply = status(1, 0, 0xFF, 0xFF, 0xFD, 0xFD, 7)

    data, result, _ = Packets().readRx(Script(reply), 1, 4)

    assert (data, result) == ([0xFF, 0xFF, 0xFD, 7], COMM_SUCCESS)


def test_answer_to_another_question_is_none():
    """The SDK would take its first bytes for the register that it asked for."""
    data, result, _ = Packets().readRx(Script(status(1, 0, 1, 2, 3, 4)), 1, 2)

    assert (data, result) == ([], COMM_RX_CORRUPT)


@pytest.mark.parametrize("stuffing", [[], [0xFD]], ids=["bare", "stuffed"])
def test_fast_reads_of_both_kinds_of_firmware_are_understood(stuffing):
    row_1 = [0xFF, 0xFF, 0xFD, *stuffing, 0x01]
    body = [0, 1, *row_1, 0xAA, 0xBB, 0, 2, 5, 6, 7, 8]
    port = Script(status(0xFE, *body))
    group = GroupSyncRead(port, Packets(), 132, 4)
    group.addParam(1)
    group.addParam(2)

    assert group.fastSyncRead() == COMM_SUCCESS

    assert bytes(group.data_dict[1]) == b"\xff\xff\xfd\x01"
    assert bytes(group.data_dict[2]) == b"\x05\x06\x07\x08"


def test_fast_read_that_is_cut_short_is_damaged():
    port = Script(status(0xFE, 0, 1, 1, 2, 3, 4))
    group = GroupSyncRead(port, Packets(), 132, 4)
    group.addParam(1)
    group.addParam(2)

    assert group.fastSyncRead() == COMM_RX_CORRUPT
