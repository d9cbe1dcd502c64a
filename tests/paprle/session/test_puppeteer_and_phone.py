"""A puppeteer on one arm and a phone on the other: each fails, the other never knows.

Real bus code on emulated servos and real page messages, in virtual time. A puppeteer
has no dead-man to release: a hand that holds it is one. Its third loss is a servo that
no longer answers, on a bus that does.
"""

from __future__ import annotations

import numpy as np
import pytest
from cells import spread
from emulated_hands import PageHand, PuppeteerHand, step_servos

from paprle.hosts import virtual
from paprle.testing.stepped import EmulatedHand, H, SteppedSession

WORDS = (
    "leader=mix",
    "leaders.left.type=puppeteer_papras_7dof",
    "leaders.right.type=arpose",
)
ROBOT = ("follower=papras_7dof_2arm", "env=kinematic")
DRIVES = {"left": "left.arm", "right": "right.hand"}
SILENCE = 0.1  # [s] spec: safety.md A1
FAULTS = spread(
    [
        ("left", "off"), ("left", "lost"), ("left", "dead"),
        ("right", "off"), ("right", "released"), ("right", "dead"),
    ],
    ("left", "off"), ("right", "dead"),
)  # fmt: skip


class TwoHands(EmulatedHand):
    """Both hands of one person, each at its own device."""

    def __init__(self, **hands):
        super().__init__()
        self.hands, self.released = hands, set()

    def tick(self):
        for name, hand in self.hands.items():
            hand.speed = self.speed
            hand.is_held = self.is_held and name not in self.released
            hand.tick()


class PuppeteerAndPhone(SteppedSession):
    """A session with both, driven until both arms move."""

    def __init__(self, monkeypatch):
        step_servos(monkeypatch, "puppeteer_papras_7dof")
        self.dead = set()
        alive = lambda leader: leader not in self.dead  # noqa: E731
        monkeypatch.setattr(virtual, "tells_life", alive)
        super().__init__(WORDS, PuppeteerHand, ROBOT, name="left")
        self.leaders = self.session.plan.leaders
        phone = PageHand(self.leaders["right"], self.session.clock)
        self.hand = TwoHands(left=self.hand, right=phone)
        self.events = []
        push = self.session._push_event
        self.session._push_event = lambda e: (self.events.append(e), push(e))
        self.robot = self.session.plan.robot
        assert self.session.gate_ns == round(1e9 * H)
        self.engage()
        self.hand.speed = 0.06
        self.step(1.0)

    def cause(self, name, fault):
        leader = self.leaders[name]
        if fault == "dead":  # what it said last stays where it was said
            last = leader.latest()
            leader.latest = lambda: last
            self.dead.add(leader)
        elif fault == "released":
            self.hand.released.add(name)
        else:
            self.hand.hands[name].fault = fault

    def take(self, name, since=0):
        """Return the commands of a limb, shape (k, n), [rad]."""
        return np.array(self.commands[since:])[:, self.robot.limbs[name].indices]

    def find_speed(self, name, since):
        """Return how fast any joint of a limb was since a command, [rad/s]."""
        return np.abs(np.diff(self.take(name, since), axis=0)).max() / H

    def changes(self):
        return [(e["limb"], e["leader"]) for e in self.events if e["event"] == "driver"]


@pytest.fixture(scope="module")
def whole():
    """The run in which nothing goes wrong."""
    with pytest.MonkeyPatch.context() as patch:
        session = PuppeteerAndPhone(patch)
        session.step(1.5)
        session.close()
        session.judge()
    return session


@pytest.mark.long
def test_both_drive_their_own_arm(whole):
    for name in DRIVES:
        assert whole.find_speed(name, -300) > 0.05, name
    assert whole.state == "ENGAGED"
    assert whole.changes() == []


@pytest.mark.nightly
@pytest.mark.long
@pytest.mark.parametrize(("lost", "fault"), FAULTS)
def test_a_fault_of_one_leader_changes_no_bit_of_the_other_arms_path(
    monkeypatch, whole, lost, fault
):
    (other,) = set(DRIVES) - {lost}
    session = PuppeteerAndPhone(monkeypatch)
    since = len(session.commands)
    assert session.find_speed(lost, -4) > 0.02, "it moves"

    session.cause(lost, fault)
    session.step(1.5)
    session.close()

    session.judge()
    info = session.robot.info
    own = session.robot.limbs[lost].indices
    v_over_a = float((info.dq_max / info.ddq_max)[own].max())
    rest = since + round((SILENCE + v_over_a) / H)
    still = session.take(lost, rest)
    assert (still == still[0]).all(), "at rest after 100 ms and V/A"
    assert np.array_equal(session.take(other), whole.take(other))
    assert session.find_speed(other, rest) > 0.02
    assert session.state == "ENGAGED"
    assert session.changes() == [(lost, "")]
