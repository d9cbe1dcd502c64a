"""Frames of the emulated motors against a driver of somebody else's, where it is."""

import struct

import numpy as np
import pytest

from paprle_emulators.damiao.models import MOTORS
from paprle_emulators.damiao.protocol import (
    Ranges,
    Register,
    is_integer,
    pack_feedback,
    pack_value,
    unpack_mit,
    unpack_value,
)

KINDS = {"DM4310": "4310", "DM4340": "4340", "DM8009": "8009"}


def make_other(kind):
    """A motor of the package damiao-motor, which is not ours."""
    other = pytest.importorskip("damiao_motor")
    return other.DaMiaoMotor(1, 0x11, None, motor_type=KINDS[kind])


def test_a_command_of_the_middle_is_nearly_nothing():
    # 0x7FFF and 0x7FF are half a step below the middle of 16 and 12 bits
    mit = unpack_mit(bytes.fromhex("7fff7ff0000007ff"), Ranges(12.5, 30.0, 10.0))

    assert mit.q == pytest.approx(-12.5 / 65535)
    assert mit.dq == pytest.approx(-30.0 / 4095)
    assert (mit.kp, mit.kd) == (0.0, 0.0)
    assert mit.tau == pytest.approx(-10.0 / 4095)


def test_a_command_of_ones_is_the_largest():
    mit = unpack_mit(bytes([0xFF] * 8), Ranges(12.5, 30.0, 10.0))

    assert mit == pytest.approx((12.5, 30.0, 500.0, 5.0, 10.0))


@pytest.mark.parametrize("kind", KINDS)
def test_commands_of_another_driver_are_understood(kind):
    motor, ranges = make_other(kind), MOTORS[kind].ranges
    rng = np.random.default_rng(1)

    for _ in range(200):
        q, dq, tau = rng.uniform(-1.0, 1.0, 3) * ranges
        kp, kd = rng.uniform(0.0, 1.0, 2) * (500.0, 5.0)

        mit = unpack_mit(motor.encode_cmd_msg(q, dq, tau, kp, kd), ranges)

        assert mit.q == pytest.approx(q, abs=2.0 * ranges.q / 65535)
        assert mit.dq == pytest.approx(dq, abs=2.0 * ranges.dq / 4095)
        assert mit.tau == pytest.approx(tau, abs=2.0 * ranges.tau / 4095)
        assert mit.kp == pytest.approx(kp, abs=500.0 / 4095)
        assert mit.kd == pytest.approx(kd, abs=5.0 / 4095)


@pytest.mark.parametrize("kind", KINDS)
def test_feedback_is_read_by_another_driver(kind):
    motor, ranges = make_other(kind), MOTORS[kind].ranges
    rng = np.random.default_rng(2)

    for status in (0, 1, 8, 9, 0xA, 0xB, 0xC, 0xD, 0xE):
        state = tuple(rng.uniform(-1.0, 1.0, 3) * ranges)

        read = motor.decode_sensor_feedback(
            pack_feedback(status << 4 | 5, state, (41, 57), ranges)
        )

        assert (read["status_code"], read["can_id"]) == (status, 5)
        assert read["pos"] == pytest.approx(state[0], abs=2.0 * ranges.q / 65535)
        assert read["vel"] == pytest.approx(state[1], abs=2.0 * ranges.dq / 4095)
        assert read["torq"] == pytest.approx(state[2], abs=2.0 * ranges.tau / 4095)
        assert (read["t_mos"], read["t_rotor"]) == (41.0, 57.0)


def test_registers_have_the_types_of_another_drivers_table():
    table = pytest.importorskip("damiao_motor.core.motor").REGISTER_TABLE

    for register in Register:
        assert is_integer(register) == (table[register].data_type == "uint32")


def test_values_of_registers_are_little_endian():
    assert pack_value(Register.TIMEOUT, 8000) == struct.pack("<I", 8000)
    assert pack_value(Register.P_MAX, 12.5) == struct.pack("<f", 12.5)
    assert unpack_value(Register.TIMEOUT, bytes([0x40, 0x1F, 0, 0])) == 8000.0
