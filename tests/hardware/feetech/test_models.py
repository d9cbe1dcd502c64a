"""Register table and units, beside the emulator's, which were written apart."""

import struct

import pytest

from paprle.hardware.feetech import models
from paprle.hardware.feetech.errors import BusError
from paprle.hardware.feetech.inspection import MEASURED
from paprle.hardware.feetech.servo import Servo
from paprle_emulators.feetech.registers import BY_NAME
from paprle_emulators.feetech.registers import decode as decode_emulated

SHARED = sorted(set(models.REGISTERS) & set(BY_NAME))
SIGNED = [n for n in SHARED if BY_NAME[n].sign_bit and n != "Goal_Time"]  # PWM's sign


@pytest.mark.parametrize("name", SHARED)
def test_registers_are_where_the_emulator_has_them(name):
    ours, theirs = models.REGISTERS[name], BY_NAME[name]

    assert (ours.address, ours.size) == (theirs.address, theirs.size)


@pytest.mark.parametrize("name", SIGNED)
def test_signs_stand_in_the_bit_that_the_emulator_has(name):
    data = struct.pack("<H", 1 << BY_NAME[name].sign_bit | 5)

    assert models.decode(name, data) == decode_emulated(BY_NAME[name], data) == -5
    assert models.encode(name, -5).to_bytes(2, "little") == data


def test_a_row_is_decoded_as_register_by_register():
    row = bytes.fromhex("3412 0a80 6404 7b 1f 00 21 01 0000 6400")
    values = models.split(row, MEASURED)

    state = Servo(models.ServoSpec(1)).decode(row)

    assert state.angle == pytest.approx(
        (values["Present_Position"] - 2048) * 1.534e-3, 1e-3
    )
    assert state.velocity == pytest.approx(-10 * 1.534e-3, 1e-3)
    assert values["Present_Velocity"] == -10
    assert state.load == pytest.approx(-0.1)
    assert state.current == pytest.approx(-0.65)
    assert (state.voltage, state.temperature) == (pytest.approx(12.3), 31)
    assert (state.errors, state.is_moving) == (0x21, True)
    assert values["Status"] == 0x21


def test_an_unknown_model_is_refused_with_those_that_are_known():
    with pytest.raises(
        BusError, match="expected one of sts3215, sts3250, got 'scs0009'"
    ):
        models.find_number("scs0009")
