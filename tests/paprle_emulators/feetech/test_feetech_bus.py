"""Every instruction and line fault, seen by the vendor's SDK in virtual time."""

from __future__ import annotations

import pytest
from feetech_rig import RATE, FeetechBench, VirtualFeetechPort
from scservo_sdk import (
    COMM_RX_CORRUPT,
    COMM_RX_TIMEOUT,
    COMM_SUCCESS,
    GroupSyncRead,
    GroupSyncWrite,
    PacketHandler,
)

from paprle_emulators.feetech.bus import PING, RECOVER, RESET, SET_PLACE
from paprle_emulators.feetech.packets import BROADCAST, Parser, make_instruction

SDK = PacketHandler(0)
ID, BAUD, DELAY, LEVEL, GOAL, PLACE = 5, 6, 7, 8, 42, 56
ARM = range(1, 7)


@pytest.fixture
def bench():
    return FeetechBench()


def read_places(bench):
    """Return the vendor's sync read of all positions, and its result."""
    group = GroupSyncRead(bench.port, SDK, PLACE, 2)
    for number in ARM:
        group.addParam(number)
    result = group.txRxPacket()
    return [group.getData(number, PLACE, 2) for number in ARM], result


def test_all_servos_answer_a_ping_with_their_model(bench):
    assert [SDK.ping(bench.port, n) for n in ARM] == [(777, COMM_SUCCESS, 0)] * 6
    assert SDK.ping(bench.port, 9)[1] == COMM_RX_TIMEOUT


def test_a_broadcast_ping_is_answered_by_all_in_order(bench):
    answers = Parser().feed(bench.send(BROADCAST, PING))

    assert [one.servo for one in answers] == list(ARM)


def test_a_sync_read_returns_all_positions(bench):
    places, result = read_places(bench)

    assert result == COMM_SUCCESS
    assert places == [servo.position for servo in bench.limb.servos]


def test_a_sync_write_reaches_each_servo_with_its_own_value(bench):
    group = GroupSyncWrite(bench.port, SDK, GOAL, 2)
    for number in ARM:
        group.addParam(number, [number, 8])

    assert group.txPacket() == COMM_SUCCESS
    goals = [bench.read(number, "Goal_Position") for number in ARM]
    assert goals == [2048 + number for number in ARM]


def test_a_registered_write_waits_for_the_action(bench):
    before = bench.read(1, "Goal_Position")
    assert SDK.regWriteTxRx(bench.port, 1, GOAL, 2, [0, 8])[0] == COMM_SUCCESS
    assert bench.read(1, "Goal_Position") == before
    assert bench.read(1, "Registered") == 1

    SDK.action(bench.port, BROADCAST)

    assert bench.read(1, "Goal_Position") == 2048
    assert bench.read(1, "Registered") == 0


def test_a_broadcast_write_is_obeyed_by_all_and_answered_by_none(bench):
    body = bytes((41, 77))

    assert bench.send(BROADCAST, 3, body) == b""
    assert [bench.read(number, "Acceleration") for number in ARM] == [77] * 6


@pytest.mark.long
def test_status_level_zero_answers_pings_and_reads_only(bench):
    bench.write(1, "Response_Status_Level", 0)

    assert SDK.write1ByteTxRx(bench.port, 1, 41, 9)[0] == COMM_RX_TIMEOUT
    assert SDK.ping(bench.port, 1)[1] == COMM_SUCCESS
    assert bench.read(1, "Acceleration") == 9


def test_the_answer_to_a_new_id_carries_the_old_one(bench):
    assert SDK.write1ByteTxRx(bench.port, 6, ID, 20) == (COMM_SUCCESS, 0)
    assert SDK.ping(bench.port, 20)[1] == COMM_SUCCESS
    assert SDK.ping(bench.port, 6)[1] == COMM_RX_TIMEOUT


def test_a_servo_at_another_baud_rate_is_deaf(bench):
    SDK.write1ByteTxRx(bench.port, 2, BAUD, 4)
    slow = VirtualFeetechPort(bench.rig, bench.name, 115_200)

    assert SDK.ping(bench.port, 2)[1] == COMM_RX_TIMEOUT
    assert SDK.ping(slow, 2)[1] == COMM_SUCCESS
    assert SDK.ping(slow, 1)[1] == COMM_RX_TIMEOUT


def test_the_return_delay_register_delays_answers(bench):
    packet = make_instruction(1, PING)
    assert bench.rig.answer(bench.name, packet)[0].delay == 0.0
    bench.write(1, "Return_Delay_Time", 250)

    assert bench.rig.answer(bench.name, packet)[0].delay == pytest.approx(5e-4)


def test_keeping_a_value_delays_its_answer(bench):
    packet = make_instruction(1, 3, bytes((21, 20)))
    assert bench.rig.answer(bench.name, packet)[0].delay == 0.0  # locked: not kept
    bench.write(1, "Lock", 0)

    assert bench.rig.answer(bench.name, packet)[0].delay > 0.02


def test_an_ideal_servo_answers_at_once():
    bench = FeetechBench(is_ideal=True)
    bench.write(1, "Lock", 0)
    packet = make_instruction(1, 3, bytes((21, 20)))

    assert bench.rig.answer(bench.name, packet)[0].delay == 0.0


def test_two_servos_of_one_id_garble_each_other(bench):
    bench.faults.cause({"fault": "duplicate_id", "joint": "elbow_flex", "of": 2})

    assert SDK.read2ByteTxRx(bench.port, 2, PLACE)[1] == COMM_RX_CORRUPT
    assert SDK.ping(bench.port, 3)[1] == COMM_RX_TIMEOUT
    assert read_places(bench)[1] != COMM_SUCCESS
    assert bench.rig.describe()["buses"][bench.name]["collisions"] > 0


def test_two_servos_of_one_id_that_say_the_same_are_not_noticed(bench):
    bench.faults.cause({"fault": "duplicate_id", "joint": "elbow_flex", "of": 2})
    packet = make_instruction(2, PING)

    assert bench.rig.exchange(bench.name, packet, RATE) == packet[:4] + b"\0\xfb"


def test_recovery_returns_to_the_values_on_delivery(bench):
    assert bench.servo(4).memory.get("P_Coefficient") == 16

    bench.send(4, RECOVER)

    assert bench.servo(4).number == 1
    assert bench.servo(4).memory.get("P_Coefficient") == 32


def test_set_place_makes_the_position_a_value(bench):
    bench.send(1, SET_PLACE, (1234).to_bytes(2, "little"))

    assert bench.read(1, "Present_Position") == 1234


def test_reset_clears_counted_turns():
    bench = FeetechBench(setup="factory")
    bench.limb.arm.q[0] += 4.0
    bench.limb.show()
    assert bench.read(1, "Present_Position") > 4096

    bench.send(1, RESET)

    assert 0 <= bench.read(1, "Present_Position") < 4096


@pytest.mark.parametrize("code", [0x00, 0x07, 0x55, 0x92])
def test_an_unknown_instruction_is_not_answered(bench, code):
    assert bench.send(1, code) == b""
    assert bench.send(1, PING) != b""


@pytest.mark.parametrize(
    ("code", "params"),
    [(2, b""), (2, b"\x38"), (3, b"\x2a"), (130, b"\x38"), (131, b"")],
)
def test_an_instruction_cut_short_changes_nothing(bench, code, params):
    before = bench.servo(1).memory.ram[:]
    bench.send(1, code, params)

    assert bench.servo(1).memory.ram == before


@pytest.mark.parametrize("kind", ["lost", "corrupted"])
def test_packets_are_spoilt_by_chance_and_cleared(bench, kind):
    bench.faults.cause({"fault": kind, "p": 0.1})
    results = [len(bench.send(1, PING)) == 6 for _ in range(400)]
    spoilt = bench.rig.line_faults[bench.name].n_spoilt
    bench.faults.clear(kind)

    assert 45 <= spoilt <= 115  # of requests and of answers
    assert 20 <= results.count(False) <= 115
    assert all(SDK.ping(bench.port, 1)[1] == COMM_SUCCESS for _ in range(20))


def test_an_echo_comes_before_the_answer(bench):
    bench.faults.cause({"fault": "echo", "p": 1.0})
    packet = make_instruction(1, PING)

    heard = bench.rig.exchange(bench.name, packet, RATE)

    assert heard.startswith(packet)
    assert len(heard) == len(packet) + 6


@pytest.mark.long
def test_another_master_is_heard_and_moves_what_it_wants(bench):
    bench.hold(1)
    before = bench.read(1, "Present_Position")
    bench.faults.cause({"fault": "foreign", "goals": {"shoulder_pan": 0.5}})
    bench.wait(0.5)

    heard = bench.rig.exchange(bench.name, b"", RATE)
    senders = {one.servo for one in Parser().feed(heard)}
    assert senders >= {*ARM, BROADCAST}
    assert bench.read(1, "Present_Position") > before + 200
    bench.faults.clear("foreign")
    bench.rig.exchange(bench.name, b"", RATE)
    assert all(SDK.ping(bench.port, n)[1] == COMM_SUCCESS for n in ARM)


@pytest.mark.long
def test_another_master_spoils_some_requests(bench):
    bench.faults.cause({"fault": "foreign"})
    answered = 0
    for _ in range(200):
        bench.wait(0.004)
        answers = bench.rig.answer(bench.name, make_instruction(1, PING), RATE)
        answered += len(answers) == 1

    assert 170 <= answered < 200


@pytest.mark.long
def test_only_the_servos_on_the_cable_answer(bench):
    assert bench.order(b'{"cmd": "chain", "joints": ["gripper"]}')["ok"]
    assert [SDK.ping(bench.port, n)[1] == COMM_SUCCESS for n in ARM] == [False] * 5 + [
        True
    ]

    assert bench.order(b'{"cmd": "chain"}')["ok"]
    assert read_places(bench)[1] == COMM_SUCCESS


def test_swapped_servos_answer_for_each_other(bench):
    bench.faults.cause(
        {"fault": "swapped", "joint": "elbow_flex", "with": "wrist_flex"}
    )

    places, _ = read_places(bench)
    assert places[2] == bench.servo(4).position
    assert places[3] == bench.servo(3).position
