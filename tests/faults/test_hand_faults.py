"""A bare hand that is lost, wild, hidden or late, in lock-step (rows 1 to 10).

The leader is the real one; what it is told of images and of the wrist is a test's.
"""

from __future__ import annotations

import numpy as np
import pytest
from hand_films import START, Stage
from lock_step import H_NS, PIPER, LockStep

from hardware.hand.frames import Hand
from hardware.hand.model import make_hand
from leaders.hand_imu.config import HandImuConfig
from leaders.hand_imu.leader import HandImu

V_OVER_A = float((PIPER.dq_max / PIPER.ddq_max).max())
FRAME = 7  # [ticks] 29 Hz
HOLD = 1.0  # [s] a hand at 0.1 m/s leaves its box before


class HandSession(LockStep):
    """A session whose leader is a hand that does what a test says."""

    def __init__(self):
        config = HandImuConfig(hold=HOLD)
        super().__init__(HandImu(config, lambda: 0).info)
        self.device = HandImu(config, self.clock)
        self.stage = self.device._source = Stage(self.clock)
        self.p, self.run = START.copy(), 1
        self.sees = self.feels = self.is_shown = True
        self.spoil = lambda hand: hand
        self.newest, self.n = None, 0

    def step(self, n=1):
        for _ in range(n):
            self.n += 1
            if self.feels:
                self.stage.turn(run=self.run)
            if self.n % FRAME == 0 and self.sees:
                hands = [self.spoil(make_hand(self.p))] if self.is_shown else []
                self.stage.show(*hands)
            self.newest = self.device.latest()
            self.leader_speaks = self.newest is not None
            super().step()
            self.device.apply(self.feedback)
        return self

    def sample(self):
        return self.newest

    def engage(self):
        return self.until("WAITING").until("ENGAGED")

    def move(self, n, speed=0.1):
        for _ in range(n):
            self.p = self.p + [speed * H_NS * 1e-9, 0.0, 0.0]
            self.step()
        return self

    @property
    def eef(self):
        limb = PIPER.limbs["arm"]
        return limb.fk(limb.take(self.q_cmd)).translation

    def until_rest(self, n=400):
        for k in range(n):
            if self.gate.is_at_rest:
                return k
            self.step()
        raise AssertionError("it never stands")


@pytest.fixture
def session():
    session = HandSession()
    yield session
    assert not session.judge().violations


def hide(session):
    session.is_shown = False


def blind(session):
    session.sees = False


def numb(session):
    session.feels = False


def restart(session):
    session.run = 2


def recover(session):
    session.is_shown = session.sees = session.feels = True


def test_a_hand_held_still_engages_and_the_arm_follows(session):
    session.engage()
    begin = session.eef

    session.move(200)
    session.step(60)

    assert session.eef - begin == pytest.approx([0, 0.1, 0], abs=3e-3)


@pytest.mark.parametrize(
    ("fault", "within"),
    [(hide, 0.3), (blind, 0.3), (numb, 0.15), (restart, 0.02)],
    ids=["hand lost", "camera silent", "sensor silent", "sensor anew"],
)
def test_what_goes_silent_stops_the_arm_until_it_is_pressed_again(
    session, fault, within
):
    session.engage().move(80)

    fault(session)
    session.move(round((within + V_OVER_A) / (H_NS * 1e-9)) + 2)
    assert session.state == "CLUTCHED"
    assert session.gate.is_at_rest
    still = session.q_cmd

    recover(session)
    session.step(round(0.5 * HOLD / (H_NS * 1e-9)))
    assert session.state == "CLUTCHED", "seen again is no press"
    session.step(200)

    assert session.state == "ENGAGED"
    assert (session.q_cmd == still).all(), "a press moves nothing"


def test_a_leap_is_not_followed(session):
    session.engage().move(80)
    session.step(60)
    before = session.eef

    session.p = session.p + [0.0, 0.0, 0.4]
    session.step(150)

    assert np.abs(session.eef - before).max() < 5e-3


def test_depth_that_is_garbage_for_a_moment_is_held_through(session):
    rng = np.random.default_rng(0)

    def spoil(hand):
        z = hand.depth * rng.choice([1.0, 1.0, 4.0, 0.1, np.nan])
        return Hand(hand.label, hand.uv, z, hand.shape)

    session.engage()
    begin = session.eef
    session.spoil = spoil
    session.move(200)
    session.spoil = lambda hand: hand
    session.step(60)

    moved = session.eef - begin
    assert np.abs(moved[[0, 2]]).max() < 5e-3
    assert -5e-3 < moved[1] < 0.105


def test_every_other_image_is_enough(session):
    session.engage()
    for k in range(20):
        session.is_shown = k % 2 == 0
        session.move(FRAME)
    session.is_shown = True
    session.step(60)

    assert session.state == "ENGAGED"
    assert session.trace().count("CLUTCHED") == 0


def test_a_hand_that_stays_is_legal_and_the_arm_stands(session):
    session.engage().move(80)
    session.step(100)
    still = session.q_cmd

    session.step(300)

    assert session.state == "ENGAGED"
    assert np.abs(session.q_cmd - still).max() < 1e-6


def test_a_slow_camera_never_makes_it_engage_to_and_fro(session):
    session.engage()
    for k in range(12):
        session.sees = k % 10 == 0
        session.move(FRAME)
    for k in range(12):
        session.sees = k % 10 == 0
        session.move(FRAME)

    assert session.trace().count("ENGAGED") == 1
    assert session.state == "CLUTCHED"


def test_a_stall_is_not_caught_up_without_a_press(session):
    session.engage().move(80)
    session.sees = session.feels = False
    session.move(100)
    session.until_rest()
    still = session.q_cmd

    recover(session)
    session.move(20)

    assert session.state == "CLUTCHED"
    assert (session.q_cmd == still).all()


def test_doubles_change_nothing():
    paths = []
    for doubled in (False, True):
        session = HandSession()
        if doubled:
            latest = session.device.latest
            session.device.latest = lambda latest=latest: (latest(), latest())[1]
        session.engage().move(100)
        session.step(50)
        paths.append(session.q_cmd)

    assert (paths[0] == paths[1]).all()
