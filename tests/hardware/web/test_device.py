"""All hands of a device, from messages that may have waited on their way."""

from __future__ import annotations

import numpy as np
import pytest

from paprle.hardware.web.device import WebDevice
from paprle.hardware.web.messages import ClockMessage, HandMessage, SampleMessage
from paprle.testing import ManualClock

SKEW = 7.0  # [s]


class Page:
    """A page whose clock is known."""

    def __init__(self):
        self.clock = ManualClock()
        self.device = WebDevice(("hand",), self.clock)
        self.device.begin(self)
        self.seq, self.press, self.y = 0, 1, 0.0
        number = self.device.clock.ask(self.clock())
        self.clock.advance(0.01)
        t = (self.clock() * 1e-9 + SKEW) * 1e3
        self.device.accept(ClockMessage(type="clock", id=number, t=t))

    def make(self):
        self.seq += 1
        hand = HandMessage(
            p=(0.0, self.y, 0.0), q=(0.0, 0.0, 0.0, 1.0), tracked=True, held=True,
            press=self.press,
        )  # fmt: skip
        t = (self.clock() * 1e-9 + SKEW) * 1e3
        return SampleMessage(type="sample", seq=self.seq, t=t, limbs={"hand": hand})

    def say(self, age=0.0):
        message = self.make()
        self.clock.advance(age)
        self.device.accept(message)
        return self.device.state


@pytest.fixture
def page():
    made = Page()
    made.say()
    return made


def test_a_stamp_is_when_the_hand_was_there(page):
    before = page.clock()
    state = page.say(age=0.04)

    assert state.stamp_ns == pytest.approx(before, abs=1e7)
    assert state.is_held


def test_stored_messages_let_go_although_they_come_in_time(page):
    """A radio that has stored half a second of messages brings one every 16 ms."""
    stored = []
    for _ in range(30):
        page.y += 1e-3
        page.clock.advance(1 / 60)
        stored.append(page.make())
    tracked = []
    for message in stored:
        page.device.accept(message)
        page.clock.advance(1 / 60)
        tracked.append(page.device.state.is_tracked)
    assert not any(tracked), "its dead-man would be half a second late"
    assert page.device.refused["late"] == 30

    assert page.say().is_tracked
    p = page.device.state.hands["hand"].p
    state = page.say()
    assert state.is_held
    np.testing.assert_array_equal(state.hands["hand"].p, p)


def test_without_a_known_clock_arrival_counts():
    page = Page()
    page.device.begin(page)
    page.device.clock = type(page.device.clock)()

    assert page.say(age=2.0).is_held
    assert page.device.state.stamp_ns == page.clock()
