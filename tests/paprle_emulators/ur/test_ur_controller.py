"""The emulated controller, cycle by cycle, without sockets or a clock."""

import struct

import numpy as np
import pytest

from paprle_emulators.ur.arm import Goal, Motion
from paprle_emulators.ur.controller import (
    DT,
    Controller,
    RobotMode,
    Runtime,
    SafetyMode,
)
from paprle_emulators.ur.dashboard import Dashboard
from paprle_emulators.ur.kinematics import to_pose_vector
from paprle_emulators.ur.models import MODELS, compute_flange
from paprle_emulators.ur.rtde import RtdeClient
from paprle_emulators.ur.sessions import ScriptSession

HOME = np.array([0.0, -1.5708, 1.5708, -1.5708, -1.5708, 0.0])
SCRIPT = (
    "def rtde_control():\n  global reg_offset_int = # int register offset\n0\n"
    '  textmsg("RTDE Control Script Loaded")\nend\n'
)
SERVOJ, WATCHDOG, STOP_SCRIPT = 11, 35, 255


@pytest.fixture
def events():
    return []


@pytest.fixture
def controller(events):
    return Controller(MODELS["ur5e"], HOME.copy(), events.append)


def run(controller, seconds):
    for _ in range(round(seconds / DT)):
        controller.step()


def start(controller):
    controller.start_script(SCRIPT)
    run(controller, 0.1)
    assert controller.runtime is Runtime.PLAYING
    assert controller.int_out[0] == 1


def servo(controller, q, lookahead=0.03):
    controller.double_in[:11] = [*q, 0.0, 0.0, 0.002, lookahead, 300.0]
    controller.write_int(0, SERVOJ)
    controller.step()
    assert controller.int_out[0] == 1, "a servoJ leaves it ready"


@pytest.mark.parametrize("lookahead", [0.03, 0.1, 0.2])
def test_a_ramp_is_followed_with_a_lag_of_the_lookahead_time(controller, lookahead):
    start(controller)
    for k in range(600):
        goal = HOME + 0.5 * DT * k * np.eye(6)[0]
        servo(controller, goal, lookahead)

    lag = (goal[0] - controller.arm.q_target[0]) / 0.5
    assert lag == pytest.approx(lookahead, abs=2 * DT)


def test_the_slider_makes_it_slower_and_at_0_it_stands(controller):
    start(controller)
    ways = []
    for slider in (1.0, 0.5, 0.0):
        controller.slider = slider
        run(controller, 0.3)
        begin = controller.arm.q_target[0]
        for _ in range(10):
            servo(controller, controller.arm.q_target + 0.01 * np.eye(6)[0])
        ways.append(controller.arm.q_target[0] - begin)
        controller.arm.stop()
        run(controller, 0.3)
    controller.slider = 0.3
    controller.step()
    assert controller.scaling < 0.02, "it changes within tenths of a second, no faster"
    assert ways[0] > 1.5 * ways[1] > 0.0
    assert ways[2] == 0.0


def test_without_commands_the_watchdog_ends_the_program_and_the_arm_holds(
    controller, events
):
    start(controller)
    controller.double_in[0] = 10.0
    controller.write_int(0, WATCHDOG)
    controller.step()
    for k in range(100):
        servo(controller, HOME + 0.5 * DT * k * np.eye(6)[0])
    run(controller, 0.09)
    assert controller.runtime is Runtime.PLAYING
    run(controller, 0.3)

    assert controller.runtime is Runtime.STOPPED
    assert any("watchdog" in text for text in events)
    assert controller.arm.motion is Motion.HOLD
    assert controller.robot_mode is RobotMode.RUNNING


def test_a_goal_too_far_is_a_protective_stop(controller):
    start(controller)
    for _ in range(100):
        servo(controller, HOME + 1.0)
        if controller.safety_mode is SafetyMode.PROTECTIVE_STOP:
            break
    assert controller.safety_mode is SafetyMode.PROTECTIVE_STOP
    assert controller.runtime is Runtime.PAUSED

    run(controller, 0.2)
    controller.unlock()
    q = controller.arm.q.copy()
    run(controller, 0.2)
    assert controller.runtime is Runtime.PAUSED, "it waits to be started"
    assert np.abs(controller.arm.q - q).max() < 1e-3


def test_a_closed_safeguard_goes_on_by_itself(controller):
    """A danger that a driver has to know of."""
    start(controller)
    servo(controller, HOME)
    controller.open_safeguard()
    run(controller, 0.1)
    servo_goal = HOME + 0.02
    controller.double_in[:6] = servo_goal
    controller.close_safeguard()
    run(controller, 0.5)

    assert controller.runtime is Runtime.PLAYING
    assert np.abs(controller.arm.q - servo_goal).max() < 1e-3


def test_an_emergency_stop_takes_power_until_it_is_released_and_switched_on(controller):
    start(controller)
    controller.stop_in_emergency()
    run(controller, 0.1)
    assert controller.robot_mode is RobotMode.POWER_OFF
    assert controller.program is None
    controller.release_brakes()
    run(controller, 1.0)
    assert controller.robot_mode is RobotMode.POWER_OFF

    controller.release_emergency()
    controller.release_brakes()
    run(controller, 1.0)
    assert controller.robot_mode is RobotMode.RUNNING


@pytest.mark.parametrize("is_fault", [True, False])
def test_a_safety_violation_takes_power_until_the_safety_is_restarted(
    controller, is_fault
):
    dashboard = Dashboard(controller, "ur5e")
    start(controller)
    servo(controller, HOME + 0.01)
    assert "Failed" in dashboard.answer("restart safety")
    controller.break_safety(is_fault=is_fault)
    run(controller, 0.2)
    assert controller.robot_mode is RobotMode.POWER_OFF
    assert controller.program is None
    dashboard.answer("brake release")
    run(controller, 1.0)
    assert controller.robot_mode is RobotMode.POWER_OFF

    assert dashboard.answer("restart safety") == "Restarting safety"
    dashboard.answer("brake release")
    run(controller, 1.0)
    assert controller.robot_mode is RobotMode.RUNNING


def test_in_recovery_mode_no_script_starts(controller):
    start(controller)
    controller.enter_recovery()
    controller.start_script(SCRIPT)
    run(controller, 0.1)
    assert controller.program is None
    assert controller.safety_bits == 1 << 3

    controller.recover()
    start(controller)


def test_a_system_emergency_stop_has_its_own_bit_and_is_released_alike(controller):
    controller.stop_in_emergency(is_system=True)
    assert controller.safety_bits >> 5 & 0b111 == 0b101
    controller.release_emergency()
    assert controller.safety_mode is SafetyMode.NORMAL


def test_in_local_control_scripts_and_most_dashboard_commands_are_refused(controller):
    dashboard = Dashboard(controller, "ur5e")
    controller.set_remote(is_remote=False)
    controller.start_script(SCRIPT)
    run(controller, 0.1)

    assert controller.runtime is Runtime.STOPPED
    assert dashboard.answer("is in remote control") == "false"
    assert "not allowed" in dashboard.answer("power off")
    assert controller.robot_mode is RobotMode.RUNNING
    assert dashboard.answer("sing").startswith("could not understand")


def test_a_script_may_come_in_pieces_and_with_others():
    told = []
    session = ScriptSession(told.append)
    for k in range(0, len(SCRIPT), 7):
        session.take(SCRIPT[k : k + 7].encode())
    session.take(b"stopj(2.0)\ndef two():\n  sleep(1)\nend\nset_")

    assert told == [SCRIPT, "stopj(2.0)\n", "def two():\n  sleep(1)\nend\n"]


def package(kind, body=b""):
    return struct.pack(">HB", 3 + len(body), ord(kind)) + body


@pytest.fixture
def goals():
    return []


@pytest.fixture
def make_client(controller, goals):
    claims = {}
    return lambda: RtdeClient(controller, claims, goals.append)


def test_rtde_speaks_version_2_alone(make_client):
    client = make_client()
    assert client.take(package("V", b"\x00\x02")) == package("V", b"\x01")
    assert client.take(package("V", b"\x00\x01")) == package("V", b"\x00")
    assert client.take(package("v"))[3:7] == struct.pack(">I", 5)


def test_rtde_names_what_it_does_not_have_and_sends_what_was_asked(
    make_client, controller
):
    client = make_client()
    ask = struct.pack(">d", 125.0)
    refused = client.take(package("O", ask + b"timestamp,colour"))
    assert refused == package("O", b"\x00DOUBLE,NOT_FOUND")
    assert client.take(package("S")) == package("S", b"\x00"), "nothing was asked"

    agreed = client.take(package("O", ask + b"timestamp,actual_q,runtime_state"))
    assert agreed == package("O", b"\x01DOUBLE,VECTOR6D,UINT32")
    assert client.take(package("S")) == package("S", b"\x01")
    sent = []
    for _ in range(8):
        controller.step()
        sent.append(client.make_data())
    sent = [data for data in sent if data]
    assert len(sent) == 2, "125 Hz of 500"
    values = struct.unpack(">HBBd6dI", sent[-1])
    assert values[3] == pytest.approx(controller.time)
    assert np.allclose(values[4:10], HOME)
    assert values[10] == Runtime.STOPPED


def test_registers_belong_to_one_client_and_a_servoj_is_noted(
    make_client, controller, goals
):
    one, other = make_client(), make_client()
    names = ",".join(
        ["input_int_register_0", *(f"input_double_register_{k}" for k in range(11))]
    )
    types = "INT32" + ",DOUBLE" * 11
    assert one.take(package("I", names.encode())) == package(
        "I", b"\x01" + types.encode()
    )
    in_use = other.take(package("I", b"input_int_register_0,colour"))
    assert in_use == package("I", b"\x00IN_USE,NOT_FOUND")

    numbers = [*range(11)]
    data = package("U", b"\x01" + struct.pack(">i11d", SERVOJ, *numbers))
    one.take(data[:20])
    one.take(data[20:])
    assert goals == [numbers]
    assert controller.int_in[0] == SERVOJ
    one.leave()
    assert other.take(package("I", b"input_int_register_0"))[3] == 1


def test_a_short_package_is_no_rtde(make_client):
    client = make_client()
    client.take(package("I", b"input_int_register_0"))
    with pytest.raises(ValueError, match="recipe 1"):
        client.take(package("U", b"\x01\x00"))


def test_poses_are_written_as_rotation_vectors():
    half_turn = np.diag([-1.0, 1.0, -1.0, 1.0])
    assert np.allclose(np.abs(to_pose_vector(half_turn)[3:]), [0.0, np.pi, 0.0])
    pose = compute_flange(MODELS["ur5e"], np.zeros(6))
    assert np.allclose(pose[:3, 3], [-0.8172, -0.2329, 0.0628], atol=1e-9)


def test_a_goal_holds_its_numbers():
    assert Goal(HOME).lookahead == 0.1
