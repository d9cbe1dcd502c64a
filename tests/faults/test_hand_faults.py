"""What a bare hand may do besides faults 1 to 10 (contract/test_leader_faults)."""

from __future__ import annotations

import numpy as np
import pytest
from emulated_hands import BareHand
from hand_films import Stage

import paprle.leaders.hand_imu.leader
from paprle.hardware.hand.frames import Hand
from paprle.testing.stepped import H, SteppedSession


@pytest.fixture
def session(monkeypatch):
    stage = lambda _, clock: Stage(clock)  # noqa: E731
    monkeypatch.setattr(paprle.leaders.hand_imu.leader, "Devices", stage)
    session = SteppedSession(("leader=hand_imu", "leader.hold=1.0"), BareHand).engage()
    yield session
    session.close()
    session.judge()


def find_eef(session):
    limb = session.session.plan.robot.limbs["arm"]
    return limb.fk(limb.take(session.q_cmd)).translation


def move(session, time):
    session.hand.speed = 0.1
    session.step(time)
    session.hand.speed = 0.0
    session.step(0.3)


def test_the_arm_follows_a_hand(session):
    before = find_eef(session)
    move(session, 1.0)

    assert find_eef(session) - before == pytest.approx([0, 0.1, 0], abs=3e-3)


@pytest.mark.parametrize("fault", ["numb", "anew"])
def test_a_wrist_that_is_not_felt_any_more_lets_go(session, fault):
    if fault == "numb":
        session.hand.feels = False
    else:
        session.hand.run = 2  # its heading is another one
    session.step(0.15)

    assert session.state == "CLUTCHED"


def test_depth_that_is_garbage_for_a_moment_is_held_through(session):
    rng = np.random.default_rng(0)

    def spoil(hand):
        z = hand.depth * rng.choice([1.0, 1.0, 4.0, 0.1, np.nan])
        return Hand(hand.label, hand.uv, z, hand.shape)

    before = find_eef(session)
    session.hand.spoil = spoil
    session.hand.speed = 0.1
    session.step(1.0)
    session.hand.spoil = lambda hand: hand
    session.hand.speed = 0.0
    session.step(0.3)

    moved = find_eef(session) - before
    assert np.abs(moved[[0, 2]]).max() < 5e-3
    assert -5e-3 < moved[1] < 0.105


def test_every_other_image_is_enough(session):
    for k in range(20):
        session.hand.fault = "lost" if k % 2 else ""
        session.step(session.hand.every * H)
    session.hand.fault = ""
    session.step(0.3)

    assert "CLUTCHED" not in session.states
