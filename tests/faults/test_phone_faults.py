"""A phone that is off, stuck, wild, slow, hidden or late, in lock-step (rows 1 to 11).

The leader is the real one and so is what reads its messages; the session is stepped on
a virtual clock, so that every bound is exact.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from lock_step import H_NS, PIPER, LockStep

from hardware.web.errors import MessageError
from hardware.web.messages import parse_message
from leaders.webxr.config import WebxrConfig
from leaders.webxr.leader import Webxr

V_OVER_A = float((PIPER.dq_max / PIPER.ddq_max).max())
FRAME = 3  # [ticks] 67 Hz
UNIT = [0.0, 0.0, 0.0, 1.0]


class PhoneSession(LockStep):
    """A session whose leader is a phone that sends what a test says."""

    def __init__(self):
        made = Webxr(WebxrConfig(device="phone"), lambda: 0)
        super().__init__(made.info)
        self.phone = Webxr(WebxrConfig(device="phone"), self.clock)
        self.phone.open()
        self.owner = object()
        self.device = self.phone._station.device
        self.device.begin(self.owner)
        self.y, self.seq, self.press, self.held = 0.0, 0, 0, False
        self.is_silent, self.held_back = False, []
        self.newest = None
        self.refused = 0
        self.n = 0

    def step(self, n=1):
        for _ in range(n):
            self.n += 1
            if self.n % FRAME == 0:
                self.tell()
            sample = self.phone.latest()
            self.newest = sample
            self.leader_speaks = sample is not None
            super().step()
            self.phone.apply(self.feedback)
        return self

    def sample(self):
        return self.newest

    def message(self, **hand):
        self.seq += 1
        return json.dumps({
            "type": "sample", "seq": self.seq, "t": self.clock() * 1e-6,
            "limbs": {"hand": {
                "p": [0.0, 0.0, -self.y], "q": UNIT, "tracked": True,
                "held": self.held, "press": self.press, "opening": 1.0, **hand,
            }},
        })  # fmt: skip

    def tell(self, **hand):
        """Send a frame, or keep it back while the link is silent."""
        text = self.message(**hand)
        (self.held_back.append if self.is_silent else self.deliver)(text)

    def deliver(self, text):
        try:
            self.device.take(parse_message(text))
        except MessageError:
            self.refused += 1

    def catch_up(self):
        """Deliver at once what was kept back."""
        self.is_silent = False
        for text in self.held_back:
            self.deliver(text)
        self.held_back = []

    def hold(self):
        self.press += 1
        self.held = True
        return self

    def let_go(self):
        self.held = False
        return self

    def engage(self):
        self.until("WAITING").step(10)
        self.hold().until("ENGAGED")
        return self

    def move(self, n, speed=0.2):
        for _ in range(n):
            self.y += speed * H_NS * 1e-9
            self.step()
        return self

    @property
    def eef(self):
        limb = PIPER.limbs["arm"]
        return limb.fk(limb.take(self.q_cmd)).translation

    def until_rest(self, n=400):
        """Return after how many ticks the command stands."""
        for k in range(n):
            if self.gate.is_at_rest:
                return k
            self.step()
        raise AssertionError("it never stands")


@pytest.fixture
def session():
    made = PhoneSession()
    yield made
    made.phone.close()


def bound(detection):
    return int((detection + V_OVER_A) / (H_NS * 1e-9)) + 2 + FRAME


def test_the_robot_follows_the_phone_forward(session):
    session.engage()
    before = session.eef

    session.move(100).step(60)

    np.testing.assert_allclose(session.eef - before, [0.1, 0, 0], atol=2e-3)


def test_off_brakes_within_the_bound_and_waits_for_a_press(session):
    session.engage().move(100, 0.3)
    session.is_silent = True
    assert session.until_rest() <= bound(0.1)
    still = session.q_cmd

    session.is_silent, session.held_back = False, []
    session.move(100)
    assert session.state == "CLUTCHED"
    assert (session.q_cmd == still).all()

    session.let_go().step(10)
    session.hold().until("ENGAGED").step(60)
    assert (session.q_cmd == still).all()
    session.move(50)
    assert (session.q_cmd != still).any()


def test_stuck_goes_on_with_a_warning(session):
    session.engage().move(50)
    session.step(600)

    assert session.state == "ENGAGED"
    assert session.core.stuck.limbs == ("hand",)


GARBAGE = [
    "", "{", "[]", "NaN", "x" * 5000, '{"type": "sample"}', "[" * 3000,
    '{"type": "sample", "seq": 1e999}',
]  # fmt: skip


def test_garbage_is_refused_and_is_silence_if_it_goes_on(session):
    session.engage().move(50)
    for text in GARBAGE:
        session.deliver(text)
        session.move(3)
    assert session.refused == len(GARBAGE)
    assert session.state == "ENGAGED"

    tell, session.tell = session.tell, lambda: session.deliver("{}")
    assert session.until_rest() <= bound(0.1)
    assert session.state == "CLUTCHED"
    session.tell = tell


@pytest.mark.parametrize(
    "hand",
    [{"p": [1.0, 0.0, 0.0]}, {"q": [0.0, 1.0, 0.0, 0.0]}, {"p": [0.0, -45.0, 0.0]}],
    ids=["1 m", "180 degrees", "45 m below"],
)
def test_a_wild_pose_disengages_and_moves_nothing(session, hand):
    session.engage().move(60, 0.1)
    q = [session.q_cmd]
    session.tell(**hand)
    for _ in range(200):
        session.step()
        q.append(session.q_cmd)

    assert session.state == "CLUTCHED"
    step = np.abs(np.diff(q, axis=0)).max(axis=0)
    assert (step <= PIPER.dq_max * H_NS * 1e-9 + 1e-12).all()
    assert np.abs(q[-1] - q[0]).max() < 0.1


@pytest.mark.parametrize(("on", "off"), [(1, 39), (30, 30)], ids=["5 Hz", "bursts"])
def test_a_slow_phone_never_engages_to_and_fro(session, on, off):
    session.engage()
    for _ in range(8):
        session.catch_up()
        session.move(on)
        session.is_silent = True
        session.move(off)

    assert session.trace().count("ENGAGED") == 1
    assert session.state == "CLUTCHED"


@pytest.mark.parametrize("stall", [0.2, 0.5, 2.0])
def test_a_stall_that_comes_all_at_once_is_no_jump(session, stall):
    session.engage().move(100, 0.1)
    session.is_silent = True
    session.move(int(stall / (H_NS * 1e-9)), 0.1)
    session.catch_up()
    session.step(3)
    still = session.q_cmd
    session.move(60, 0.1)
    assert session.state == "CLUTCHED"
    assert (session.q_cmd == still).all()

    before = session.eef
    session.let_go().step(10)
    session.hold().until("ENGAGED").step(30)
    assert (session.q_cmd == still).all()
    session.move(100, 0.1).step(40)
    np.testing.assert_allclose(session.eef - before, [0.05, 0, 0], atol=2e-3)


def test_a_release_hidden_in_a_short_stall_moves_nothing(session):
    """Let go, hand moved 2 cm, pressed, within 80 ms of which nothing came."""
    session.engage().step(60)
    still = session.q_cmd
    session.is_silent = True
    session.let_go().step(4)
    session.y += 0.02
    session.step(4)
    session.hold().step(6)
    session.catch_up()
    session.step(200)

    assert session.state == "ENGAGED"
    assert np.abs(session.q_cmd - still).max() < 1e-12


@pytest.mark.parametrize("lost", [{"tracked": False}], ids=["paused"])
def test_lost_tracking_disengages_and_comes_back_without_a_jump(session, lost):
    session.engage().move(60, 0.2)
    tell = session.tell
    session.tell = lambda: tell(**lost)
    assert session.until_rest() <= bound(0.0)
    assert session.state == "CLUTCHED"
    still = session.q_cmd

    session.tell = tell
    session.y += 3.0  # another origin
    session.step(100)
    assert (session.q_cmd == still).all()
    session.let_go().step(10)
    session.hold().until("ENGAGED").step(100)
    assert (session.q_cmd == still).all()


def test_a_page_that_is_hidden_lets_go_within_100_ms(session):
    session.engage().move(60, 0.2)
    began = session.clock()
    session.let_go().tell()  # at once, not with the next frame
    while session.state == "ENGAGED":
        session.step()

    assert session.clock() - began <= 100_000_000
    assert session.until_rest() <= bound(0.0)


def test_a_connection_that_ends_lets_go(session):
    session.engage().move(60, 0.2)
    session.device.end(session.owner)
    session.is_silent = True
    session.step(3)

    assert session.state == "CLUTCHED"
    assert session.until_rest() <= bound(0.0)


def test_duplicates_and_reordered_messages_change_nothing(session):
    twin = PhoneSession()
    for one in (session, twin):
        one.engage()
    kept = []
    for k in range(150):
        for one in (session, twin):
            one.y += 1e-3
        text = session.message()
        twin.seq = session.seq
        for one in (session, twin):
            one.deliver(text)
        kept.append(text)
        twin.deliver(text)
        twin.deliver(kept[max(0, k - 7)])
        for one in (session, twin):
            one.tell = lambda: None
            one.step()

    assert (np.array(session.follower.sent) == np.array(twin.follower.sent)).all()
    assert twin.device.refused["sequence"] == 300
    twin.phone.close()


@pytest.mark.parametrize("jump", [3600.0, -3600.0])
def test_a_clock_of_the_phone_that_jumps_stops_once_at_most(session, jump):
    session.engage().move(50, 0.1)
    message = session.message

    def late():
        made = json.loads(message())
        made["t"] = max(made["t"] + jump * 1e3, 0.0)
        return json.dumps(made)

    session.message = late
    session.move(100, 0.1)
    assert session.state in {"ENGAGED", "CLUTCHED"}
    session.is_silent = True
    assert session.until_rest() <= bound(0.1), "a stamp extends no life"
