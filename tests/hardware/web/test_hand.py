"""What of a hand's motion is passed on, and which presses and losses are counted."""

from __future__ import annotations

import math

import numpy as np
import pytest

from paprle.hardware.web.hand import HandClutch, HandReading, multiply

UNIT = np.array([0.0, 0.0, 0.0, 1.0])
DT = 1 / 60


def turn(axis, angle):
    return np.append(np.sin(angle / 2) * np.asarray(axis, float), np.cos(angle / 2))


class Mover:
    """A hand that sends messages."""

    def __init__(self):
        self.clutch = HandClutch()
        self.press, self.has_deadman = 1, True

    def say(self, p=(0, 0, 0), q=UNIT, *, held=True, tracked=True, **more):
        seen = HandReading(
            np.array(p, float),
            np.array(q, float),
            tracked,
            held,
            self.press,
            None,
            self.has_deadman,
        )
        self.clutch.update(seen, DT, more.get("scale", 1.0), more.get("mode", "all"))
        return self.clutch


@pytest.fixture
def hand():
    made = Mover()
    made.say()
    return made


def test_motion_is_passed_on_and_held(hand):
    clutch = hand.say((0.01, 0.02, -0.01), turn([0, 0, 1], 0.1))

    np.testing.assert_allclose(clutch.p, [0.01, 0.02, -0.01])
    np.testing.assert_allclose(clutch.quat_xyzw, turn([0, 0, 1], 0.1))
    assert clutch.is_held
    assert clutch.is_tracked


def test_loops_close_to_rounding():
    hand, rng = Mover(), np.random.default_rng(0)
    p, q = np.zeros(3), UNIT
    hand.say(p, q)
    path = [(p, q)]
    for _ in range(500):
        p = p + rng.uniform(-0.01, 0.01, 3)
        axis = rng.standard_normal(3)
        q = multiply(turn(axis / np.linalg.norm(axis), rng.uniform(0, 0.1)), q)
        path.append((p, q))
    for p, q in [*path, *path[::-1]]:
        clutch = hand.say(p, -q if rng.random() < 0.5 else q)

    np.testing.assert_allclose(clutch.p, 0, atol=1e-12)
    assert abs(clutch.quat_xyzw[3]) == pytest.approx(1.0, abs=1e-12)


def test_scale_and_mode_change_between_presses_alone(hand):
    clutch = hand.say((0.01, 0, 0), scale=0.5)
    np.testing.assert_allclose(clutch.p, [0.01, 0, 0], atol=1e-15)

    hand.say((0.01, 0, 0), held=False)
    hand.press = 2
    hand.say((0.01, 0, 0), scale=0.5, mode="move")
    clutch = hand.say((0.02, 0, 0), turn([1, 0, 0], 0.1), scale=0.5, mode="move")

    np.testing.assert_allclose(clutch.p, [0.015, 0, 0])
    np.testing.assert_allclose(clutch.quat_xyzw, UNIT)


def test_turning_alone_stays_where_it_is(hand):
    hand.say(held=False)
    hand.press = 2
    hand.say(mode="turn")
    clutch = hand.say((0.01, 0, 0), turn([1, 0, 0], 0.1), mode="turn")

    np.testing.assert_allclose(clutch.p, 0)
    np.testing.assert_allclose(clutch.quat_xyzw, turn([1, 0, 0], 0.1))


def test_tracking_lost_is_counted_and_comes_back_without_a_leap(hand):
    hand.say((0.01, 0, 0))
    assert not hand.say(tracked=False).is_tracked
    clutch = hand.say((5.0, 5.0, 5.0))  # another origin

    assert clutch.is_tracked
    assert clutch.n_losses == 1
    assert clutch.is_held, "whether the press counts is the session's affair"
    np.testing.assert_allclose(clutch.p, [0.01, 0, 0])


@pytest.mark.parametrize("held", [True, False])
def test_a_press_that_began_while_tracking_was_lost_is_no_press_more(hand, held):
    n_presses = hand.clutch.n_presses
    hand.say(tracked=False, held=held)
    hand.press += 1

    assert hand.say().n_presses == n_presses


@pytest.mark.parametrize(
    ("p", "q"),
    [((0.08, 0, 0), UNIT), ((0, 0, 0), turn([0, 1, 0], math.pi))],
    ids=["8 cm in a frame", "180 degrees"],
)
def test_an_impossible_hand_motion_is_a_loss_and_is_not_passed_on(hand, p, q):
    clutch = hand.say(p, q)

    assert not clutch.is_tracked
    assert (clutch.n_jumps, clutch.n_losses) == (1, 1)
    np.testing.assert_allclose(clutch.p, 0)

    assert hand.say(p, q).is_tracked
    assert hand.clutch.n_jumps == 1, "it goes on from there"


def test_a_release_between_two_messages_is_a_press_more(hand):
    before = hand.clutch.n_presses
    hand.press += 1  # let go, moved, pressed: nothing of it arrived
    hand.say((0.02, 0, 0))

    assert hand.clutch.n_presses == before + 1
    assert hand.clutch.is_held


def test_the_first_press_counts():
    hand = Mover()
    hand.press = 0
    hand.say(held=False)
    hand.press = 1

    assert hand.say().n_presses == 1


def test_without_a_dead_man_silence_of_tracking_is_no_release():
    hand = Mover()
    hand.press, hand.has_deadman = 0, False
    hand.say()
    assert hand.clutch.is_held

    clutch = hand.say((1.0, 0, 0))

    assert not clutch.is_tracked
    assert clutch.is_held, "nobody pressed anything: the operator engages elsewhere"
    assert clutch.n_presses == 0
