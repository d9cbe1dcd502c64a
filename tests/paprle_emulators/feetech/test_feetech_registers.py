"""The emulator's registers against two independent decoders."""

from __future__ import annotations

import pytest
import rustypot
from scservo_sdk import scservo_def

from paprle_emulators.feetech import bus, packets
from paprle_emulators.feetech.models import TICKS
from paprle_emulators.feetech.registers import (
    BY_NAME,
    REGISTERS,
    Access,
    decode,
    encode,
)

STS3215 = rustypot.Sts3215PyController
RENAMED = {
    "firmware_major_version": "Firmware_Major_Version",
    "model": "Model_Number",
    "baudrate": "Baud_Rate",
    "min_angle_limit": "Min_Position_Limit",
    "max_angle_limit": "Max_Position_Limit",
    "offset": "Homing_Offset",
    "mode": "Operating_Mode",
    "speed_closed_loop_p_coefficient": "Velocity_P_Coefficient",
    "velocity_closed_loop_i_coefficient": "Velocity_I_Coefficient",
    "goal_speed": "Goal_Velocity",
    "present_speed": "Present_Velocity",
    "dts": "DTs",
}
OURS = {name.lower(): name for name in BY_NAME} | RENAMED
INSTRUCTIONS = {
    "INST_PING": bus.PING,
    "INST_READ": bus.READ,
    "INST_WRITE": bus.WRITE,
    "INST_REG_WRITE": bus.REG_WRITE,
    "INST_ACTION": bus.ACTION,
    "INST_SYNC_READ": bus.SYNC_READ,
    "INST_SYNC_WRITE": bus.SYNC_WRITE,
    "BROADCAST_ID": packets.BROADCAST,
}


@pytest.mark.parametrize("theirs", STS3215.registers(), ids=lambda one: one.name)
def test_a_register_is_where_rustypot_has_it(theirs):
    ours = BY_NAME[OURS[theirs.name]]

    assert (ours.address, ours.size) == (theirs.addr, theirs.size)
    assert ours.sign_bit == theirs.sign_bit or theirs.sign_bit is None
    is_writable = theirs.access == rustypot.RegisterAccess.ReadWrite
    assert (ours.access is Access.WRITE) == is_writable


def test_the_encoder_has_as_many_steps_as_rustypot_counts():
    assert STS3215.resolution() == TICKS


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_a_constant_is_that_of_the_vendors_sdk(name):
    assert getattr(scservo_def, name) == INSTRUCTIONS[name]


@pytest.mark.parametrize("bit", [10, 11, 15])
@pytest.mark.parametrize("value", [-1023, -1, 0, 1, 1023])
def test_signs_are_those_of_the_vendors_sdk(bit, value):
    register = next(one for one in REGISTERS if one.sign_bit == bit)
    data = encode(register, value)

    assert int.from_bytes(data, "little") == scservo_def.SCS_TOSCS(value, bit)
    assert decode(register, data) == value


def test_registers_do_not_overlap():
    taken = [
        place
        for one in REGISTERS
        for place in range(one.address, one.address + one.size)
    ]

    assert len(taken) == len(set(taken))
    assert all(one.low <= one.first <= one.high for one in REGISTERS)
