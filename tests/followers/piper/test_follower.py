"""What the follower does with an arm that is not well, and with one it may not have."""

import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from piper_rig import EmulatedPiper, count_commands, cycle, load

from paprle.contracts.errors import (
    CommandError,
    DeviceError,
    DeviceTimeout,
    MissingDependency,
)
from paprle.followers.piper import arm as arm_module
from paprle.followers.piper.config import PiperConfig
from paprle.followers.piper.follower import PiperFollower
from paprle.hardware.piper.protocol import MOTION_IDS
from paprle_emulators.piper.protocol import ANGLE_LIMITS_DEG

pytest.importorskip("piper_sdk")

pytestmark = pytest.mark.process

OTHER = """
import sys, time, can
bus = can.Bus(channel=sys.argv[1], interface="emucan")
print("ready", flush=True)
while True:
    bus.send(can.Message(arbitration_id=0x155, data=bytes(8), is_extended_id=False))
    time.sleep(0.02)
"""
FAULTS = [
    ("estop", {}, "emergency stop"),
    ("collision", {}, "collision"),
    ("limit", {"joint": 2}, "joint error: joint2"),
    ("communication", {"joint": 4}, "joint communication lost"),
    ("over_temperature", {"joint": 3}, "joint3: motor too hot (95 C)"),
    ("low_voltage", {}, "voltage low (17 V)"),
    ("teach", {}, "teach mode"),
    ("disable", {"joint": 5}, "no power: joint5"),
    ("bus_off", {}, "bus-off"),
    ("lost", {"ids": ["0x2a1"]}, "no report of the arm's status"),
    ("lost", {"ids": ["0x266"]}, "no report of the arm's status"),
]


@pytest.fixture
def other_master(arm):
    other = subprocess.Popen(
        [sys.executable, "-c", OTHER, arm.channel], stdout=subprocess.PIPE, text=True
    )
    assert other.stdout.readline() == "ready\n"
    yield other
    other.kill()
    other.communicate()


@pytest.mark.parametrize(("fault", "arguments", "reason"), FAULTS)
def test_a_stopped_arm_says_why_and_is_told_nothing_more(
    arm, follower, clock, fault, arguments, reason
):
    q = cycle(follower, clock, time=0.1).q
    arm.do(fault, **arguments)

    state = cycle(follower, clock, until=reason)

    assert reason in state.stop_reason
    assert len(state.stop_reason.encode()) <= 64
    begin = clock()
    cycle(follower, clock, q, time=0.1)
    assert count_commands(arm.read(), begin, clock()) == 0


def test_a_bus_that_was_off_is_trusted_again_after_a_while(arm, follower, clock):
    q = cycle(follower, clock, time=0.1).q
    arm.do("bus_off")
    cycle(follower, clock, until="bus-off")
    arm.do("none")  # the interface restarts it, as it does with restart-ms

    assert "bus-off" in cycle(follower, clock, q, time=0.1).stop_reason
    for _ in range(300):
        if not cycle(follower, clock, q, time=0.01).stop_reason:
            break
    begin = clock()
    state = cycle(follower, clock, q, time=0.1)

    assert not state.stop_reason
    assert count_commands(arm.read(), begin, clock()) > 5


def test_a_motor_that_gets_warm_is_told_of_before_it_stops(arm, follower, clock):
    def hear(fault, **arguments):
        arm.do(fault, **arguments)
        state = cycle(follower, clock, time=0.15)
        assert not state.stop_reason
        return follower.take_warnings()

    def hear_within_2_s(fault, **arguments):
        return next(filter(None, (hear(fault, **arguments) for _ in range(13))), [])

    assert not hear("warm", joint=3, temperature=60)
    [text] = hear_within_2_s("warm", joint=3, temperature=70)
    assert text.startswith("joint3: 70 C, and the arm stops when it is too hot")
    assert not hear("warm", joint=3, temperature=72), "told already"
    assert hear_within_2_s("warm", joint=3, temperature=76)
    assert hear_within_2_s("none") == ["joint3: 35 C, cool again"]


def test_states_that_stand_still_under_fresh_stamps_are_emulated(arm, follower, clock):
    arm.do("stuck")
    q = cycle(follower, clock, time=0.1).q.copy()
    stuck_at = q[0]
    q[0] += 0.02

    state = cycle(follower, clock, q, time=0.3)

    assert clock() - state.stamp_ns < 0.09e9
    assert state.q[0] == stuck_at
    assert arm.read().q[-1, 0] == pytest.approx(q[0], abs=1e-3)
    arm.do("none")
    assert cycle(follower, clock, q, time=0.1).q[0] == pytest.approx(q[0], abs=1e-3)


def test_a_cleared_stop_is_no_leave_to_jump(arm, follower, clock):
    q = cycle(follower, clock, time=0.1).q
    arm.do("collision")
    cycle(follower, clock, until="collision")
    arm.do("push", joint=1, by=0.3)
    arm.do("none")
    time.sleep(0.1)

    begin = clock()
    state = cycle(follower, clock, q, time=0.2)

    assert state.stop_reason == ""
    assert state.q[0] == pytest.approx(q[0] + 0.3, abs=1e-3)
    assert count_commands(arm.read(), begin, clock()) == 0, "it would go back at once"
    begin = clock()
    cycle(follower, clock, time=0.1)
    assert count_commands(arm.read(), begin, clock()) > 5


def test_after_a_reset_the_arm_is_not_given_power_by_itself(arm, follower, clock):
    cycle(follower, clock, time=0.1)
    arm.do("estop")
    cycle(follower, clock, until="emergency")
    arm.do("resume")

    state = cycle(follower, clock, until="standby")

    assert state.stop_reason == "arm is in standby; start the session again"
    cycle(follower, clock, time=0.2)
    record = arm.read()
    assert not record.is_enabled[-1]


@pytest.mark.parametrize("can_id", ["0x2a5", "0x2a7", "0x2a8", "0x254"])
def test_one_lost_report_makes_the_state_old(arm, follower, clock, can_id):
    cycle(follower, clock, time=0.05)

    arm.do("lost", ids=[can_id])
    state = cycle(follower, clock, time=0.2)

    assert clock() - state.stamp_ns > 0.09e9


def test_a_quarter_of_the_reports_lost_is_no_reason(arm, follower, clock):
    arm.do("lost", share=0.25)

    states = [cycle(follower, clock, time=0.01) for _ in range(20)]

    assert not any(state.stop_reason for state in states)
    assert np.isfinite([state.q for state in states]).all()


@pytest.mark.timed
def test_error_frames_are_no_reports(arm, follower, clock):
    arm.do("error_frames", n=20)

    state = cycle(follower, clock, time=0.1)

    assert state.stop_reason == ""
    assert clock() - state.stamp_ns < 0.09e9


def test_a_dead_bus_is_found_without_the_sdk(tmp_path, robot, clock):
    arm = EmulatedPiper(tmp_path)
    config = PiperConfig(interface="emucan", channel=arm.channel)
    follower = PiperFollower(config, robot, clock)
    follower.open()

    arm.kill()

    state = cycle(follower, clock, until="bus lost")
    assert "bus lost" in state.stop_reason
    cycle(follower, clock, time=0.05)
    follower.close("hold")
    arm.end()


def test_the_gripper_gets_its_opening(arm, follower, clock):
    q = cycle(follower, clock, time=0.02).q.copy()
    q[6] = 0.02

    state = cycle(follower, clock, q, time=0.4)

    assert arm.read().commands[-1, 6] == pytest.approx(0.04)
    assert state.q[6] == pytest.approx(0.02, abs=1e-4)


@pytest.mark.parametrize("q", [np.full(7, np.nan), np.zeros(6)])
def test_a_malformed_command_is_refused(follower, q):
    with pytest.raises(CommandError, match="expected 7 finite"):
        follower.write(q)


def test_holds_when_left_and_falls_when_powered_off(arm, config, robot, clock, caplog):
    for policy, is_enabled in (("hold", True), ("off", False)):
        follower = PiperFollower(config, robot, clock)
        follower.open()
        follower.close(policy)
        time.sleep(0.1)

        assert arm.read().is_enabled[-1] == is_enabled
    assert "fall" in caplog.text


def test_no_thread_is_left(config, robot, clock):
    before = threading.active_count()
    follower = PiperFollower(config, robot, clock)
    follower.open()

    follower.close("hold")

    assert threading.active_count() == before


def test_another_master_is_refused(config, robot, clock, other_master):
    assert other_master.poll() is None
    follower = PiperFollower(config, robot, clock)

    with pytest.raises(DeviceError, match=r"only master, got the command 0x155"):
        follower.open()


def test_another_master_stops_a_running_one(follower, clock, request):
    cycle(follower, clock, time=0.05)
    request.getfixturevalue("other_master")

    state = cycle(follower, clock, until="another master")

    assert "another master commands the arm (0x155)" in state.stop_reason


def test_a_second_follower_on_the_channel_is_refused(follower, config, robot, clock):
    with pytest.raises(DeviceError, match="another process of ours"):
        PiperFollower(config, robot, clock).open()

    assert follower.read().stop_reason == ""


@pytest.mark.parametrize(
    ("fault", "text"), [("estop", "emergency stop"), ("teach", "teach mode")]
)
def test_an_arm_that_is_not_well_is_not_opened(arm, config, robot, clock, fault, text):
    arm.do("none")
    arm.do("resume")
    arm.do(fault)
    time.sleep(0.05)
    begin = clock()

    with pytest.raises(DeviceError, match=f"{text}; end it at the arm"):
        PiperFollower(config, robot, clock).open()

    record = arm.read()
    assert not set(record.ids[record.id_stamps > begin]) & MOTION_IDS


def test_a_silent_bus_says_what_to_look_at(arm, config, robot, clock, monkeypatch):
    monkeypatch.setattr(arm_module, "_FIRST_TIME", 0.2)
    arm.do("silence")

    with pytest.raises(DeviceTimeout, match=r"no frame at all; .*bitrate 1000000"):
        PiperFollower(config, robot, clock).open()


def test_a_missing_report_is_named(arm, config, robot, clock, monkeypatch):
    monkeypatch.setattr(arm_module, "_FIRST_TIME", 0.2)
    arm.do("lost", ids=["0x2a6", "0x253"])

    with pytest.raises(DeviceTimeout, match="none of 0x2a6, 0x253"):
        PiperFollower(config, robot, clock).open()


@pytest.mark.parametrize(
    ("config", "text"),
    [
        (PiperConfig(interface="emucan", channel="nowhere"), "no emulated arm"),
        (PiperConfig(channel="can77"), "ip link show type can"),
        (PiperConfig(channel="lo"), "no frame|cannot be opened|no report"),
        (PiperConfig(interface="slcan", channel="nowhere"), "cannot be opened"),
        (PiperConfig(channels={"leg": "can0"}), "each limb .arm., got leg"),
    ],
)
def test_an_invalid_channel_is_refused(config, text, robot, clock):
    with pytest.raises(DeviceError, match=text):
        PiperFollower(config, robot, clock).open()


def test_a_closed_follower_says_so(config, robot, clock):
    with pytest.raises(DeviceError, match="call open"):
        PiperFollower(config, robot, clock).read()


def test_a_missing_sdk_is_named(config, robot, clock, monkeypatch):
    monkeypatch.setitem(sys.modules, "piper_sdk", None)

    with pytest.raises(MissingDependency, match="pip install"):
        PiperFollower(config, robot, clock).open()


def test_a_robot_of_another_kind_is_refused(config, clock):
    with pytest.raises(DeviceError, match="'papras_7dof' is no PiPER"):
        PiperFollower(config, load("papras_7dof"), clock).open()


def test_each_joint_has_the_arms_own_limits(follower):
    """The SDK's list of six is the last joint's, six times."""
    arm = follower._arms[0][0]

    limits = arm._units.limits / 1e3

    assert limits.tolist() == [list(pair) for pair in ANGLE_LIMITS_DEG]


def test_two_arms_are_one_robot(tmp_path, arm, clock):
    (tmp_path / "right").mkdir()
    right = EmulatedPiper(tmp_path / "right", "q=0.5,0,0,0,0,0")
    robot = load("piper_2arm")
    channels = {"left": arm.channel, "right": right.channel}
    follower = PiperFollower(
        PiperConfig(interface="emucan", channels=channels), robot, clock
    )
    info = follower.open()

    state = follower.read()
    begin = state.q.copy()
    cycle(follower, clock, begin + 0.01, time=0.3)
    state = follower.read()
    right.do("estop")
    stopped = cycle(follower, clock, until="emergency")
    follower.close("hold")
    right.end()

    assert info.joint_names == robot.joint_names
    i = robot.joint_names.index("right_joint1")
    assert begin[i] == pytest.approx(0.5, abs=1e-4)
    assert state.q[i] == pytest.approx(0.51, abs=1e-3)
    assert stopped.stop_reason == "right: emergency stop"


def test_target_held_up_by_a_stall_is_dropped_and_the_one_before_is_told(follower):
    q = follower.read().q
    first, second = q + 0.001, q + 0.02
    follower.write(first)
    assert follower.read().q_held is None
    time.sleep(0.03)  # as a process that is stopped before it sends

    follower.write(second)

    np.testing.assert_array_equal(follower.read().q_held, first)
    follower.write(first)
    assert follower.read().q_held is None
