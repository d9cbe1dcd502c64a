"""Pinches that end an episode: held, by all hands, and never by accident."""

from __future__ import annotations

import numpy as np
import pytest

from paprle.hardware.web.end_sign import APART, HOLD_NS, PINCHED, EndSign
from paprle.hardware.web.hand import HandReading

TICK = 11_000_000  # [ns]


def hand(gap, held=False, tracked=True):
    return HandReading(
        np.zeros(3), np.array([0, 0, 0, 1.0]), tracked, held, 1, 0.0, gap=gap
    )


class Person:
    """Somebody whose hands do things for a while."""

    def __init__(self):
        self.sign, self.now_ns = EndSign(), 10**9

    def do(self, seconds, *hands):
        """Return how far the sign has come at most."""
        most = 0.0
        for _ in range(round(seconds * 1e9 / TICK)):
            self.now_ns += TICK
            self.sign.update(hands, self.now_ns)
            most = max(most, self.sign.share)
        return most


@pytest.fixture
def person():
    person = Person()
    person.do(0.5, hand(0.1), hand(0.1))
    return person


def test_both_hands_pinch_for_three_seconds_and_not_less(person):
    assert person.do(HOLD_NS * 1e-9 - 0.05, hand(0.01), hand(0.01)) < 1.0
    assert person.do(0.1, hand(0.01), hand(0.01)) == 1.0


def test_a_hand_alone_is_enough_where_there_is_one():
    person = Person()
    person.do(0.5, hand(0.1))
    assert person.do(3.1, hand(0.01)) == 1.0


@pytest.mark.parametrize(
    "other",
    [hand(0.1), hand(None), hand(0.01, held=True), hand(0.01, tracked=False)],
    ids=["open", "a controller", "grips", "out of sight"],
)
def test_one_hand_of_two_ends_nothing(person, other):
    assert person.do(4.0, hand(0.01), other) == 0.0


def test_a_pinch_that_ends_in_between_counts_anew(person):
    assert person.do(2.9, hand(0.01), hand(0.01)) > 0.9
    person.do(0.05, hand(1.1 * APART), hand(0.01))
    assert person.do(2.9, hand(0.01), hand(0.01)) < 1.0


def test_between_the_two_gaps_nothing_changes(person):
    between = 0.5 * (PINCHED + APART)
    assert person.do(4.0, hand(between), hand(between)) == 0.0
    person.do(0.1, hand(0.01), hand(0.01))
    assert person.do(3.0, hand(between), hand(between)) == 1.0


def test_a_grip_held_while_driving_ends_nothing(person):
    """Letting go of the grip with thumb and index still closed is a clutch."""
    person.do(1.0, hand(0.01, held=True), hand(0.01, held=True))
    assert person.do(5.0, hand(0.01), hand(0.01)) == 0.0
    person.do(0.1, hand(0.1), hand(0.1))
    assert person.do(3.1, hand(0.01), hand(0.01)) == 1.0


def test_a_silence_is_no_pinch(person):
    person.do(1.0, hand(0.01), hand(0.01))
    person.now_ns += 2_500_000_000
    assert person.do(1.0, hand(0.01), hand(0.01)) < 0.5
