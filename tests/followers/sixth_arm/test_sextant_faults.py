"""Stops and losses of a sixth maker's arm are named, and nothing moves after them."""

import dataclasses
import time

import numpy as np
import pytest
from paprle_sextant.follower import SextantFollower

from paprle.contracts.errors import DeviceError

pytestmark = pytest.mark.process
RATE = 200.0  # [Hz]
IN_FLIGHT = 100_000_000  # [ns] until a stop has come and the arm stands

STOPS = {
    "collision": ("protective stop (error 21, collision); clear its way", ["reset"]),
    "drive": ("fault (error 51, drive); call the maker's service", ["reset"]),
    "estop": ("emergency stop; release the button", ["release", "switch_on"]),
}


def drive(follower, clock, time_s=0.3):
    """Move the first joint, and stop in the middle of it; return the last goal."""
    q = follower.read().q.copy()
    for _ in range(int(time_s * RATE)):
        q = q + 0.3 / RATE * np.eye(6)[0]
        follower.read()
        follower.write(q)
        clock.advance(1 / RATE)
    return q


def check_rest(arm, after_ns):
    """Check that no joint moved after a time; return the journal."""
    time.sleep(0.05)
    record = arm.read()
    before = record.state_stamps < after_ns - 2 * IN_FLIGHT
    assert np.abs(record.dq[before]).max() > 0.2, "it did not move before"
    late = record.state_stamps > after_ns
    assert late.sum() > 5
    assert np.abs(record.dq[late]).max() < 0.02
    return record


@pytest.mark.parametrize("stop", STOPS)
def test_a_stop_has_its_remedy_and_nothing_moves_until_it_is_asked_to(
    arm, follower, clock, cycle, stop
):
    words, undo = STOPS[stop]
    goal = drive(follower, clock)
    at_ns = arm.do(stop)

    state = cycle(follower, goal + 0.2, until=lambda s: words in s.stop_reason)
    assert words in state.stop_reason
    for order in undo:
        cycle(follower, goal + 0.2, time_s=0.1)
        arm.do(order)
    state = cycle(follower, goal + 0.2, until=lambda s: not s.stop_reason, time_s=4.0)
    assert not state.stop_reason, "it can be driven again"
    cycle(follower, goal + 0.2, time_s=0.2)
    check_rest(arm, at_ns + 2 * IN_FLIGHT)

    q = follower.read().q
    state = cycle(follower, q + 0.03, time_s=0.4)
    assert np.abs(state.q - q - 0.03).max() < 5e-3


def test_a_program_that_waits_in_a_stop_is_ended_before_it_can_go_on(
    arm, follower, clock, cycle
):
    goal = drive(follower, clock)
    arm.do("collision")
    cycle(follower, goal, until=lambda s: s.stop_reason)
    cycle(follower, goal, time_s=0.2)

    at_ns = arm.do("reset")
    clock.advance(0.05)

    record = arm.read()
    assert record.flags[record.state_stamps > at_ns][0, 0] == 1, "ready, not running"


def test_a_cable_that_is_out_is_an_old_state_then_a_lost_connection(
    arm, follower, clock, cycle
):
    goal = drive(follower, clock)
    at_ns = arm.do("cable")
    cycle(follower, goal, time_s=0.2)
    assert clock() - follower.read().stamp_ns > 0.15e9

    state = cycle(follower, goal, until=lambda s: s.stop_reason, time_s=2.0)

    assert "connection lost; look at its cable" in state.stop_reason
    record = check_rest(arm, at_ns + 0.5e9)
    assert "watchdog" in [text for _, text in record.events]


def test_states_that_do_not_come_are_a_lost_connection_though_calls_are_answered(
    arm, follower, clock, cycle
):
    goal = drive(follower, clock)
    arm.do("silence")

    state = cycle(follower, goal, until=lambda s: s.stop_reason, time_s=3.0)

    assert "connection lost" in state.stop_reason
    assert clock() - state.stamp_ns > 0.9e9


def test_goals_that_waited_for_the_cable_are_not_sent(arm, follower, clock, cycle):
    goal = drive(follower, clock)
    at_ns = arm.do("cable", time=0.4)
    cycle(follower, goal + 0.2, time_s=0.8)

    record = check_rest(arm, at_ns + 0.4e9)
    late = (record.stamps > at_ns + 0.4e9) & (record.stamps < at_ns + 0.8e9)
    assert np.abs(record.goals[late] - goal).max(initial=0.0) < 0.1


def test_states_that_wait_in_a_late_network_are_as_old_as_they_are(
    arm, follower, clock, cycle
):
    cycle(follower, time_s=0.2)
    arm.do("late", delay=0.08)

    cycle(follower, time_s=0.3)

    assert clock() - follower.read().stamp_ns > 0.06e9


def test_silence_ends_the_program_and_the_arm_holds(arm, follower, clock):
    drive(follower, clock)
    begin = clock()
    clock.advance(0.5)
    state = follower.read()

    assert "its program does not run" in state.stop_reason
    assert np.abs(state.q_held - state.q).max() < 1e-6
    record = arm.read()
    ended = [at for at, text in record.events if text == "watchdog" and at > begin]
    assert ended[0] - begin == pytest.approx(0.2e9, abs=0.1e9)
    check_rest(arm, begin + 0.3e9)


def test_a_payload_reaches_the_controller(arm, config, robot, clock):
    config = dataclasses.replace(config, payload=1.2, payload_centre=(0.0, 0.01, 0.05))
    follower = SextantFollower(config, robot, clock)
    follower.open()
    follower.close("off")

    assert "load 1.2 0 0.01 0.05" in [text for _, text in arm.read().events]


def test_a_push_and_the_slider_are_read(arm, follower, cycle):
    arm.do("lean", joint=2, torque=4.0)
    arm.do("slider", fraction=0.0)

    state = cycle(follower, until=lambda s: s.stop_reason)

    assert state.tau[1] == 4.0
    assert "speed slider at 0 %" in state.stop_reason


def test_power_lost_is_told_and_can_be_left(arm, follower, cycle):
    arm.do("power_off")
    state = cycle(follower, until=lambda s: s.stop_reason)
    assert "connection lost" in state.stop_reason


def test_an_arm_in_a_stop_is_refused_with_the_remedy(make_arm, tmp_path, robot, clock):
    with make_arm(tmp_path, fault='{"fault": "collision"}') as arm:
        follower = make_follower(arm.host, robot, clock)
        found = dict(follower.diagnose())
        assert "clear its way, then press Reset" in found[False]
        with pytest.raises(DeviceError, match="clear its way, then press Reset"):
            follower.open()


def test_another_model_and_an_address_without_an_arm_are_refused(
    make_arm, tmp_path, robot, clock
):
    with make_arm(tmp_path, model="S4") as arm:
        follower = make_follower(arm.host, robot, clock)
        with pytest.raises(DeviceError, match="expected the controller of an S6"):
            follower.open()
    with pytest.raises(DeviceError, match="expected a controller, got: .*refused"):
        follower.open()


def make_follower(host, robot, clock):
    from paprle_sextant.config import SextantConfig  # noqa: PLC0415

    return SextantFollower(SextantConfig(host=host), robot, clock)
