"""Stops and losses of an xArm are named, and it is sent nothing after them."""

import dataclasses
import time

import numpy as np
import pytest
from cells import spread
from piper_rig import load
from xarm_rig import EmulatedXArm, count_targets, wait_until

from paprle.contracts.errors import CommandError, DeviceError
from paprle.followers.xarm.config import XArmConfig
from paprle.followers.xarm.follower import XArmFollower
from paprle_emulators.xarm.protocol import Register

pytestmark = pytest.mark.process
HOME = "0,-0.2007,0,0.8064,0,1.0069,0"
IN_FLIGHT = 60_000_000  # [ns] until the box's word has come


def run(follower, clock, q=None, *, until="", time_s=1.5):
    """Write q, or where the arm was, for a time or until there is that reason."""
    state = follower.read()
    held = state.q if q is None else q
    end = time.monotonic() + time_s
    while time.monotonic() < end:
        state = follower.read()
        if until and until in state.stop_reason:
            break
        follower.write(held)
        clock.advance(0.005)
    return state


STOPS = {
    "estop": ({}, "emergency stop (C1 emergency stop button); release it"),
    "collision": ({}, "protective stop (C31 collision"),
    "self_collision": ({}, "C22 self-collision"),
    "boundary": ({}, "C35 safety boundary"),
    "over_temperature": ({"joint": 3}, "joint 3: S15 joint overheat"),
    "teach": ({}, "local control (state 2, mode 2)"),
    "pause": ({}, "its program is paused"),
    "disable": ({"joint": 2}, "local control (state 4"),
}


@pytest.mark.parametrize(
    "fault", spread(STOPS, "estop", "collision", "pause", "disable")
)
def test_a_stop_is_explained_and_nothing_moves_after_it(follower, clock, arm, fault):
    arguments, words = STOPS[fault]
    run(follower, clock, time_s=0.1)
    goal = follower.read().q + 0.02

    at_ns = arm.do(fault, **arguments)
    state = run(follower, clock, goal, until=words)
    assert words in state.stop_reason
    run(follower, clock, goal, time_s=0.3)

    record = arm.read()
    late = record.state_stamps > at_ns + IN_FLIGHT
    assert np.ptp(record.q[late], axis=0).max() < 1e-3
    last_ns = record.state_stamps[-1]
    assert count_targets(record, at_ns + 4 * IN_FLIGHT, last_ns) == 0
    sent = record.registers[record.register_stamps > at_ns]
    assert not set(sent) & {Register.ENABLE, Register.SET_MODE, Register.CLEAN_ERROR}


def test_a_pause_is_named_as_such_after_the_driver_has_ended_it(follower, clock, arm):
    run(follower, clock, time_s=0.1)
    at_ns = arm.do("pause")
    run(follower, clock, time_s=0.5)

    record = arm.read()
    assert Register.SET_STATE in record.registers[record.register_stamps > at_ns]
    assert "its program is paused" in follower.read().stop_reason
    arm.do("teach")
    assert "local control" in run(follower, clock, until="local").stop_reason


def test_an_ended_stop_starts_nothing_until_the_session_does(
    follower, clock, arm, config, robot
):
    run(follower, clock, time_s=0.1)
    at_ns = arm.do("estop")
    run(follower, clock, until="C1")
    arm.do("release")
    state = run(follower, clock, follower.read().q + 0.3, time_s=0.3)

    assert state.stop_reason
    last_ns = arm.read().state_stamps[-1]
    assert count_targets(arm.read(), at_ns + 4 * IN_FLIGHT, last_ns) == 0
    follower.close("hold")
    again = XArmFollower(config, robot, clock)
    with pytest.raises(DeviceError, match="C1 emergency stop button.*Studio"):
        again.open()


def test_a_cable_that_was_out_brings_no_old_target(follower, clock, arm):
    q = run(follower, clock, time_s=0.1).q.copy()

    at_ns = arm.do("cable", time=1.2)
    for _ in range(160):
        q += 0.005
        follower.read()
        follower.write(q)
        clock.advance(0.005)
    state = run(follower, clock, q, until="connection lost", time_s=3.0)
    time.sleep(1.0)

    assert "connection lost" in state.stop_reason
    record = arm.read()
    assert count_targets(record, at_ns + 20_000_000, record.state_stamps[-1]) == 0
    late = record.state_stamps > at_ns + IN_FLIGHT
    assert np.ptp(record.q[late], axis=0).max() < 1e-3


@pytest.mark.timed
@pytest.mark.parametrize("fault", ["silence", "stuck"])
def test_states_that_do_not_come_are_as_old_as_they_are(follower, clock, arm, fault):
    run(follower, clock, time_s=0.1)

    arm.do(fault, time=0.4)
    time.sleep(0.3)
    age = clock() - follower.read().stamp_ns
    run(follower, clock, time_s=0.5)

    assert age > 0.25e9
    assert clock() - follower.read().stamp_ns < 0.1e9


def test_noise_for_reports_is_a_lost_connection(follower, clock, arm):
    arm.do("garbage")

    state = run(follower, clock, until="connection lost")

    assert "got noise" in state.stop_reason


def test_a_box_without_power_is_gone(follower, clock, arm):
    arm.do("power_off")
    time.sleep(0.1)
    assert clock() - follower.read().stamp_ns > 0.09e9

    arm.do("power_on")
    state = run(follower, clock, until="connection lost")

    assert "connection lost" in state.stop_reason
    assert not arm.read().flags[-1, 3]


def test_a_gripper_follows_and_feels_an_object(follower, clock, arm):
    arm.do("block", at=400)
    q = follower.read().q.copy()
    assert q[-1] == pytest.approx(0.0425, abs=1e-3)
    for _ in range(200):
        q[-1] = max(0.0, q[-1] - 0.0004)
        follower.read()
        follower.write(q)
        clock.advance(0.005)

    wait_until(lambda: abs(follower.read().q[-1] - 0.02) < 1e-3)
    assert arm.read().gripper[-1] == pytest.approx(400, abs=2)
    arm.do("gripper", code=11)
    wait_until(lambda: "gripper" in follower.read().stop_reason)


def test_a_push_is_felt_at_its_joint(follower, clock, arm):
    before = run(follower, clock, time_s=0.2).tau.copy()

    arm.do("lean", joint=2, torque=8.0)
    after = run(follower, clock, time_s=0.2).tau

    assert after - before == pytest.approx([0, -8, 0, 0, 0, 0, 0, 0], abs=0.3)


def test_leaving_holds_and_off_brakes(follower, arm):
    follower.close("off")
    wait_until(lambda: not arm.read().flags[-1, 3])


def test_wrong_commands_are_refused(follower):
    with pytest.raises(CommandError, match="expected 8 finite positions"):
        follower.write(np.full(8, np.nan))


def test_warm_joints_are_told_once(follower, arm):
    arm.do("warm", joint=4, temperature=72)
    wait_until(lambda: max(follower._arms[0][1].details.temperatures) == 72)

    assert follower.take_warnings() == ["arm: joint4 has 72 [°C]; let it rest"]
    assert follower.take_warnings() == []


def test_another_model_is_refused_before_it_has_power(arm, clock, config):
    follower = XArmFollower(config, load("xarm6"), clock)

    with pytest.raises(DeviceError, match="expected an arm of 6 joints.*got 7"):
        follower.open()

    assert not arm.read().flags[:, 3].any()


def test_the_doctor_moves_nothing_and_finds_what_is_wrong(tmp_path, robot, clock):
    arm = EmulatedXArm(tmp_path, q=HOME)
    try:
        follower = XArmFollower(XArmConfig(host=arm.host), robot, clock)
        findings = list(follower.diagnose())
        assert [well for well, _ in findings] == [True, True]
        assert "type 7, firmware 2.5.0" in findings[0][1]
        arm.do("collision")
        findings = list(follower.diagnose())
        assert [well for well, _ in findings] == [True, False]
        assert "C31" in findings[1][1]
        other = dataclasses.replace(robot, name="lite6")
        assert not XArmFollower(follower.config, other, clock).preflight()
        texts = [
            text
            for well, text in XArmFollower(follower.config, other, clock).diagnose()
            if not well
        ]
        assert "expected the control box of 'lite6', got one of xarm7" in texts[0]
        assert not arm.read().flags[:, 3].any()
    finally:
        arm.end()


def test_an_address_without_a_box_is_named(robot, clock, config):
    nowhere = dataclasses.replace(config, host="127.99.99.99")

    with pytest.raises(DeviceError, match="expected a control box at port 502"):
        XArmFollower(nowhere, robot, clock).open()
    (finding,) = XArmFollower(nowhere, robot, clock).diagnose()
    assert not finding[0]
