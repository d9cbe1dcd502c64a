"""An arm of a bus and a Robotiq beside it, driven as one robot."""

from __future__ import annotations

import time

import pytest
from robotiq_hand import STROKE, read_events

from paprle.contracts.errors import DeviceError

pytestmark = [pytest.mark.process, pytest.mark.timed]

SPEED = 0.3  # [rad/s] of the first joint
PERIOD = 0.005  # [s]
NEAR = 0.03  # [rad] lags and steps of servos
OBJECT = 0.03  # [m]
ENABLE = 0xFC  # spec: docs/damiao.md, the last byte of a motor that gets torque


@pytest.fixture
def opened(side):
    side.follower.open()
    return side


def test_the_arm_goes_where_it_is_told_and_the_gripper_closes_on_an_object(opened):
    follower, finger = opened.follower, opened.finger
    opened.hand.order({"fault": "gripper_object", "opening": OBJECT})
    begin = follower.read().q.copy()
    q, hand = begin.copy(), follower.robot.limbs[0].gripper
    for _ in range(60):
        q[0] += SPEED * PERIOD
        opened.cycle(q, time_s=PERIOD)
    q[finger] = hand.closed

    state = opened.cycle(q, time_s=2.0)

    assert state.stop_reason == ""
    assert state.q[0] == pytest.approx(q[0], abs=NEAR)
    width = STROKE * hand.measure(float(state.q[finger]))
    assert width == pytest.approx(OBJECT, abs=2e-3)
    if state.tau is not None:
        assert state.tau[finger] == pytest.approx(-63.0)


def test_a_dead_gripper_line_is_a_stop_and_the_arm_brakes_as_it_is_told(
    opened, monkeypatch
):
    follower = opened.follower
    q, speed = follower.read().q.copy(), SPEED
    opened.hand.order({"fault": "unplug"})
    for _ in range(400):
        q[0] += speed * PERIOD
        state = opened.cycle(q, time_s=PERIOD)
        if state.stop_reason:
            break
    assert state.stop_reason.startswith("gripper: ")

    longest, before = 0.0, state.stamp_ns
    for _ in range(60):  # as a gate brakes, and holds
        speed *= 0.9
        q[0] += speed * PERIOD
        begin = time.perf_counter()
        state = follower.read()
        follower.write(q)
        longest = max(longest, time.perf_counter() - begin)
        opened.clock.advance(PERIOD)
    state = opened.cycle(q, time_s=0.4)

    assert longest < 0.05, "nothing waits for the line"  # [s] a busy machine
    assert state.stamp_ns - before > 0.5e9, "states stay new"
    assert state.q[0] == pytest.approx(q[0], abs=NEAR)
    assert state.stop_reason.startswith("gripper: ")

    left, close = [], follower._grippers.close

    def close_grippers():
        with pytest.raises(DeviceError, match="open"):
            follower.read()
        left.append("arm")
        close()

    monkeypatch.setattr(follower._grippers, "close", close_grippers)
    follower.close("hold")
    assert left == ["arm"], "before the wait for its thread"


def test_a_line_that_comes_back_ends_the_stop(opened):
    q = opened.follower.read().q.copy()
    opened.hand.order({"fault": "unplug"})
    opened.cycle(q, until=lambda state: state.stop_reason, time_s=2.0)

    opened.hand.order({"fault": "replug"})
    state = opened.cycle(q, until=lambda state: not state.stop_reason, time_s=3.0)

    assert state.stop_reason == ""


@pytest.mark.parametrize("activates", [False])
@pytest.mark.parametrize("env", ["damiao"], indirect=True)
def test_a_gripper_that_is_not_ready_leaves_the_arm_without_torque(side):
    with pytest.raises(DeviceError, match="env.robotiq.activates=true"):
        side.follower.open()

    record = side.arm.read()
    assert not [one for one in record.specials if one[2] == ENABLE]
    assert not [text for _, text in read_events(side.hand_log) if "activ" in text]


@pytest.mark.parametrize("activates", [False])
def test_the_doctor_examines_arm_and_gripper_without_motion(side):
    found = list(side.follower.diagnose())

    assert [text for is_well, text in found if not is_well and "activate it" in text]
    assert len(found) > 1
    assert not [text for _, text in read_events(side.hand_log) if "activation" in text]
