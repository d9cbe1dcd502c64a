"""Two puppeteers and a recorded hand on three limbs: who is killed stops his own alone.

The whole session in virtual time: real bus code on emulated servos, a bus each, and a
file. What the others' limbs are commanded is, to the last bit, what it is without the
kill. Live, with processes: tests/faults/processes/test_several_leaders.py.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from emulated_hands import PuppeteerHand
from puppeteer_step import SteppedBus

import paprle.leaders.puppeteer.rig
from paprle.hosts import virtual
from paprle.testing.stepped import EmulatedHand, H, SteppedSession
from paprle_emulators.dynamixel.config import read_rig
from paprle_emulators.dynamixel.rig import Rig

PUPPETEER = "puppeteer_papras_7dof"
LIMBS = {"left": "left_arm", "right": "right_arm", "file": "left_leg"}
HANDS = ("left", "right")
WORDS = (
    "leader=mix",
    *(f"leaders.{name}.type={PUPPETEER}" for name in HANDS),
    "leaders.file.type=offline",
    *(f"retarget.limbs.{limb}.rule=relative" for limb in LIMBS.values()),
    *(f"retarget.limbs.{LIMBS[name]}.from={name}.arm" for name in HANDS),
    f"retarget.limbs.{LIMBS['file']}.from=file.hand",
)
ROBOT = ("follower=g1", "env=kinematic")
SILENCE = 0.1  # [s] spec: safety.md A1
MOVES = 0.01  # [rad/s] chosen: a tenth of what each hand asks for

pytestmark = pytest.mark.nightly  # measured: 28 s of CPU time


class Both(EmulatedHand):
    """Both hands of one person, each at its own puppeteer."""

    def __init__(self, hands):
        super().__init__()
        self.hands = hands

    def tick(self):
        for hand in self.hands:
            hand.speed, hand.is_held = self.speed, self.is_held
            hand.tick()


class ThreeLimbs(SteppedSession):
    """A session driven until all three limbs move."""

    def __init__(self, monkeypatch, path):
        def make_bus(settings, clock):
            rig = Rig(replace(read_rig(PUPPETEER), watchdog="ideal"))
            return SteppedBus(settings, clock, rig, clock())

        monkeypatch.setattr(paprle.leaders.puppeteer.rig, "BusThread", make_bus)
        self.dead = set()
        alive = lambda leader: leader not in self.dead  # noqa: E731
        monkeypatch.setattr(virtual, "tells_life", alive)
        words = (*WORDS, f"leaders.file.path={path}")
        super().__init__(words, PuppeteerHand, ROBOT, name="left")
        self.leaders = self.session.plan.leaders
        right = PuppeteerHand(self.leaders["right"], self.session.clock)
        self.hand = Both([self.hand, right])
        self.events = []
        push = self.session._push_event
        self.session._push_event = lambda e: (self.events.append(e), push(e))
        self.robot = self.session.plan.robot
        self.engage()
        self.hand.speed = 0.06
        self.step(1.5)

    def kill(self, name):
        """Kill a leader's process: what it said last stays where it was said."""
        leader = self.leaders[name]
        last = leader.latest()
        leader.latest = lambda: last
        self.dead.add(leader)

    def take(self, name, since=0):
        """Return the commands of a leader's limb, shape (k, n), [rad]."""
        return np.array(self.commands[since:])[:, self.robot.limbs[LIMBS[name]].indices]

    def find_speed(self, name, since):
        """Return how fast any joint of it was since a command, [rad/s]."""
        return np.abs(np.diff(self.take(name, since), axis=0)).max() / H

    def changes(self):
        return [(e["limb"], e["leader"]) for e in self.events if e["event"] == "driver"]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A recorded hand that goes to and fro by 4 cm."""
    path = tmp_path_factory.mktemp("hand") / "hand.csv"
    times = np.arange(0.0, 60.0, 0.02)
    rows = [f"{t:.2f},0,{0.04 * np.sin(2.0 * t):.5f},0,0,0,0,1" for t in times]
    path.write_text("t,x,y,z,qx,qy,qz,qw\n" + "\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="module")
def whole(recorded):
    """The run in which nobody is killed."""
    with pytest.MonkeyPatch.context() as patch:
        session = ThreeLimbs(patch, recorded)
        session.step(1.5)
        session.close()
        session.judge()
    return session


def test_each_drives_its_own_limb(whole):
    since = len(whole.commands) - round(1.5 / H)
    for name in LIMBS:
        assert whole.find_speed(name, since) > MOVES, name
    assert whole.state == "ENGAGED"
    assert whole.changes() == []


@pytest.mark.parametrize("killed", LIMBS)
def test_a_killed_leader_stops_its_own_limb_and_changes_no_bit_of_the_others(
    monkeypatch, recorded, whole, killed
):
    session = ThreeLimbs(monkeypatch, recorded)
    since = len(session.commands)
    assert session.find_speed(killed, -4) > MOVES, "it moves"

    session.kill(killed)
    session.step(1.5)
    session.close()

    session.judge()
    info = session.robot.info
    own = session.robot.limbs[LIMBS[killed]].indices
    v_over_a = float((info.dq_max / info.ddq_max)[own].max())
    rest = since + round((SILENCE + v_over_a) / H)
    still = session.take(killed, rest)
    assert (still == still[0]).all(), "at rest after 100 ms and V/A"
    for name in set(LIMBS) - {killed}:
        assert np.array_equal(session.take(name), whole.take(name)), name
        assert session.find_speed(name, rest) > MOVES, name
    assert session.state == "ENGAGED"
    assert session.changes() == [(LIMBS[killed], "")]
