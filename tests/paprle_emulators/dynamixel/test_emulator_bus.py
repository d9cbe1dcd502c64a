"""Instructions and the control table, driven by the vendor's SDK in virtual time."""

from __future__ import annotations

import math

import pytest
import yaml
from dynamixel_rig import TWO_JOINTS, VirtualPort
from dynamixel_sdk import (
    COMM_RX_CORRUPT,
    COMM_RX_TIMEOUT,
    COMM_SUCCESS,
    GroupBulkRead,
    GroupBulkWrite,
    GroupSyncRead,
    GroupSyncWrite,
    PacketHandler,
)

from paprle_emulators.dynamixel.config import RigSpec, read_limb
from paprle_emulators.dynamixel.models import MODELS, find_model
from paprle_emulators.dynamixel.packets import make_instruction
from paprle_emulators.dynamixel.rig import Rig
from paprle_emulators.dynamixel.table import ControlTable

POSITION, VELOCITY, CURRENT = 132, 128, 126
MODE, TORQUE, LED, WATCHDOG, ERRORS = 11, 64, 65, 98, 70
GOAL_PWM, GOAL_CURRENT, GOAL_VELOCITY, GOAL_POSITION = 100, 102, 104, 116
SPEC = RigSpec(
    limbs=tuple(
        read_limb(name, name, values)
        for name, values in yaml.safe_load(TWO_JOINTS)["limbs"].items()
    )
)
SDK = PacketHandler(2.0)


@pytest.fixture
def rig():
    return Rig(SPEC)


@pytest.fixture
def port(rig):
    return VirtualPort(rig, "one")


def write(port, servo, address, value, size=1):
    """Write a register; return the error number."""
    writer = {1: SDK.write1ByteTxRx, 2: SDK.write2ByteTxRx, 4: SDK.write4ByteTxRx}
    result, error = writer[size](port, servo, address, value & (256**size - 1))
    assert result == COMM_SUCCESS, SDK.getTxRxResult(result)
    return error


def read(port, servo, address, size=1):
    reader = {1: SDK.read1ByteTxRx, 2: SDK.read2ByteTxRx, 4: SDK.read4ByteTxRx}
    value, result, _ = reader[size](port, servo, address)
    assert result == COMM_SUCCESS, SDK.getTxRxResult(result)
    return value - 256**size if value >= 256**size // 2 and size > 1 else value


def test_ping_tells_the_model(port):
    assert SDK.ping(port, 1) == (1200, COMM_SUCCESS, 0)
    assert SDK.ping(port, 8)[0] == 1190


def test_an_absent_servo_does_not_answer(port):
    assert SDK.ping(port, 3)[1] == COMM_RX_TIMEOUT


def test_broadcast_ping_finds_all(port):
    found, result = SDK.broadcastPing(port)

    assert result == COMM_SUCCESS
    assert {number: model for number, (model, _) in found.items()} == {
        1: 1200, 2: 1200, 8: 1190,
    }  # fmt: skip


@pytest.mark.parametrize("is_fast", [False, True], ids=["sync", "fast"])
def test_sync_reads_bring_every_servo(port, is_fast):
    group = GroupSyncRead(port, SDK, CURRENT, 10)
    for servo in (8, 1, 2):
        group.addParam(servo)

    result = group.fastSyncRead() if is_fast else group.txRxPacket()

    assert result == COMM_SUCCESS
    offset = round(0.5 / (2 * math.pi / 4096))
    gripper = round(0.8 / (2 * math.pi / 4096))
    assert [group.getData(n, POSITION, 4) for n in (1, 2, 8)] == [
        2048, 2048 + offset, 2048 + gripper,
    ]  # fmt: skip


@pytest.mark.parametrize("is_fast", [False, True], ids=["bulk", "fast"])
def test_bulk_reads_bring_each_servo_its_own(port, is_fast):
    group = GroupBulkRead(port, SDK)
    group.addParam(1, POSITION, 4)
    group.addParam(8, 0, 2)

    result = group.fastBulkRead() if is_fast else group.txRxPacket()

    assert result == COMM_SUCCESS
    assert group.getData(1, POSITION, 4) == 2048
    assert group.getData(8, 0, 2) == 1190


@pytest.mark.parametrize("is_fast", [False, True], ids=["sync", "fast"])
def test_a_missing_servo_spoils_a_sync_read(port, is_fast):
    group = GroupSyncRead(port, SDK, POSITION, 4)
    for servo in (1, 5, 8):
        group.addParam(servo)

    result = group.fastSyncRead() if is_fast else group.txRxPacket()

    assert result in (COMM_RX_TIMEOUT, COMM_RX_CORRUPT)


def test_sync_and_bulk_writes_are_done_and_not_answered(port):
    sync = GroupSyncWrite(port, SDK, LED, 1)
    sync.addParam(1, [1])
    sync.addParam(8, [1])
    bulk = GroupBulkWrite(port, SDK)
    bulk.addParam(2, LED, 1, [1])

    assert sync.txPacket() == bulk.txPacket() == COMM_SUCCESS

    assert [read(port, n, LED) for n in (1, 2, 8)] == [1, 1, 1]
    assert port.readPort(1) == b""


def test_a_registered_write_waits_for_its_action(port):
    SDK.regWriteTxRx(port, 1, LED, 1, [1])
    assert (read(port, 1, LED), read(port, 1, 69)) == (0, 1)

    SDK.action(port, 1)

    assert (read(port, 1, LED), read(port, 1, 69)) == (1, 0)


@pytest.mark.parametrize(
    ("address", "value", "size", "error"),
    [
        (MODE, 2, 1, 4),
        (7, 253, 1, 4),
        (LED, 2, 1, 4),
        (WATCHDOG, 128, 1, 4),
        (38, 2000, 2, 4),
        (GOAL_POSITION, 5000, 4, 6),
        (GOAL_CURRENT, 1751, 2, 6),
        (GOAL_PWM, -886, 2, 6),
        (GOAL_VELOCITY, 500, 4, 6),
        (GOAL_POSITION, 1, 2, 5),
        (GOAL_POSITION + 1, 1, 1, 5),
        (POSITION, 0, 4, 7),
        (0, 1, 2, 7),
        (ERRORS, 0, 1, 7),
        (1000, 1, 1, 7),
        (MODE, 4, 1, 0),
    ],
)
def test_a_forbidden_write_is_refused_with_its_error_number(
    port, address, value, size, error
):
    before = SDK.readTxRx(port, 1, 0, 150)[0][:120]

    assert write(port, 1, address, value, size) == error

    if error:
        assert SDK.readTxRx(port, 1, 0, 150)[0][:120] == before


def test_the_eeprom_is_locked_while_torque_is_on(port):
    write(port, 1, TORQUE, 1)
    assert write(port, 1, MODE, 0) == 7
    assert write(port, 1, LED, 1) == 0

    write(port, 1, TORQUE, 0)

    assert write(port, 1, MODE, 0) == 0


def test_a_servo_without_current_sensor_has_no_current_mode(rig):
    port = VirtualPort(rig, "two")

    assert write(port, 2, MODE, 0) == 4
    assert write(port, 2, MODE, 16) == 0
    assert write(port, 1, MODE, 0) == 0


def test_limits_move_with_their_registers(port):
    assert write(port, 1, 48, 3000, 4) == 0
    assert write(port, 1, GOAL_POSITION, 3001, 4) == 6
    assert write(port, 1, GOAL_POSITION, 3000, 4) == 0


@pytest.mark.parametrize("mode", [4, 5])
def test_extended_modes_take_many_turns(port, mode):
    write(port, 1, MODE, mode)

    assert write(port, 1, GOAL_POSITION, -131_000, 4) == 0
    assert write(port, 1, GOAL_POSITION, 1_048_576, 4) == 6


def test_a_value_that_spells_a_header_arrives_only_when_it_is_stuffed(rig, port):
    write(port, 1, MODE, 4)
    unstuffed = SDK.write4ByteTxRx(port, 1, GOAL_POSITION, -131_073 & 0xFFFFFFFF)
    assert unstuffed[0] == COMM_RX_TIMEOUT  # the SDK's mistake
    value = (-131_073).to_bytes(4, "little", signed=True)
    assert b"\xff\xff\xfd" in value

    answer = rig.exchange(
        "one", make_instruction(1, 3, GOAL_POSITION.to_bytes(2, "little") + value)
    )

    assert answer[8] == 0
    assert rig.limbs["left"].servos[0].table.get("Goal Position") == -131_073


def test_indirect_data_are_what_they_point_at(port):
    write(port, 1, 168, LED, 2)
    for index in range(4):
        write(port, 1, 170 + 2 * index, POSITION + index, 2)
    assert write(port, 1, 224, 1) == 0

    assert read(port, 1, LED) == 1
    assert read(port, 1, 225, 4) == 2048
    assert write(port, 1, 225, 0) == 7


@pytest.mark.parametrize("target", [0, 7, 63, 662, 0xFFFF])
def test_an_indirect_address_outside_the_ram_is_a_range_error(port, target):
    before = read(port, 1, 168, 2)

    assert write(port, 1, 168, target, 2) == 4

    assert read(port, 1, 168, 2) == before


def test_half_an_indirect_address_is_a_length_error(port):
    assert write(port, 1, 168, 65, 1) == 5
    assert write(port, 1, 169, 65, 2) == 5


def test_status_return_levels(port):
    SDK.write1ByteTxRx(port, 1, 68, 1)
    assert SDK.write1ByteTxRx(port, 1, LED, 1)[0] == COMM_RX_TIMEOUT
    assert read(port, 1, LED) == 1

    SDK.write1ByteTxRx(port, 1, 68, 0)
    assert SDK.read1ByteTxRx(port, 1, LED)[1] == COMM_RX_TIMEOUT
    assert SDK.ping(port, 1)[1] == COMM_SUCCESS


def test_a_reboot_forgets_ram_and_keeps_eeprom(port):
    write(port, 1, MODE, 0)
    write(port, 1, LED, 1)
    write(port, 1, TORQUE, 1)

    assert SDK.reboot(port, 1)[0] == COMM_SUCCESS

    assert [read(port, 1, a) for a in (MODE, LED, TORQUE)] == [0, 0, 0]


def test_clear_takes_whole_turns_off(rig, port):
    servo = rig.limbs["left"].servos[0]
    servo.angle = 3 * 2 * math.pi + 0.1
    assert read(port, 1, POSITION, 4) > 4096 * 3

    SDK.clearMultiTurn(port, 1)

    assert 2048 < read(port, 1, POSITION, 4) < 4096


def test_a_factory_reset_is_refused(port):
    result, error = SDK.factoryReset(port, 1, 0xFF)

    assert (result, error) == (COMM_SUCCESS, 1)
    assert read(port, 1, 7) == 1


def test_an_unknown_instruction_and_a_wrong_crc_are_answered_as_such(rig):
    assert rig.exchange("one", make_instruction(1, 0x77))[8] == 2
    packet = bytearray(make_instruction(1, 1))
    packet[-1] ^= 1
    assert rig.exchange("one", bytes(packet))[8] == 3
    assert rig.exchange("one", make_instruction(0xFE, 0x77)) == b""


def test_a_packet_whose_rest_does_not_come_swallows_no_other(rig, port):
    rig.exchange("one", bytes.fromhex("fffffd0001ff0101"))
    assert SDK.ping(port, 1)[1] == COMM_RX_TIMEOUT

    assert SDK.ping(port, 1)[1] == COMM_SUCCESS


def test_a_servo_is_deaf_at_other_baud_rates(rig):
    slow = VirtualPort(rig, "one", 57_600)
    assert SDK.ping(slow, 1)[1] == COMM_RX_TIMEOUT

    write(VirtualPort(rig, "one", 4_000_000), 1, 8, 1)

    assert SDK.ping(slow, 1)[1] == COMM_SUCCESS
    assert SDK.ping(slow, 2)[1] == COMM_RX_TIMEOUT


def test_return_delay_adds_up_along_a_sync_read(rig):
    port = VirtualPort(rig, "one")
    for servo in (1, 2, 8):
        write(port, servo, 9, 250)
    group = GroupSyncRead(port, SDK, POSITION, 4)
    for servo in (1, 2, 8):
        group.addParam(servo)

    began = rig.now_ns
    assert group.txRxPacket() == COMM_SUCCESS

    assert 1.5e6 <= rig.now_ns - began <= 4e6  # three times 500 µs


@pytest.mark.parametrize("name", MODELS)
def test_every_model_has_a_table_with_what_a_puppeteer_needs(name):
    table = ControlTable(find_model(name))

    assert table.get("Model Number") == find_model(name).number
    assert table.address["Present Position"] == POSITION
    assert table.address["Bus Watchdog"] == WATCHDOG
    assert ("Goal Current" in table.address) == (0 in find_model(name).modes)
