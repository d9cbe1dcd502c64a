"""The follower and an arm that is not well, one it may not have, and one it leaves."""

import subprocess
import sys
import time

import numpy as np
import pytest
from cells import spread
from damiao_rig import EmulatedDamiao, cycle, load_robot

from paprle.contracts.errors import CommandError, DeviceError
from paprle.followers.damiao.config import DamiaoConfig
from paprle.followers.damiao.follower import DamiaoFollower

can = pytest.importorskip("can")

pytestmark = pytest.mark.process

OTHER = """
import sys, time, can
bus = can.Bus(channel=sys.argv[1], interface="emucan")
print("ready", flush=True)
while True:
    bus.send(can.Message(arbitration_id=3, data=bytes(8), is_extended_id=False))
    time.sleep(0.02)
"""
FAULTS = [
    ("over_voltage", "motor 2: over-voltage (8)"),
    ("under_voltage", "motor 2: under-voltage (9)"),
    ("over_current", "motor 2: over-current (A)"),
    ("mos_hot", "motor 2: transistors too hot (B)"),
    ("coil_hot", "motor 2: coil too hot (C)"),
    ("communication", "motor 2: communication lost (D)"),
    ("overload", "motor 2: overload (E)"),
    ("disable", "motor 2: no torque"),
    ("mute", "motor 2: no answer"),
]


@pytest.fixture
def other_program(arm):
    other = subprocess.Popen(
        [sys.executable, "-c", OTHER, arm.channel], stdout=subprocess.PIPE, text=True
    )
    assert other.stdout.readline() == "ready\n"
    yield other
    other.kill()
    other.communicate()


@pytest.mark.parametrize(("fault", "reason"), spread(FAULTS, *FAULTS[2::2]))
def test_a_motor_that_fails_has_a_name_and_the_others_hold(
    arm, follower, clock, fault, reason
):
    q = cycle(follower, clock, time=0.1).q
    at_ns = arm.do(fault, joint=2)

    state = cycle(follower, clock, q, until=reason)

    assert reason in state.stop_reason
    held = arm.read().q_des[-1]
    cycle(follower, clock, q + 0.3, time=0.2)
    record = arm.read()
    now = record.stamps > at_ns + 300_000_000
    others = [0, 2, 3, 4, 5, 6]
    moved = np.abs(record.q_des[now][:, others] - held[others])
    assert np.nanmax(moved, initial=0.0) < 0.02, "no new goal"
    assert not [s for s in record.specials if s[0] > at_ns], "nothing is enabled"
    if fault != "mute":
        assert record.statuses[-1][0] == "1", "the others hold"


def test_a_motor_that_failed_gets_no_torque_when_its_cause_is_gone(
    arm, follower, clock
):
    q = cycle(follower, clock, time=0.1).q
    arm.do("coil_hot", joint=4)
    cycle(follower, clock, q, until="too hot")

    arm.do("none")
    state = cycle(follower, clock, q, time=0.3)

    assert "start the session again" in state.stop_reason
    assert arm.read().statuses[-1][3] == "c"


def test_opening_clears_errors_whose_cause_is_gone(arm, config, robot, clock):
    arm.do("overload", joint=3)
    follower = DamiaoFollower(config, robot, clock)
    with pytest.raises(DeviceError, match=r"expected motor 3 without an error.*\(E\)"):
        follower.open()

    arm.do("none")
    follower.open()

    assert not cycle(follower, clock, time=0.1).stop_reason
    follower.close("off")


def test_a_cable_that_is_out_for_long_leaves_the_arm_to_its_motors(
    arm, follower, clock
):
    q = cycle(follower, clock, time=0.1).q
    at_ns = arm.do("cable")
    cycle(follower, clock, q, time=0.8)
    arm.do("none")

    state = cycle(follower, clock, q, until="communication lost")

    assert "communication lost (D)" in state.stop_reason
    record = arm.read()
    early = (record.state_stamps > at_ns) & (record.state_stamps < at_ns + 350_000_000)
    assert {set(flags) == {"1"} for flags in np.array(record.statuses)[early]} == {True}
    assert np.abs(record.dq[early]).max() < 0.3, "the motors hold it meanwhile"
    assert set(record.statuses[-1]) == {"d"}, "then they brake, and stay so"


def test_a_cable_that_is_out_for_a_moment_ends_in_no_jump(arm, follower, clock):
    q = cycle(follower, clock, time=0.1).q
    at_ns = arm.do("cable", time=0.2)

    for step in range(60):  # a gate that knows nothing of it goes on
        follower.read()
        follower.write(q + 0.004 * step)
        clock.advance(0.005)
    time.sleep(0.1)

    record = arm.read()
    after = record.state_stamps > at_ns
    assert not follower.read().stop_reason
    assert np.abs(record.dq[after]).max() < 1.2, "the goals of the gap are not made up"


def test_goals_that_waited_are_dropped_and_the_gate_learns_where_the_arm_is(
    follower, clock
):
    q = cycle(follower, clock, time=0.2).q
    _, arm, _, _ = follower._arms[0]
    with arm._queue:
        arm._goals.append((arm.held + 0.03, 0))

    state = follower.read()

    assert state.q_held is not None
    assert np.abs(state.q_held - q)[:7].max() < 0.02
    assert arm.n_dropped >= 1
    cycle(follower, clock, q, time=0.1)
    assert follower.read().q_held is None


def test_power_that_comes_back_moves_nothing(arm, follower, clock):
    q = cycle(follower, clock, time=0.1).q
    arm.do("power_off")
    cycle(follower, clock, q, time=0.3)
    arm.do("power_on")

    state = cycle(follower, clock, q, until="no torque", time=0.5)

    assert "no torque" in state.stop_reason
    assert set(arm.read().statuses[-1]) == {"0"}


def test_a_silent_motor_is_named_at_the_opening(arm, config, robot, clock):
    arm.do("mute", joint=5)

    with pytest.raises(DeviceError, match="got none of motor 5; are they powered"):
        DamiaoFollower(config, robot, clock).open()


def test_motors_of_another_arm_are_refused(tmp_path, clock):
    arm = EmulatedDamiao(tmp_path, "openarm")
    config = DamiaoConfig(model="yam", interface="emucan", channel=arm.channel)
    try:
        with pytest.raises(DeviceError, match=r"expected VMAX 10 of motor 1, got 45"):
            DamiaoFollower(config, load_robot("yam"), clock).open()
    finally:
        arm.end()


@pytest.mark.usefixtures("other_program")
def test_another_program_on_the_bus_is_refused(config, robot, clock):
    with pytest.raises(DeviceError, match="commands of another program for motor 3"):
        DamiaoFollower(config, robot, clock).open()


def test_another_program_while_it_runs_is_a_stop(arm, follower, clock):
    arm.do("rogue", joint=3)

    state = cycle(follower, clock, until="another program")

    assert "another program commands motor 3" in state.stop_reason


@pytest.mark.usefixtures("follower")
def test_a_second_session_on_the_channel_is_refused(config, robot, clock):
    with pytest.raises(DeviceError, match="another process of ours commands"):
        DamiaoFollower(config, robot, clock).open()


def test_a_time_out_of_the_motors_is_set_and_gravity_is_carried(arm, follower, clock):
    q = cycle(follower, clock, time=0.2).q

    record = arm.read()
    assert np.abs(record.tau_ff[-1][:7]).max() > 2.0
    has_torque = [flags == "1" * 8 for flags in record.statuses]
    assert np.abs(record.q[has_torque] - record.q[0])[:, :7].max() < 0.02
    assert np.abs(q - load_robot("openarm").home)[:7].max() < 0.02
    arm.do("cable")
    time.sleep(0.6)
    assert set(arm.read().statuses[-1]) == {"d"}


def test_torque_stays_bounded_where_the_arm_is_pushed_away(arm, follower, clock):
    q = cycle(follower, clock, time=0.1).q
    arm.do("push", joint=1, torque=25.0, time=0.4)
    cycle(follower, clock, q, time=0.4)

    record = arm.read()
    spring = record.kp[-1, 0] * np.abs(record.q_des[1:, 0] - record.q_des[0, 0])
    assert np.abs(record.q[:, 0] - record.q[0, 0]).max() > 0.3, "it was pushed"
    assert spring.max() > 5.0, "the goal gave way"
    fastest = np.abs(record.dq[:, 0]).max()
    assert np.abs(record.tau[:, 0]).max() < 20.0 + 2.75 * fastest + 3.0


def test_it_is_left_sinking_slowly_and_braked(arm, robot, clock):
    slow = DamiaoConfig(
        model="openarm", interface="emucan", channel=arm.channel, descent=1.0
    )
    follower = DamiaoFollower(slow, robot, clock)
    follower.open()
    cycle(follower, clock, time=0.1)
    at_ns = clock()

    follower.close("hold")
    closed_ns = clock()
    time.sleep(1.2)

    record = arm.read()
    sinking = (record.state_stamps > at_ns) & (record.state_stamps < closed_ns)
    braked = record.state_stamps > closed_ns
    assert 0.05 < np.abs(record.dq[sinking][:, :7]).max() < 0.8
    assert np.abs(record.dq[braked][:, :4]).max() < 3.0
    assert set(record.statuses[-1]) == {"d"}


def test_warm_motors_are_told_again_as_they_get_warmer(arm, follower, clock):
    arm.do("warm", joint=6, temperature=75.0)
    cycle(follower, clock, time=0.1)
    assert ["motor 6 has 7" in text for text in follower.take_warnings()] == [True]
    assert follower.take_warnings() == []


def test_garbage_is_no_measurement(arm, follower, clock):
    q = cycle(follower, clock, time=0.1).q
    arm.do("garbage")

    state = cycle(follower, clock, q, time=0.3)

    is_old = clock() - state.stamp_ns > 0.02e9
    assert is_old or state.stop_reason or np.abs(state.q - q).max() < 0.1


@pytest.mark.parametrize("q_cmd", [np.zeros(3), np.full(8, np.nan)])
def test_a_target_of_another_shape_is_refused(follower, q_cmd):
    with pytest.raises(CommandError, match="expected 8 finite positions"):
        follower.write(q_cmd)


def test_a_robot_of_other_limbs_is_refused_before_anything_is_opened(arm, clock):
    config = DamiaoConfig(model="yam", interface="emucan", channel=arm.channel)
    follower = DamiaoFollower(config, load_robot("openarm"), clock)

    assert "expected limbs of 6 joints" in follower.preflight()[0]
    with pytest.raises(DeviceError, match="expected limbs of 6 joints"):
        follower.open()


def test_the_doctor_finds_what_is_wrong_and_writes_nothing(arm, config, robot, clock):
    follower = DamiaoFollower(config, robot, clock)
    assert [is_well for is_well, _ in follower.diagnose()] == [True]

    arm.do("under_voltage", joint=2)
    arm.do("disable", joint=3)
    found = list(follower.diagnose())

    assert [is_well for is_well, _ in found] == [False]
    assert "motor 2: under-voltage (9)" in found[0][1]
    assert not arm.read().specials
