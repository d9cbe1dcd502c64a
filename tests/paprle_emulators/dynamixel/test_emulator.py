"""The emulator as a process: the vendor's SDK on its terminals, its orders, its end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from dynamixel_rig import ROOT, TWO_JOINTS, RunningRig, running_rig
from dynamixel_sdk import (
    COMM_RX_TIMEOUT,
    COMM_SUCCESS,
    GroupSyncRead,
    GroupSyncWrite,
    PacketHandler,
    PortHandler,
)

from paprle_emulators.dynamixel.__main__ import main

pytestmark = pytest.mark.timed  # a busy machine makes servos silent

SDK = PacketHandler(2.0)
TRIES = 20  # chosen: the SDK waits only 34 ms for an answer, a busy machine longer
QUIET = 0.1  # [s] chosen: a late answer is in by then
BAUD = 4_000_000


def open_port(path, baud=BAUD):
    port = PortHandler(path)
    assert port.openPort()
    assert port.setBaudRate(baud)
    return port


def open_clean(path):
    """Open a port on which no answer to an earlier question waits.

    The SDK takes any packet of the servo for the answer: a late one to a ping, with
    its model number, for a position.
    """
    port = open_port(path)
    time.sleep(QUIET)
    port.ser.reset_input_buffer()
    return port


def until(call):
    """Repeat a call until it succeeds; return what it returned."""
    for _ in range(TRIES):
        result = call()
        if result == COMM_SUCCESS or (
            isinstance(result, tuple) and result[-2] == COMM_SUCCESS
        ):
            return result
    raise AssertionError(f"no answer in {TRIES} tries, last {result}")


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    path = tmp_path_factory.mktemp("rig") / "rig.yaml"
    path.write_text(TWO_JOINTS)
    return path


@pytest.fixture(scope="module")
def rig(config):
    links = config.parent / "links"
    with running_rig(config, f"link_dir={links}", f"log={config.parent / 'log'}") as r:
        yield r


@pytest.fixture
def port(rig):
    port = open_clean(rig.ports["left"])
    yield port
    port.closePort()
    rig.send(cmd="clear")


def test_the_emulator_prints_its_terminals(rig):
    assert list(rig.ports) == ["left", "right"]
    assert rig.overrides == [f"leader.limbs.{n}.port={p}" for n, p in rig.ports.items()]


@pytest.mark.parametrize("limb", ["left", "right"])
def test_the_sdk_reads_and_writes_on_every_bus(rig, limb):
    port = open_port(rig.ports[limb])
    expected = {"left": 1200, "right": 1020}

    assert until(lambda: SDK.ping(port, 1))[0] == expected[limb]
    until(lambda: SDK.write1ByteTxRx(port, 1, 65, 1))
    assert until(lambda: SDK.read1ByteTxRx(port, 1, 65))[0] == 1
    port.closePort()


@pytest.mark.parametrize("is_fast", [False, True], ids=["sync", "fast"])
def test_positions_follow_the_truth(rig, port, is_fast):
    group = GroupSyncRead(port, SDK, 132, 4)
    for servo in (1, 2, 8):
        group.addParam(servo)

    until(group.fastSyncRead if is_fast else group.txRxPacket)

    q = rig.state("left")["q"]
    turn = 6.283185 / 4096
    read = [(group.getData(n, 132, 4) - 2048) * turn for n in (1, 2, 8)]
    assert read == pytest.approx([q[0], 0.5 - q[1], q[2]], abs=0.02)


def test_a_torque_is_rendered(rig, port):
    until(lambda: SDK.write1ByteTxRx(port, 8, 11, 0))
    until(lambda: SDK.write1ByteTxRx(port, 8, 64, 1))
    goal = GroupSyncWrite(port, SDK, 102, 2)
    goal.addParam(8, [0xE8, 0x03])
    goal.txPacket()

    for _ in range(200):
        state = rig.state("left")
        if abs(state["tau_hand"][2]) > 0.1 and abs(state["dq"][2]) < 0.01:
            break
        time.sleep(0.01)

    torque = 0.215 * (1.0 / 1.47) ** 0.5  # 1 A at its supply
    assert state["tau_motor"][2] == pytest.approx(torque, rel=0.01)
    assert state["tau_hand"][2] == pytest.approx(-torque, abs=0.02)
    assert state["torque_on"] == [False, False, True]
    SDK.reboot(port, 8)


def test_the_other_baud_rate_hears_nothing(rig):
    port = open_port(rig.ports["left"], 1_000_000)
    assert SDK.ping(port, 1)[1] == COMM_RX_TIMEOUT
    port.closePort()


def test_unplugged_the_port_fails_and_replugged_it_has_its_name(rig):
    port = open_port(rig.ports["left"])
    until(lambda: SDK.ping(port, 1))

    rig.send(cmd="unplug", bus="left")
    with pytest.raises(Exception, match=r"rror|bad|file"):
        for _ in range(TRIES):
            port.is_using = False
            SDK.ping(port, 1)
            port.ser.read(1)
    assert not Path(rig.ports["left"]).exists()
    port.closePort()
    answer = rig.send(cmd="replug", bus="left")

    assert answer["ports"] == rig.ports
    port = open_port(rig.ports["left"])
    until(lambda: SDK.ping(port, 1))
    port.closePort()


def test_faults_come_and_go_while_it_runs(rig, port):
    until(lambda: SDK.ping(port, 2))
    rig.fault("silent", limb="left", joint="elbow")
    assert SDK.ping(port, 2)[1] == COMM_RX_TIMEOUT

    rig.send(cmd="clear")

    until(lambda: SDK.ping(port, 2))


@pytest.mark.parametrize(
    "order",
    [
        {"fault": "gremlins"},
        {"fault": "lost"},
        {"cmd": "dance"},
        {"cmd": "motion", "program": "walk"},
        {"cmd": "state", "of": "mind"},
        {"cmd": "hold", "limb": "third"},
        {"cmd": "pose", "joints": {"knee": 1.0}},
        {},
    ],
)
def test_the_emulator_refuses_an_order_that_it_cannot_do(rig, order):
    answer = rig.ask(**order)

    assert not answer["ok"]
    assert answer["error"].startswith("order {")


def test_the_hand_obeys(rig):
    rig.send(cmd="let_go", limb="right")
    rig.send(cmd="push", limb="right", tau={"shoulder": 0.2})
    for _ in range(200):
        state = rig.state("right")
        if state["q"][0] > 0.05:
            break
        time.sleep(0.01)
    assert state["q"][0] > 0.05
    assert state["tau_hand"] == [0.0, 0.0]

    rig.send(cmd="push", tau={"shoulder": 0.0})
    rig.send(cmd="hand", stiffness=20, damping=0.5)
    rig.send(cmd="hold")
    rig.send(cmd="pose", joints={"shoulder": 0.0})
    rig.send(cmd="motion", program="still")


def test_the_emulator_logs_the_truth(rig, config):
    deadline = time.monotonic() + 10
    lines = []
    while len(lines) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
        lines = (config.parent / "log").read_text().splitlines()[:-1]
    now = rig.send(cmd="state")["t"]

    told = [json.loads(line) for line in lines]
    stamps = [line["t"] for line in told]
    assert set(told[0]["limbs"]) == {"left", "right"}
    assert 0.0 <= stamps[0] < stamps[-1] <= now
    assert stamps == sorted(stamps)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_emulator_ends_cleanly(config, number):
    rig = RunningRig(f"leader={config}", "motion=sines", 'fault={"fault":"silent"}')
    port = open_port(rig.ports["left"])
    assert SDK.ping(port, 1)[1] == COMM_RX_TIMEOUT
    port.closePort()

    rig.process.send_signal(number)

    assert rig.process.wait(20) == 0
    rig.stop()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["leader=nobody"], "expected a rig"),
        (["leader=autopilot"], "expected limbs with servos"),
        (["speed=3"], "expected leader, follower, motion"),
        (["leader={config}", "motion=walk"], "motion: expected still"),
        (["leader={config}", 'fault={{"fault":"x"}}'], "fault: expected one of"),
    ],
)
def test_a_failed_start_prints_its_reason(config, words, message, capfd):
    assert main([word.format(config=config) for word in words]) == 2
    assert message in capfd.readouterr().err


def test_help_teaches():
    done = subprocess.run(
        [sys.executable, "-m", "paprle_emulators.dynamixel", "--help"],
        capture_output=True, text=True, cwd=ROOT, check=True,
    )  # fmt: skip

    assert "leader=NAME" in done.stdout
    assert '{"cmd": "state"}' in done.stdout
