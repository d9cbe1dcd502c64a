"""A session with leaders that speak seldom: two ages, smooth commands, axes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from lock_step import H_NS, LockStep

from paprle.contracts.axes import FREEDOMS
from paprle.contracts.kit.sampling import Sampling
from paprle.contracts.types import LeaderInfo, LeaderSample, LimbCommand
from paprle.ipc.records import pack_sample

PHONE = LeaderInfo(limbs=("hand",), rate=30.0)
TICKS = 7  # between two captures: 28.6 Hz, for which the bound is 153 ms
SPEED = 0.06  # [m/s]


class Seldom(LockStep):
    """A session whose leader captures every so many ticks, and may lose some."""

    def __init__(self, leader=PHONE, **settings):
        self.lost, self.captured, self.is_alive, self.k = set(), 0, True, 0
        super().__init__(leader, **settings)

    def sample(self):
        self.k += 1
        if self.k % TICKS == 0:
            self.captured += 1
            if self.captured not in self.lost:
                self.newest = replace(super().sample(), stamp_ns=self.clock())
        return getattr(self, "newest", None)

    def step(self, n=1):
        for _ in range(n):
            self.leader_speaks = False
            self.clock.now_ns += H_NS
            sample = self.sample()
            if sample is not None:
                now = replace(sample, engaged=self.engaged, start=self.start)
                alive_ns = self.clock() if self.is_alive else 0
                self.record = pack_sample(self.layout, now, alive_ns)
            self.clock.now_ns -= H_NS
            super().step()
        return self


def measure_y(session):
    """Position of the commanded hand along y, [m]."""
    (limb,) = session.robot.limbs.values()
    return limb.fk(limb.take(session.q_cmd)).translation[1]


def drive(session, n, speed=SPEED):
    """Move the hand; return the velocities of the commanded one, [m/s]."""
    y = [measure_y(session)]
    for _ in range(n):
        session.move(1, speed)
        y.append(measure_y(session))
    return np.diff(y) / (H_NS * 1e-9)


def test_a_slow_leader_moves_the_arm_evenly_and_the_delay_is_recorded():
    session = Seldom().until("WAITING").step(100).engage()

    v = drive(session, 300)

    np.testing.assert_allclose(v[150:], SPEED, rtol=0.05)
    (told,) = [e for e in session.events if e["event"] == "reconstruction"]
    assert told["policy"] == "latest"
    assert told["delay"] == pytest.approx(TICKS * H_NS * 1e-9 + 0.005)


def find_roughness(leader):
    """Return the rms acceleration of a hand that swings, [m/s²]."""
    session = Seldom(leader).engage()
    v = [drive(session, 1, 0.1 * np.sin(0.04 * k))[0] for k in range(300)]
    return np.sqrt((np.diff(v[150:]) ** 2).mean()) / (H_NS * 1e-9)


@pytest.mark.long
def test_the_arm_is_shaken_far_less_than_by_the_samples_themselves():
    swings = 0.1 * 0.04 / (H_NS * 1e-9) * np.sqrt(0.5)

    assert find_roughness(PHONE) < 1.05 * swings
    assert find_roughness(replace(PHONE, rate=200.0)) > 1.2 * swings


@pytest.mark.parametrize("n_lost", [1, 2, 3])
def test_the_arm_goes_on_while_three_samples_in_a_row_are_lost(n_lost):
    session = Seldom().engage()
    drive(session, 100)
    first = session.captured + 1
    session.lost = set(range(first, first + n_lost))

    v = drive(session, 150)

    assert session.state == "ENGAGED"
    assert v.min() > 0.2 * SPEED
    assert "CLUTCHED" not in session.trace()
    assert session.judge().is_ok


def silence(session):
    """Return how long after the last capture the session lets go, [s]."""
    drive(session, 100)
    while session.k % TICKS:
        drive(session, 1)
    session.lost = set(range(session.captured + 1, 10_000))
    for k in range(1, 200):
        drive(session, 1)
        if session.state != "ENGAGED":
            return k * H_NS * 1e-9
    raise AssertionError("it never lets go")


def test_a_device_that_falls_silent_brakes_after_three_missing_samples():
    assert 0.153 < silence(Seldom().engage()) <= 0.165


def test_a_device_may_ask_for_less():
    strict = replace(PHONE, sampling=Sampling("latest", 0.1))

    assert 0.1 < silence(Seldom(strict).engage()) <= 0.11


def test_a_process_that_is_silent_brakes_after_100_ms_whatever_is_in_store():
    session = Seldom().engage()
    drive(session, 100)
    session.is_alive = False

    assert 0.1 < silence(session) <= 0.11


def test_the_dead_man_is_never_delayed():
    session = Seldom().engage()
    drive(session, 100)
    session.engaged = False
    session.k = TICKS - 1  # the next sample says so

    drive(session, 2)

    assert session.state == "CLUTCHED"


def test_samples_from_before_letting_go_are_forgotten():
    session = Seldom().engage()
    drive(session, 100)
    session.engaged = False
    session.step(100)
    q = session.q_cmd
    session.T_hand = pin.SE3(np.eye(3), np.array([0.5, 0.5, 0.5]))
    session.step(20)
    session.engaged = True

    session.step(100)

    assert session.state == "ENGAGED"
    np.testing.assert_allclose(session.q_cmd, q, atol=1e-9)


STICK = LeaderInfo(limbs=("hand",), emits="axes", axes={"hand": FREEDOMS}, rate=200.0)


class Stick(LockStep):
    """A session that a stick drives."""

    def __init__(self, leader=STICK):
        self.u, self.mode = np.zeros(7), 0
        super().__init__(leader, mode="auto")

    def sample(self):
        sample = super().sample()
        asked = LimbCommand(axes=self.u, mode=self.mode)
        return replace(sample, limbs={"hand": asked})


def test_a_stick_moves_the_arm_and_its_switches_are_counted():
    session = Stick().engage()
    begin = measure_y(session)
    session.u = np.eye(7)[1]
    session.step(100)
    session.u, session.mode = np.zeros(7), 2
    session.step(100)

    moved = measure_y(session) - begin
    assert moved == pytest.approx(100 * H_NS * 1e-9 * 0.1, abs=2e-3)
    (switch,) = [e for e in session.events if e["event"] == "mode"]
    assert (switch["leader"], switch["mode"], switch["steps"]) == ("hand", 2, 2)
    assert session.core.modes.n_times == 2
    assert session.judge().is_ok


@pytest.mark.parametrize("bad", [1.5, np.inf, -np.inf, np.nan])
def test_invalid_deflections_are_refused_and_counted(bad):
    session = Stick().engage()
    q = session.q_cmd
    session.u = np.full(7, bad)

    session.step(10)

    assert sum(session.core.leaders.refused.values()) == 10
    np.testing.assert_allclose(session.q_cmd, q, atol=1e-9)


def test_samples_in_any_order_are_waypoints_of_an_ordered_leader():
    ordered = replace(PHONE, sampling=Sampling("ordered"))
    session = Seldom(ordered).engage()
    drive(session, 100)
    layout, hand = session.layout, session.T_hand.copy()

    def say(seq, back):
        T = hand.copy()
        T.translation[1] -= SPEED * back
        sample = LeaderSample(
            stamp_ns=session.clock() - round(back * 1e9),
            seq=seq,
            limbs={"hand": LimbCommand(T_leader_base_leader_eef=T)},
        )
        session.core.leaders.update([pack_sample(layout, sample)], session.clock())

    say(100_000, 0.0)
    say(100_001, 0.02)

    assert not session.core.leaders.refused
    assert session.core.leaders.is_usable
