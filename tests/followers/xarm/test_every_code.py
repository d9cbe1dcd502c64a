"""Each error of the box and of its servos, raised while the arm moves."""

import time

import numpy as np
import pytest
from cells import spread
from piper_rig import RealClock
from xarm_rig import count_targets, wait_until

from paprle.contracts.errors import DeviceError
from paprle.followers.xarm.config import XArmConfig
from paprle.followers.xarm.follower import XArmFollower
from paprle.hardware.xarm.codes import ERRORS, SERVO_ERRORS, explain
from paprle_emulators.xarm.protocol import Register

wrapper = pytest.importorskip("xarm.wrapper")
pytestmark = [pytest.mark.process, pytest.mark.long]

IN_FLIGHT = 60_000_000  # [ns] until the box's word has come
MOVING = 0.05  # [rad/s]
OURS = {Register.ENABLE, Register.SET_MODE, Register.CLEAN_ERROR}


@pytest.fixture
def box(arm):
    return arm


def clear(box):
    api = wrapper.XArmAPI(box.host, enable_report=False)
    assert api.clean_error() == 0
    api.disconnect()


def swing(follower, *, until="", time_s=5.0, begin=None):
    """Move a joint to and fro, until there is that reason; return the last state."""
    q0, start = follower.read().q.copy() if begin is None else begin, time.monotonic()
    while True:
        t = time.monotonic() - start
        state = follower.read()
        if t > time_s or (until and until in state.stop_reason):
            return state
        q = q0.copy()
        q[3] += 0.15 * (1.0 - np.cos(4.0 * t))
        follower.write(q)
        follower.clock.advance(0.005)


def check_a_stop(follower, box, fault, words, remedy):
    """Judge one stop, from a moving arm to one that has been led in vain."""
    swing(follower, time_s=0.3)

    at_ns = box.do(fault.pop("name"), **fault)
    state = swing(follower, until=words, begin=follower.read().q)
    assert words in state.stop_reason
    assert remedy in state.stop_reason
    swing(follower, time_s=0.3)

    record = box.read()
    before = record.state_stamps < at_ns
    assert np.abs(record.dq[before][-100:]).max() > MOVING, "it moved"
    late = record.state_stamps > at_ns + 2 * IN_FLIGHT
    assert np.ptp(record.q[late], axis=0).max() < 1e-3, "it rests"
    last_ns = record.state_stamps[-1]
    assert count_targets(record, at_ns + 4 * IN_FLIGHT, last_ns) == 0
    sent = set(record.registers[record.register_stamps > at_ns].tolist())
    assert not sent & OURS, "nothing is switched on by itself"


@pytest.mark.parametrize("code", spread(ERRORS, 3, 31, 60))
def test_an_error_of_the_box_rests_the_arm_with_its_remedy(follower, box, code):
    _, words, remedy = explain(code)

    check_a_stop(follower, box, {"name": "error", "code": code}, words, remedy)


@pytest.mark.parametrize("code", spread(SERVO_ERRORS, 23))
def test_an_error_of_a_servo_rests_the_arm_and_names_its_joint(follower, box, code):
    joint = 1 + code % 7
    servos = [code if k == joint else 0 for k in range(1, 8)]
    _, words, remedy = explain(10 + joint, servos)
    assert f"joint {joint}: S{code} {SERVO_ERRORS[code]}" in words

    fault = {"name": "servo", "joint": joint, "code": code}
    check_a_stop(follower, box, fault, words, remedy)


def test_a_cleared_error_moves_again_with_the_next_session_alone(box, robot):
    first = XArmFollower(XArmConfig(host=box.host), robot, RealClock())
    first.open()
    box.do("error", code=31)
    swing(first, until="C31")
    clear(box)
    since_ns = box.read().state_stamps[-1]
    swing(first, time_s=0.3)
    record = box.read()
    assert count_targets(record, since_ns, record.state_stamps[-1]) == 0
    first.close("hold")

    second = XArmFollower(XArmConfig(host=box.host), robot, RealClock())
    second.open()
    swing(second, time_s=0.3)
    second.close("hold")

    assert np.abs(box.read().dq[-100:]).max() > MOVING


def test_payload_and_sensitivity_reach_the_box(box, robot):
    config = XArmConfig(
        host=box.host,
        payload=0.82,
        payload_centre=(0.01, 0.0, 0.06),
        collision_sensitivity=4,
    )
    follower = XArmFollower(config, robot, RealClock())
    before = box.read()
    follower.open()
    swing(follower, time_s=0.3)
    follower.close("hold")

    record = box.read()
    taken = record.settings[len(before.settings) :]
    assert [name for _, name, _ in taken] == ["sensitivity", "load"]
    assert record.find_setting("load") == pytest.approx((0.82, 10.0, 0.0, 60.0))
    assert record.find_setting("sensitivity") == (4.0,)
    since = record.state_stamps > before.state_stamps[-1]
    assert np.abs(record.dq[since]).max() > MOVING, "and it moves"


@pytest.mark.parametrize("register", [Register.LOAD, Register.COLLISION])
def test_a_setting_that_the_box_refuses_is_refused(box, robot, register):
    config = XArmConfig(host=box.host, payload=0.82, collision_sensitivity=4)
    follower = XArmFollower(config, robot, RealClock())
    box.do("refuse", register=int(register))
    try:
        with pytest.raises(DeviceError, match="payload and sensitivity taken, got.*10"):
            follower.open()
    finally:
        box.do("none")
    wait_until(lambda: box.read().flags[-1, 1] >= 4)
