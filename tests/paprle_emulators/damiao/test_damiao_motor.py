"""One emulated motor: its states, registers, errors and the time without commands."""

import struct

import numpy as np
import pytest

from paprle_emulators.damiao.models import MOTORS
from paprle_emulators.damiao.motor import QUIET, Motor
from paprle_emulators.damiao.protocol import Register, Status
from paprle_emulators.piper.protocol import Frame

STILL = np.zeros(3)
ENABLE, DISABLE, ZERO, CLEAR = 0xFC, 0xFD, 0xFE, 0xFB
ERRORS = [status for status in Status if status > Status.ENABLED]


@pytest.fixture
def motor():
    return Motor(3, MOTORS["DM4340"], 0.4, 1, QUIET)


def special(motor, code, now=0, state=STILL):
    return motor.take(Frame(motor.number, bytes([0xFF] * 7 + [code])), now, state)


def register(motor, code, number, value=bytes(4)):
    data = struct.pack("<HBB", motor.number, code, number) + value
    return motor.take(Frame(0x7FF, data), 0, STILL)


def command(motor, now=0):
    # half of 12.5 rad, kp 80, kd 5, no torque
    data = bytes.fromhex("bfff7ff28ffff7ff")
    return motor.take(Frame(motor.number, data), now, STILL)


def test_answers_at_its_master_id_with_its_status(motor):
    answer = special(motor, ENABLE)

    assert answer.can_id == 0x13
    assert answer.data[0] == Status.ENABLED << 4 | 3


def test_is_limp_until_it_is_enabled_and_commanded(motor):
    command(motor)
    assert not motor.law.any()

    special(motor, ENABLE)
    assert not motor.law.any(), "a command from before does not count"

    command(motor)
    assert motor.law[0] == pytest.approx(6.25, abs=1e-3)
    assert motor.law[2] == pytest.approx(80.0, abs=0.1)
    special(motor, DISABLE)
    assert not motor.law.any()


def test_without_commands_it_only_damps_until_its_error_is_cleared(motor):
    special(motor, ENABLE)
    command(motor, now=0)

    motor.step(399_000_000, 0.0, 0.001)
    assert motor.status is Status.ENABLED
    motor.step(401_000_000, 0.0, 0.001)

    assert motor.status is Status.COMMUNICATION_LOST
    assert list(motor.law) == [0.0, 0.0, 0.0, MOTORS["DM4340"].braking, 0.0]
    command(motor)
    special(motor, ENABLE)
    assert motor.status is Status.COMMUNICATION_LOST, "an error is cleared first"
    special(motor, CLEAR)
    special(motor, ENABLE)
    assert motor.status is Status.ENABLED


def test_with_a_timeout_of_zero_it_holds_for_ever(motor):
    register(motor, 0x55, Register.TIMEOUT)
    special(motor, ENABLE)

    motor.step(10**12, 0.0, 0.001)

    assert motor.status is Status.ENABLED


@pytest.mark.parametrize("status", ERRORS)
def test_an_error_that_persists_is_not_cleared(motor, status):
    motor.fault = status
    motor.fail(status)

    special(motor, CLEAR)
    special(motor, ENABLE)

    assert motor.status is status


def test_registers_are_read_written_and_lost_with_the_power(motor):
    answer = register(motor, 0x55, Register.TIMEOUT, struct.pack("<I", 2000))
    assert answer.data == bytes([3, 0, 0x55, 9]) + struct.pack("<I", 2000)

    motor.cut_power()
    assert special(motor, ENABLE) is None
    motor.restore_power()

    assert motor.status is Status.DISABLED
    assert struct.unpack("<I", register(motor, 0x33, 9).data[4:])[0] == 8000


def test_an_enabled_motor_keeps_its_registers(motor):
    special(motor, ENABLE)

    answer = register(motor, 0x55, Register.TIMEOUT, struct.pack("<I", 2000))

    assert struct.unpack("<I", answer.data[4:])[0] == 8000


def test_a_saved_register_outlasts_the_power(motor):
    register(motor, 0x55, Register.TIMEOUT, struct.pack("<I", 2000))
    register(motor, 0xAA, 1)

    motor.cut_power()
    motor.restore_power()

    assert struct.unpack("<I", register(motor, 0x33, 9).data[4:])[0] == 2000


def test_a_zero_is_set_where_it_stands(motor):
    state = np.array([1.0, 0.0, 0.0])

    answer = special(motor, ZERO, state=state)

    assert motor.zero == 1.0
    middle = int.from_bytes(answer.data[1:3], "big")
    assert abs(middle - 0x7FFF) <= 1


def test_too_much_torque_for_too_long_overheats_it(motor):
    special(motor, ENABLE)
    for _ in range(1000):
        command(motor, now=0)
        motor.step(0, MOTORS["DM4340"].peak, 1.0)

    assert motor.status in {Status.MOS_HOT, Status.COIL_HOT}


def test_frames_of_others_and_short_ones_are_not_heard(motor):
    assert motor.take(Frame(4, bytes(8)), 0, STILL) is None
    assert motor.take(Frame(3, bytes(4)), 0, STILL) is None
    assert register(Motor(4, MOTORS["DM4340"], 0.0, 1, QUIET), 0x33, 99) is None
