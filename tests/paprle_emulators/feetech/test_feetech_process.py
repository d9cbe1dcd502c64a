"""The emulator as a process: two unmodified clients on its terminals, its orders."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest
import rustypot
from dynamixel_rig import ROOT
from feetech_rig import running_feetech
from scservo_sdk import (
    COMM_SUCCESS,
    GroupSyncRead,
    GroupSyncWrite,
    PacketHandler,
    PortHandler,
)

from paprle_emulators.feetech.__main__ import main

pytestmark = [pytest.mark.process, pytest.mark.timed]

SDK = PacketHandler(0)
TRIES = 20  # chosen: the SDK waits only 34 ms for an answer, a busy machine longer
GOAL, PLACE = 42, 56
ARM = list(range(1, 7))
N_READS = 2000


@pytest.fixture(scope="module")
def follower():
    with running_feetech("rig=so101") as rig:
        yield rig


@pytest.fixture
def port(follower):
    port = PortHandler(follower.ports["follower"])
    assert port.openPort()
    yield port
    port.closePort()


def until(call):
    """Repeat a call of the SDK until it succeeds; return what it returned."""
    for _ in range(TRIES):
        result = call()
        if result == COMM_SUCCESS or (
            isinstance(result, tuple) and result[-2] == COMM_SUCCESS
        ):
            return result
    raise AssertionError(f"no answer in {TRIES} tries, last {result}")


def read_places(port):
    """Return all positions by the vendor's sync read."""
    group = GroupSyncRead(port, SDK, PLACE, 2)
    for number in ARM:
        group.addParam(number)
    until(group.txRxPacket)
    return [group.getData(number, PLACE, 2) for number in ARM]


def test_the_vendors_sdk_moves_an_arm(follower, port):
    start = read_places(port)
    group = GroupSyncWrite(port, SDK, GOAL, 2)
    for step in range(0, 240, 8):
        group.clearParam()
        for number, place in zip(ARM, start, strict=True):
            goal = place + step if number == 1 else place
            group.addParam(number, [goal & 0xFF, goal >> 8])
        assert group.txPacket() == COMM_SUCCESS
        time.sleep(0.01)
    time.sleep(0.5)

    moved = read_places(port)
    assert moved[0] - start[0] == pytest.approx(232, abs=15)
    state = follower.state("follower")
    assert state["position"] == pytest.approx(moved, abs=3)
    assert state["torque_on"] == [True] * 6
    assert min(state["n_goals"]) >= 30


def test_rustypot_moves_an_arm(follower):
    arm = rustypot.Sts3215PyController(
        serial_port=follower.ports["follower"], baudrate=1_000_000, timeout=0.5
    )
    try:
        assert [arm.ping(number) for number in ARM] == [True] * 6
        start = arm.sync_read_raw_present_position(ARM)
        arm.sync_write_raw_goal_position(ARM, [start[0] + 150, *start[1:]])
        time.sleep(0.8)
        moved = arm.sync_read_raw_present_position(ARM)
    finally:
        arm.close()

    assert moved[0] - start[0] == pytest.approx(150, abs=15)
    assert follower.state("follower")["position"] == pytest.approx(moved, abs=3)


def test_rustypot_and_the_sdk_read_the_same_registers(follower, port):
    registers = [
        one
        for one in rustypot.Sts3215PyController.registers()
        if one.size == 2 and one.addr < GOAL
    ]
    theirs = {
        one.name: until(lambda a=one.addr: SDK.read2ByteTxRx(port, 3, a))[0]
        for one in registers
    }
    port.closePort()
    arm = rustypot.Sts3215PyController(
        serial_port=follower.ports["follower"], baudrate=1_000_000, timeout=0.5
    )
    try:
        for one in registers:
            data = bytes(arm.read_raw_data(3, one.addr, one.size))
            assert int.from_bytes(data, "little") == theirs[one.name], one.name
    finally:
        arm.close()
    port.openPort()


@pytest.mark.parametrize(("code", "rate"), [(2, 250_000), (3, 128_000), (6, 57_600)])
def test_a_servo_hears_only_its_own_baud_rate(port, code, rate):
    address = 6
    until(lambda: SDK.write1ByteTxRx(port, 5, address, code))
    try:
        assert SDK.ping(port, 5)[1] != COMM_SUCCESS
        port.setBaudRate(rate)
        until(lambda: SDK.ping(port, 5))
        assert SDK.ping(port, 4)[1] != COMM_SUCCESS
    finally:
        port.setBaudRate(rate)
        until(lambda: SDK.write1ByteTxRx(port, 5, address, 0))


def test_thousands_of_reads_are_answered(follower, port):
    before = follower.send(cmd="state")["buses"]["follower"]
    answered = sum(
        SDK.read2ByteTxRx(port, 1 + n % 6, PLACE)[1] == COMM_SUCCESS
        for n in range(N_READS)
    )

    after = follower.send(cmd="state")["buses"]["follower"]
    assert answered >= 0.99 * N_READS
    assert after["packets"] - before["packets"] == N_READS
    assert after["refused"] == before["refused"]


def test_a_leader_in_a_hand_follows_it_and_logs_the_truth(tmp_path):
    log = tmp_path / "truth.jsonl"
    words = "rig=so101_leader", "motion=sines", f"log={log}", f"link_dir={tmp_path}"
    with running_feetech(*words) as rig:
        assert rig.overrides == [f"leader.limbs.arm.port={tmp_path}/leader"]
        port = PortHandler(rig.ports["leader"])
        port.openPort()
        places = []
        for _ in range(20):
            places.append(read_places(port))
            time.sleep(0.05)
        until(lambda: SDK.write2ByteTxRx(port, 1, GOAL, places[-1][0]))
        time.sleep(0.05)
        port.closePort()

    rows = [json.loads(line) for line in log.read_text().splitlines()[:-1]]
    assert len(rows) > 300  # 500 a second
    assert max(one[0] for one in places) - min(one[0] for one in places) > 100
    last = rows[-1]["limbs"]["leader"]
    assert set(last) >= {"q", "position", "goal", "n_goals", "torque_on", "errors"}
    (goal,) = [one for row in rows for one in row["goals"]]
    assert (goal["joint"], goal["goal"]) == ("shoulder_pan", places[-1][0])
    assert rows[-1]["t"] - 1.0 < goal["t"] <= rows[-1]["t"]


def test_a_cable_goes_and_comes_back_under_its_name(tmp_path):
    with running_feetech("rig=so101", f"link_dir={tmp_path}") as rig:
        path = rig.ports["follower"]
        rig.send(cmd="unplug")
        assert not (tmp_path / "follower").exists()
        rig.send(cmd="replug")
        port = PortHandler(path)
        port.openPort()
        until(lambda: SDK.ping(port, 1))
        port.closePort()


def test_two_arms_have_a_port_each():
    with running_feetech("rig=so101_2arm") as rig:
        assert set(rig.ports) == {"left", "right"}
        assert [one.split("=")[0] for one in rig.overrides] == [
            "env.ports.left",
            "env.ports.right",
            "gate.accept_unattended",
        ]


def test_orders_that_are_not_known_are_answered_with_an_error(follower):
    assert "expected" in follower.ask(cmd="dance")["error"]
    assert "expected" in follower.ask(fault="sadness")["error"]
    assert "elbow" in follower.ask(cmd="block", joint="elbow")["error"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it(number):
    process = subprocess.Popen(
        [sys.executable, "-m", "paprle_emulators.feetech", "rig=so100"],
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        cwd=ROOT,
    )
    assert json.loads(process.stdout.readline())["ready"]
    process.send_signal(number)

    assert process.wait(10) == 0
    process.stdout.close()


@pytest.mark.parametrize(
    "words", [[], ["rig=so102"], ["rig=so101", "ideal=maybe"], ["rig=so101", "setup=x"]]
)
def test_a_wrong_word_is_explained(words, capsys):
    assert main(words) == 2
    assert "expected" in capsys.readouterr().err


def test_it_needs_neither_the_product_nor_a_vendors_package():
    code = (
        "import sys, paprle_emulators.feetech.__main__ as _;"
        "print(sorted({'paprle', 'pinocchio', 'scservo_sdk', 'serial', 'yaml'}"
        " & set(sys.modules)))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, cwd=ROOT, check=True
    )

    assert out.stdout.strip() == b"[]"
