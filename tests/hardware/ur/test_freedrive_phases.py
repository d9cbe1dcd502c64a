"""When an arm is led by hand, by its button alone."""

import pytest

from paprle.hardware.ur.freedrive import Freedrive, Order, Phase

STEP_NS = 10_000_000


class Hand:
    """A button and an arm, by steps of 10 ms."""

    def __init__(self):
        self.drive, self.now = Freedrive(), 0
        self.run(1, is_high=False)

    def run(self, n, *, is_high, is_ready=True, is_still=True):
        orders = []
        for _ in range(n):
            self.now += STEP_NS
            orders.append(
                self.drive.step(
                    self.now, is_high=is_high, is_ready=is_ready, is_still=is_still
                )
            )
        return [order for order in orders if order is not Order.NONE]


@pytest.fixture
def hand():
    return Hand()


def test_it_begins_at_rest_and_ends_at_rest(hand):
    assert hand.run(50, is_high=True, is_still=False) == []
    assert hand.drive.is_active, "goals end at once"
    assert hand.run(50, is_high=True) == [Order.BEGIN]
    assert hand.run(50, is_high=True, is_still=False) == []
    assert hand.run(10, is_high=False, is_still=False) == [Order.END]
    assert hand.drive.phase is Phase.LEFT
    assert hand.run(50, is_high=False) == []
    assert not hand.drive.is_active


def test_a_button_let_go_before_rest_begins_nothing(hand):
    hand.run(10, is_high=True, is_still=False)
    assert hand.run(50, is_high=False) == []
    assert not hand.drive.is_active


def test_a_button_that_was_pressed_before_has_to_be_let_go_first():
    hand = Hand.__new__(Hand)
    hand.drive, hand.now = Freedrive(), 0
    assert hand.run(100, is_high=True) == []
    hand.run(1, is_high=False)
    assert hand.run(100, is_high=True) == [Order.BEGIN]


def test_a_stop_ends_it_and_a_button_held_through_the_stop_does_not_begin_again(hand):
    hand.run(50, is_high=True)
    assert hand.run(10, is_high=True, is_ready=False) == []
    assert not hand.drive.is_active
    assert hand.run(100, is_high=True) == []
    hand.run(1, is_high=False)
    assert hand.run(50, is_high=True) == [Order.BEGIN]
