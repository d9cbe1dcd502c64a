"""Everything that can be made to go wrong, seen by the vendor's SDK in virtual time."""

from __future__ import annotations

import pytest
import yaml
from dynamixel_rig import TWO_JOINTS, VirtualPort
from dynamixel_sdk import (
    COMM_RX_TIMEOUT,
    COMM_SUCCESS,
    GroupSyncRead,
    PacketHandler,
)

from paprle_emulators.dynamixel.config import RigSpec, read_limb
from paprle_emulators.dynamixel.faults import RigFaults
from paprle_emulators.dynamixel.rig import Rig

LIMBS = yaml.safe_load(TWO_JOINTS)["limbs"]
SPEC = RigSpec(limbs=tuple(read_limb(n, n, v) for n, v in LIMBS.items()))
SDK = PacketHandler(2.0)
POSITION = 132


@pytest.fixture
def rig():
    return Rig(SPEC)


@pytest.fixture
def faults(rig):
    return RigFaults(rig)


@pytest.fixture
def port(rig):
    return VirtualPort(rig, "one")


def count(port, n=200):
    """Return how many of n pings ended in which way."""
    results = [SDK.ping(port, 1)[1] for _ in range(n)]
    return {result: results.count(result) for result in set(results)}


def run(rig, seconds):
    for _ in range(round(seconds * 1000)):
        rig.step(0.001)


@pytest.mark.parametrize("kind", ["lost", "corrupted"])
def test_packets_are_spoilt_by_chance_and_cleared(rig, faults, port, kind):
    faults.cause({"fault": kind, "bus": "left", "p": 0.1})

    spoilt = 200 - count(port).get(COMM_SUCCESS, 0)

    assert 15 <= spoilt <= 65  # of requests and of answers
    assert rig.line_faults["one"].n_spoilt >= spoilt
    assert count(VirtualPort(rig, "two"), 20) == {COMM_SUCCESS: 20}
    faults.clear(kind)
    assert count(port, 50) == {COMM_SUCCESS: 50}


def test_late_packets_come_into_a_later_question(faults, port):
    faults.cause({"fault": "late", "p": 1.0, "seconds": 0.015})

    assert SDK.read1ByteTxRx(port, 1, 7)[1] == COMM_RX_TIMEOUT

    assert SDK.read1ByteTxRx(port, 1, 11)[0] == 1  # the ID, asked for before


def test_duplicated_answers_come_twice(faults, port):
    faults.cause({"fault": "duplicated", "p": 1.0})

    SDK.writeTxOnly(port, 1, 65, 1, [1])
    once = port.readPort(100)

    assert once[:11] == once[11:]


def test_an_adapter_with_a_slow_timer_makes_every_answer_late(rig, faults, port):
    faults.cause({"fault": "latency", "seconds": 0.008})
    began = rig.now_ns

    assert SDK.ping(port, 1)[1] == COMM_SUCCESS

    assert 8e6 <= rig.now_ns - began <= 10e6


def test_the_wire_takes_its_time(rig, faults, port):
    faults.cause({"fault": "wire", "baud": 9600})
    began = rig.now_ns

    assert SDK.ping(port, 1)[1] == COMM_RX_TIMEOUT

    run(rig, 0.01)
    assert rig.exchange("one", b"")[:4] == b"\xff\xff\xfd\x00"
    assert rig.now_ns > began


def test_a_silent_servo_is_missed_by_its_id_only(faults, port):
    faults.cause({"fault": "silent", "limb": "left", "joint": "elbow"})

    assert SDK.ping(port, 2)[1] == COMM_RX_TIMEOUT
    assert SDK.ping(port, 1)[1] == COMM_SUCCESS
    faults.clear()
    assert SDK.ping(port, 2)[1] == COMM_SUCCESS


def test_a_stuck_encoder_reports_what_it_did(rig, faults, port):
    faults.cause({"fault": "stuck", "limb": "left", "id": 1})
    rig.limbs["left"].arm.hand_q[0] += 0.3
    rig.limbs["left"].servos[0].angle = 1.0

    assert SDK.read4ByteTxRx(port, 1, POSITION)[0] == 2048
    faults.cause({"fault": "stuck", "limb": "left", "id": 1, "value": 7})
    assert SDK.read4ByteTxRx(port, 1, POSITION)[0] == 7


@pytest.mark.parametrize(
    ("fault", "bit"),
    [
        ({"fault": "overheat"}, 0x04),
        ({"fault": "overload"}, 0x20),
        ({"fault": "voltage", "volts": 3.0}, 0x01),
        ({"fault": "hardware_error", "bits": 0x08}, 0x08),
    ],
    ids=lambda v: v["fault"] if isinstance(v, dict) else "",
)
def test_a_hardware_error_alerts(faults, port, fault, bit):
    SDK.write1ByteTxRx(port, 1, 64, 1)

    faults.cause({**fault, "limb": "left", "id": 1})

    status, result, error = SDK.read1ByteTxRx(port, 1, 70)
    assert (status, result, error) == (bit, COMM_SUCCESS, 0x80)
    shuts = bit & 53  # what the Shutdown register names
    assert SDK.read1ByteTxRx(port, 1, 64)[0] == (0 if shuts else 1)


def test_torque_is_refused_until_a_reboot(rig, faults, port):
    faults.cause({"fault": "overheat", "limb": "left", "id": 1})
    assert SDK.write1ByteTxRx(port, 1, 64, 1) == (COMM_SUCCESS, 0x80 | 7)
    assert SDK.read1ByteTxRx(port, 1, 64)[0] == 0

    SDK.reboot(port, 1)
    run(rig, 0.2)
    assert SDK.read1ByteTxRx(port, 1, 70)[0] == 4  # still hot
    faults.clear()
    SDK.reboot(port, 1)

    assert SDK.write1ByteTxRx(port, 1, 64, 1) == (COMM_SUCCESS, 0)


def test_sync_reads_hide_the_alert_but_carry_it(faults, port):
    group = GroupSyncRead(port, SDK, POSITION, 4)
    group.addParam(1)
    faults.cause({"fault": "overload", "limb": "left", "id": 1})

    assert group.txRxPacket() == COMM_SUCCESS

    assert SDK.ping(port, 1)[2] == 0x80


def test_a_brown_out_forgets_ram_and_comes_back(rig, faults, port):
    SDK.write1ByteTxRx(port, 1, 64, 1)
    faults.cause({"fault": "brownout", "limb": "left", "seconds": 0.1})
    assert SDK.ping(port, 1)[1] == COMM_RX_TIMEOUT
    assert SDK.ping(VirtualPort(rig, "two"), 1)[1] == COMM_SUCCESS

    run(rig, 0.2)

    assert SDK.read1ByteTxRx(port, 1, 64) == (0, COMM_SUCCESS, 0)


def test_two_servos_of_one_id_both_answer(rig, faults, port):
    faults.cause({"fault": "duplicate_id", "limb": "left", "joint": "elbow", "of": 1})

    SDK.txRxPacket(port, [0, 0, 0, 0, 1, 3, 0, 1, 0, 0])

    assert len(rig.exchange("one", bytes.fromhex("fffffd00010300 01194e"))) == 28
    assert SDK.ping(port, 2)[1] == COMM_RX_TIMEOUT
    faults.clear()
    assert SDK.ping(port, 2)[1] == COMM_SUCCESS


@pytest.mark.parametrize(
    ("fault", "address", "value"),
    [
        ({"fault": "wrong_model", "number": 1190}, 0, 1190),
        ({"fault": "return_delay", "seconds": 500e-6}, 9, 250),
    ],
    ids=["model", "return delay"],
)
def test_a_wrong_register_is_read_and_put_right(faults, port, fault, address, value):
    before = SDK.read1ByteTxRx(port, 1, address)

    faults.cause({**fault, "limb": "left", "id": 1})

    size = SDK.read2ByteTxRx if value > 255 else SDK.read1ByteTxRx
    assert size(port, 1, address)[0] == value
    faults.clear()
    assert SDK.read1ByteTxRx(port, 1, address) == before


def test_a_horn_can_be_fitted_otherwise_than_the_yaml_says(rig, faults):
    limb = rig.limbs["left"]
    limb.arm.q = limb.arm.q + [0.3, 0.0, 0.0]
    what = {"limb": "left", "joint": "shoulder", "sign": -1, "offset": 1.0}
    faults.cause({"fault": "mounting", **what})

    assert limb.servos[0].angle == pytest.approx(1.0 - 0.3)
    faults.clear()
    assert limb.servos[0].angle == pytest.approx(0.3)


def test_a_servo_at_another_baud_rate_is_deaf(rig, faults):
    port = VirtualPort(rig, "one", 4_000_000)
    faults.cause({"fault": "baud", "limb": "left", "id": 2, "rate": 57_600})

    assert SDK.ping(port, 2)[1] == COMM_RX_TIMEOUT
    assert SDK.ping(VirtualPort(rig, "one", 57_600), 2)[1] == COMM_SUCCESS


@pytest.mark.parametrize(
    "fault",
    [
        {"fault": "gremlins"},
        {"fault": "lost"},
        {"fault": "lost", "p": 0.1, "bus": "middle"},
        {"fault": "silent", "limb": "left", "joint": "knee"},
        {"fault": "silent", "q": 1},
        {"fault": "baud", "rate": 1234},
        {"fault": "mounting", "sign": 2, "offset": 0},
    ],
)
def test_a_fault_that_is_not_known_is_an_error(faults, fault):
    with pytest.raises(ValueError, match="fault"):
        faults.cause(fault)
    with pytest.raises(ValueError, match="clear"):
        faults.clear("gremlins")
