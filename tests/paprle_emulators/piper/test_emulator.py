"""The emulator as a process, and the back-end that reaches it."""

import json
import subprocess
import sys
import time

import pytest
from piper_rig import EmulatedPiper

from paprle.ipc.process import WORKSPACE
from paprle_emulators.piper import protocol as p

can = pytest.importorskip("can")

pytestmark = pytest.mark.process

LISTENER = """
import sys, can
bus = can.Bus(channel=sys.argv[1], interface="emucan")
print("ready", flush=True)
while (message := bus.recv(5.0)) is not None:
    if message.arbitration_id in (0x151, 0x159):
        print(hex(message.arbitration_id), flush=True)
        break
"""


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    arm = EmulatedPiper(tmp_path_factory.mktemp("arm"))
    yield arm
    arm.end()


@pytest.fixture
def bus(arm):
    arm.do("none")
    with can.Bus(channel=arm.channel, interface="emucan") as bus:
        yield bus


def receive(bus, can_id, timeout=2.0):
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        message = bus.recv(0.1)
        if message is not None and message.arbitration_id == can_id:
            return message
    return None


def message(can_id, data=bytes(8)):
    return can.Message(arbitration_id=can_id, data=data, is_extended_id=False)


def test_says_where_it_is(arm):
    assert arm.endpoint["interface"] == "emucan"
    assert arm.endpoint["channel"] == str(arm.socket)


@pytest.mark.parametrize("can_id", [p.STATUS, *p.JOINT_STATES, p.GRIPPER_STATE, 0x266])
def test_sends_what_the_arm_sends(bus, can_id):
    assert len(receive(bus, can_id).data) == 8


def test_own_frames_do_not_come_back_nor_to_the_same_process(arm, bus):
    with can.Bus(channel=arm.channel, interface="emucan") as other:
        other.send(message(p.MODE))

        assert receive(bus, p.MODE, timeout=0.1) is None
        assert receive(other, p.MODE, timeout=0.1) is None


def test_other_processes_hear_what_one_sends(arm, bus):
    listener = subprocess.Popen(
        [sys.executable, "-c", LISTENER, arm.channel],
        stdout=subprocess.PIPE,
        text=True,
        cwd=WORKSPACE,
    )
    assert listener.stdout.readline() == "ready\n"

    bus.send(message(p.GRIPPER))

    assert listener.communicate(timeout=10)[0] == "0x159\n"


def test_errors_arrive_as_errors(arm, bus):
    arm.do("error_frames", time=0.2)

    end = time.monotonic() + 2.0
    while time.monotonic() < end:
        got = bus.recv(0.1)
        if got is not None and got.is_error_frame:
            return
    raise AssertionError("no error frame came")


def test_writes_down_what_came(arm, bus):
    bus.send(message(p.ENABLE, bytes([7, 2, 0, 0, 0, 0, 0, 0])))
    time.sleep(0.1)

    record = arm.read()
    assert p.ENABLE in record.ids
    assert record.is_enabled[-1]
    assert (abs(record.id_stamps[-1] - record.state_stamps[-1])) < 1e9


def test_a_bad_command_is_answered_and_changes_nothing(arm):
    arm.process.stdin.write('[1]\n{"fault": "rain"}\nnonsense\n')
    arm.process.stdin.flush()

    answers = [json.loads(arm.process.stdout.readline()) for _ in range(3)]
    assert all("error" in answer for answer in answers)


def test_waiting_for_a_frame_ends(arm, bus):
    arm.do("silence", time=0.3)
    while bus.recv(0.02) is not None:
        pass

    assert bus.recv(0.0) is None


def test_an_absent_arm_is_an_error(tmp_path):
    with pytest.raises(can.CanInitializationError, match="no emulated arm"):
        can.Bus(channel=str(tmp_path / "none"), interface="emucan")


def test_a_word_that_is_no_option_is_refused():
    done = subprocess.run(
        [sys.executable, "-m", "paprle_emulators.piper.__main__", "colour=red"],
        capture_output=True,
        text=True,
        cwd=WORKSPACE,
        check=False,
    )

    assert done.returncode == 2
    assert "colour" in done.stderr
    assert "socket" in done.stderr


def test_a_socket_that_is_served_is_not_taken_over(arm):
    done = subprocess.run(
        [sys.executable, "-m", "paprle_emulators.piper", f"socket={arm.channel}"],
        capture_output=True,
        text=True,
        cwd=WORKSPACE,
        check=False,
    )

    assert done.returncode == 2
    assert "in use" in done.stderr


def test_ends_when_it_is_told_and_takes_its_nodes_off_the_bus(tmp_path):
    arm = EmulatedPiper(tmp_path)
    with can.Bus(channel=arm.channel, interface="emucan") as bus:
        assert receive(bus, p.STATUS)
        assert arm.end() == 0
        assert not arm.socket.exists()
        with pytest.raises(can.CanOperationError):
            while True:
                bus.recv(1.0)
        with pytest.raises(can.CanOperationError):
            bus.send(message(p.MODE))
    assert arm.read().state_stamps.size


def test_a_socket_left_by_a_killed_one_is_taken_over(tmp_path):
    first = EmulatedPiper(tmp_path)
    first.kill()
    assert first.socket.exists()
    first.end()

    second = EmulatedPiper(tmp_path)

    assert second.end() == 0
