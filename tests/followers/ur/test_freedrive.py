"""A UR that a hand leads while a button at it is pressed, through the real ur_rtde."""

import numpy as np
import pytest
from ur_rig import cycle, find_speeds

from paprle.followers.ur.config import UrConfig
from paprle.followers.ur.follower import UrFollower

pytestmark = [pytest.mark.process, pytest.mark.long]
BUTTON = 16  # the tool's first input
HELD = "a hand pushes, the arm holds"
LED = "led by hand; let go of its button"


@pytest.fixture
def config(arm):
    return UrConfig(host=arm.host, rate=250.0, freedrive_input=BUTTON)


@pytest.fixture
def follower(follower, clock):
    cycle(follower, clock, time_s=0.2)  # it has seen the button let go
    return follower


def press(arm, follower, clock, q, *, is_on):
    """Press or let go of the button, while a gate goes on to command q."""
    at_ns = arm.do("input", number=BUTTON, is_on=is_on)
    wanted = LED if is_on else ""
    state = cycle(
        follower, clock, q, until=lambda s: s.stop_reason.startswith(LED) == is_on,
        time_s=2.0,
    )  # fmt: skip
    assert state.stop_reason.startswith(wanted)
    return at_ns


def list_events(arm, words):
    return [at for at, text in arm.read().events if text == words]


def wait_for_event(arm, follower, clock, q, words):
    cycle(follower, clock, q, until=lambda _: list_events(arm, words), time_s=3.0)
    assert list_events(arm, words)


def free(arm, follower, clock):
    """Press the button; return where the arm stood."""
    begin = follower.read().q.copy()
    press(arm, follower, clock, begin, is_on=True)
    wait_for_event(arm, follower, clock, begin, "teach mode")
    return begin


def lead(arm, follower, clock, q, by):
    arm.do("lead", joint=1, by=by, time=0.3)
    return cycle(follower, clock, q, time_s=0.45)


@pytest.mark.parametrize("by", [0.2, 0.03])
def test_a_hand_leads_it_and_it_goes_on_from_there_without_a_jump(
    arm, follower, clock, by
):
    begin = free(arm, follower, clock)
    state = lead(arm, follower, clock, begin, by)
    assert state.q[0] - begin[0] == pytest.approx(by, abs=1e-3)
    assert np.abs(state.q_held - state.q).max() < 1e-3

    at_ns = press(arm, follower, clock, begin, is_on=False)
    cycle(follower, clock, begin, time_s=0.4)
    led = follower.read()
    assert led.stop_reason == ""
    assert np.abs(led.q_held - led.q).max() < 1e-6, "it holds where it was left"
    cycle(follower, clock, led.q, time_s=0.1)
    state = cycle(follower, clock, led.q + 0.03, time_s=0.6)
    assert np.abs(state.q - led.q - 0.03).max() < 5e-3, "asked from there, it moves"

    record = arm.read()
    ended = list_events(arm, "end of teach mode")[0]
    first = record.stamps[record.stamps > ended]
    assert len(list_events(arm, "end of teach mode")) == 1
    assert first.size
    assert not ((record.stamps > at_ns) & (record.stamps < ended)).any()
    between = (record.state_stamps > ended) & (record.state_stamps < first[0])
    assert find_speeds(record)[between].max() < 0.01, "leaving it moves nothing"
    assert np.abs(record.goals[record.stamps > ended] - begin)[:, 0].min() > 0.9 * by


def test_a_button_pressed_in_motion_stops_it_first(arm, follower, clock):
    q = follower.read().q.copy()
    for _ in range(75):
        q = q + 0.3 / 250 * np.eye(6)[0]
        follower.read()
        follower.write(q)
        clock.advance(1 / 250)
    press(arm, follower, clock, q, is_on=True)
    wait_for_event(arm, follower, clock, q, "teach mode")
    cycle(follower, clock, q + 0.5, time_s=0.6)

    record = arm.read()
    (began,) = list_events(arm, "teach mode")
    before = (record.state_stamps > began - 0.1e9) & (record.state_stamps < began)
    assert find_speeds(record)[before].max() < 0.01
    assert not [text for _, text in record.events if "exception" in text]


def test_a_protective_stop_ends_it_and_a_held_button_does_not_free_it_again(
    arm, follower, clock
):
    begin = free(arm, follower, clock)
    arm.do("protective_stop", reason="C153A0: position deviates")
    state = cycle(
        follower, clock, until=lambda s: "C153A0" in s.stop_reason, time_s=2.0
    )
    assert state.stop_reason.startswith("protective stop (C153A0")
    cycle(follower, clock, time_s=0.6)
    arm.do("unlock")
    state = cycle(follower, clock, until=lambda s: not s.stop_reason, time_s=6.0)
    assert state.stop_reason == ""
    state = lead(arm, follower, clock, begin, 0.2)

    assert state.stop_reason == ""
    assert len(list_events(arm, "teach mode")) == 1
    assert list_events(arm, HELD)


def test_a_silent_computer_leaves_it_not_free(arm, follower, clock):
    free(arm, follower, clock)
    clock.advance(0.8)  # nobody reads

    assert any("watchdog" in text for _, text in arm.read().events)
    arm.do("lead", joint=1, by=0.1, time=0.1)
    clock.advance(0.1)
    assert list_events(arm, HELD)


def test_without_the_setting_a_button_does_nothing(arm, robot, clock):
    follower = UrFollower(UrConfig(host=arm.host, rate=250.0), robot, clock)
    follower.open()
    cycle(follower, clock, time_s=0.2)
    arm.do("input", number=BUTTON, is_on=True)
    state = cycle(follower, clock, time_s=0.4)
    follower.close("hold")

    assert state.stop_reason == ""
    assert not list_events(arm, "teach mode")
