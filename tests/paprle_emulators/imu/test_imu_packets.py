"""Packets of the emulated sensor, with the checks of another implementation."""

from __future__ import annotations

import binascii
import struct

import pytest

from paprle_emulators.imu.packets import compute_crc, encode


def test_the_crc_is_that_of_the_published_check_value():
    assert compute_crc(b"123456789") == 0x29B1  # spec: CRC-16/CCITT-FALSE, check


@pytest.mark.parametrize("t_us", [0, 2**32 - 1, 2**32 + 5])
def test_an_inertial_packet_has_31_bytes_and_a_crc(t_us):
    packet = encode("inertial", t_us, (0.1, -0.2, 0.3, 0.0, 0.0, 9.81))

    header, counter, *values, crc = struct.unpack("<BI6fH", packet)
    assert (header, counter, len(packet)) == (0xAB, t_us % 2**32, 31)
    assert values == pytest.approx([0.1, -0.2, 0.3, 0.0, 0.0, 9.81])
    assert crc == binascii.crc_hqx(packet[:-2], 0xFFFF)


def test_an_attitude_packet_has_22_bytes_whose_xor_is_zero():
    packet = encode("attitude", 7, (1.0, 0.0, 0.0, 0.0))

    check = 0
    for byte in packet:
        check ^= byte
    assert (packet[0], len(packet), check) == (0xAA, 22, 0)
