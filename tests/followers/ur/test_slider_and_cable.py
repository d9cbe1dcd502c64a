"""A moving UR whose slider changes, or whose cable is pulled; judged at the robot."""

import numpy as np
import pytest
from ur_rig import cycle, find_speeds

pytestmark = [pytest.mark.process, pytest.mark.long, pytest.mark.timed]
SPEED = 0.2  # [rad/s]
RATE = 250.0
CYCLE = 0.002  # [s] of the controller
OLD_NS = 100_000_000  # [ns] of a reading, at which a gate stops
SLACK = 1.1  # of the emulator's own stop, 10 rad/s²
WINDOW = 5  # [cycles] over which accelerations are judged
MOST_CATCHING_UP = 2.0  # of the speed, while what was missed is caught up


def drive(follower, clock, q, seconds, speed=SPEED):
    """Move all joints; return the last goal and all states."""
    q, states = q.copy(), []
    for _ in range(round(seconds * RATE)):
        q = q + speed / RATE
        states.append(follower.read())
        follower.write(q)
        clock.advance(1.0 / RATE)
    return q, states


def find_accelerations(record):
    """Return ddq of all joints from the journal, over a window of its cycles."""
    return (record.dq[WINDOW:] - record.dq[:-WINDOW]) / (WINDOW * CYCLE)


def test_a_slider_that_goes_down_and_up_in_motion_makes_no_jump(
    arm, follower, robot, clock
):
    q, _ = drive(follower, clock, follower.read().q, 0.5)
    arm.do("slider", fraction=0.3)
    q, slow = drive(follower, clock, q, 0.8)
    arm.do("slider", fraction=1.0)
    q, _ = drive(follower, clock, q, 0.8)
    state = cycle(follower, clock, q, time_s=0.4)

    record = arm.read()
    assert np.abs(state.q - q).max() < 1e-3, "it arrives"
    assert state.stop_reason == ""
    assert all(one.stop_reason == "" for one in slow)
    (told,) = follower.take_warnings()
    assert "slider is at 30%" in told
    assert np.abs(record.dq).max() < MOST_CATCHING_UP * SPEED
    assert np.abs(find_accelerations(record)).max() < robot.ddq_max.max()
    assert record.q.max(axis=0) == pytest.approx(q, abs=2e-3), "it does not overshoot"
    assert set(record.modes[:, 1]) == {1}


@pytest.mark.parametrize("cut", [0.3, 1.0])
def test_a_cable_pulled_in_motion_ends_at_rest_until_it_is_asked_again(
    arm, follower, robot, clock, cut
):
    q, _ = drive(follower, clock, follower.read().q, 0.4)
    at_ns = arm.do("unplug", time=cut)
    end, reports = clock() + round(1e9 * (cut + 3.0)), []
    while clock() < end:  # as a gate does: on until it is reported, then no further
        state = follower.read()
        is_old = clock() - state.stamp_ns > OLD_NS
        reports += [state.stop_reason or "old"] if state.stop_reason or is_old else []
        q = q + (0.0 if reports else SPEED / RATE)
        follower.write(q + 0.5 if reports else q)
        clock.advance(1.0 / RATE)

    record = arm.read()
    (ended,) = (at for at, text in record.events if "watchdog" in text)
    assert ended - at_ns == pytest.approx(0.2e9, abs=0.1e9)
    assert any("its program does not run" in one for one in reports), set(reports)
    assert find_speeds(record)[record.state_stamps > ended + 0.3e9].max() < 0.01
    assert np.abs(find_accelerations(record)).max() < robot.ddq_max.max() * SLACK
    assert follower.read().stop_reason == "", "it may be asked again"
    here = follower.read().q
    state = cycle(follower, clock, here + 0.03, time_s=0.6)
    assert np.abs(state.q - here - 0.03).max() < 5e-3
