"""A robot far away, predicted in the axes of the hand that leads it."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from paprle.reconstruction.hand_mirror import HandMirror
from paprle.reconstruction.mirror import HORIZON_NS

MS = 1_000_000
WAY, EVERY, CAPTURES = 60, 20, 10  # [ms] each way; between words; between captures


def hand(ms):
    t = 1e-3 * ms
    p = np.array([0.15 * np.sin(2.0 * t), 0.1 * np.cos(1.5 * t), 0.05 * t])
    return pin.SE3(pin.exp3(np.array([0.0, 0.3 * np.sin(t), 0.2 * t])), p)


class World:
    """A hand, and a robot that follows it late until something stops it."""

    def __init__(self, wall=10**9, may_follow=True):
        self.mirror, self.wall, self.may_follow = HandMirror(), wall, may_follow
        self.shown, self.errors, self.confirmed = [], [], []

    def robot(self, ms):
        return hand(min(ms, self.wall) - WAY)

    def run(self, begin=1000, end=4000, heard_until=10**9):
        for ms in range(begin, end):
            if ms % CAPTURES == 0:
                self.mirror.ask(ms * MS, hand(ms))
            if ms % EVERY == 0 and begin + 2 * WAY < ms < heard_until:
                there, captured = ms - WAY, ms - 2 * WAY
                self.mirror.hear(
                    there * MS,
                    captured * MS,
                    self.robot(there),
                    may_follow=self.may_follow,
                )
                self.last = self.robot(there)
            if ms % EVERY == 5 and (T := self.mirror.show(ms * MS)) is not None:
                self.shown.append((ms, T))
                now = self.robot(ms).translation
                self.errors.append(np.linalg.norm(T.translation - now))
                self.confirmed.append(np.linalg.norm(self.last.translation - now))
        return self


def test_the_picture_is_nearer_the_robot_than_its_last_words_are():
    world = World().run()

    assert max(world.errors) < 1e-3 * np.median(world.confirmed)
    assert not world.mirror.is_held


def test_the_picture_never_jumps():
    world = World(wall=2500).run()

    steps = [
        np.linalg.norm(b.translation - a.translation)
        for (_, a), (_, b) in zip(world.shown, world.shown[1:], strict=False)
    ]
    own = [
        np.linalg.norm(hand(ms + EVERY).translation - hand(ms).translation)
        for ms in range(1000, 4000)
    ]
    assert max(steps) < 1.01 * max(own), "no more than the hand itself moves"


def test_a_robot_at_a_wall_shows_as_held_within_a_round_trip():
    world = World(wall=2500).run(end=2501 + 2 * WAY)
    fastest = 0.35  # [m/s] of this hand

    assert world.mirror.is_held
    assert max(world.errors) < fastest * 1e-3 * (WAY + EVERY), "of one way and a word"


def test_the_picture_of_a_robot_at_a_wall_is_at_the_wall():
    world = World(wall=2500).run(end=3500)

    assert world.mirror.is_held
    assert world.errors[-1] < 1e-4


def test_a_robot_whose_gate_holds_is_not_predicted():
    world = World(wall=1500, may_follow=False).run(end=3000)

    assert world.errors[-1] < 1e-4
    assert world.mirror.is_held


def test_nothing_is_shown_of_a_robot_that_is_silent_for_long():
    world = World().run(end=3500, heard_until=2000)

    last = 2000 - EVERY - WAY + HORIZON_NS // MS + WAY  # of its word and of its motion
    assert world.shown[-1][0] == pytest.approx(last, abs=EVERY)


def test_words_that_come_late_are_not_taken():
    world = World().run(end=2000)
    before = world.mirror.show(2001 * MS)

    world.mirror.hear(1500 * MS, 1400 * MS, pin.SE3.Identity(), may_follow=True)

    after = world.mirror.show(2002 * MS)
    own = hand(2002 - WAY).translation - hand(2001 - WAY).translation
    assert after.translation - before.translation == pytest.approx(own, abs=1e-5)
