"""The robot on another host as an observer is told of it, over a bad network."""

import numpy as np
import pytest
from linked_step import LinkedStep
from lock_step import H_NS

from paprle.hosts.views.predicted_view import Mirroring

HOUR_NS = 3_600_000_000_000
RTT = 0.08  # [s] there and back, jitter included


class Mirrored(LinkedStep):
    """``LinkedStep`` that keeps what was shown, what was told, and what was so."""

    def __init__(self):
        super().__init__()
        self.mirroring = Mirroring(self.robot.info)
        self.shown, self.told, self.truth = [], [], []
        ask = self.core.step

        def step(*args):
            self.output = ask(*args)
            return self.output

        self.core.step = step
        self.output = None

    def step(self, n=1):
        for _ in range(n):
            super().step()
            if self.output is None:
                continue
            now_ns = self.clock() + self.skew_ns
            seen = self.mirroring.look(self.output.tick, self.status, now_ns)
            if seen is not None:
                self.shown.append(seen)
                self.told.append(self.status["q_meas"].copy())
                self.truth.append(self.gate_status["q_meas"].copy())
        return self

    def find_pose(self, q):
        (pose,) = self.mirroring._find_poses(q).values()
        return pose

    def measure_errors(self, n):
        """Return errors [m] of what was shown and of what was told, last n steps."""
        truth = [self.find_pose(q).translation for q in self.truth[-n:]]
        told = [self.find_pose(q).translation for q in self.told[-n:]]
        (name,) = self.shown[-1].poses
        shown = [one.poses[name][:3] for one in self.shown[-n:]]
        return (
            np.linalg.norm(np.subtract(shown, truth), axis=1),
            np.linalg.norm(np.subtract(told, truth), axis=1),
        )


@pytest.fixture
def session():
    made = Mirrored()
    for wire in (made.up, made.down):
        wire.delay, wire.jitter, wire.loss, wire.doubled = 0.03, 0.01, 0.1, 0.1
    yield made
    assert made.judge().is_ok


def sweep(session, n, speed=0.3):
    """Move to and fro for n ticks."""
    for k in range(n):
        session.move(1, speed=speed * np.sin(2 * np.pi * 0.5 * k * H_NS * 1e-9))
    return session


def find_steps(session, n):
    """Return how far what was shown moved along y from step to step, [m]."""
    (name,) = session.shown[-1].poses
    return np.diff([one.poses[name][1] for one in session.shown[-n:]])


@pytest.mark.long
def test_the_robot_is_shown_where_it_is_and_not_where_it_was(session):
    sweep(session.engage(), 600)

    shown, told = session.measure_errors(500)

    assert np.sqrt((shown**2).mean()) < 0.1 * np.sqrt((told**2).mean())
    assert all(one.is_predicted and not one.held for one in session.shown[-500:])
    q, q_true = [one.q for one in session.shown[-500:]], session.truth[-500:]
    assert np.abs(np.subtract(q, q_true)).max() < 5e-3


@pytest.mark.long
def test_nothing_is_shown_going_backwards_or_by_leaps(session):
    session.up.jitter = session.down.jitter = 0.06
    session.up.delay = session.down.delay = 0.01
    session.engage().move(250, speed=0.2)

    steps = find_steps(session, 150)

    assert steps.min() >= -1e-5
    assert steps.max() < 3 * 0.2 * H_NS * 1e-9


@pytest.mark.long
def test_a_robot_that_its_gate_holds_is_shown_as_held_within_a_round_trip(session):
    session.engage().move(150, speed=0.3)
    session.up.is_dead = True
    while session.far_state == "ENGAGED":
        session.move(1, speed=0.3)
    session.move(round(RTT * 1e9 / H_NS), speed=0.3)

    assert session.shown[-1].held
    session.move(60, speed=0.3)
    assert session.measure_errors(1)[0].max() < 2e-3


@pytest.mark.long
def test_a_cut_stops_the_picture_and_its_end_moves_it_without_a_leap(session):
    session.engage().move(150, speed=0.3)
    session.cut().move(200, speed=0.3)

    assert session.shown[-1].is_lost
    assert np.abs(find_steps(session, 30)).max() < 1e-6

    session.cut(is_dead=False).step(200)
    assert not session.shown[-1].is_lost
    assert np.abs(find_steps(session, 200)).max() < 0.3 * 3 * H_NS * 1e-9
    assert session.measure_errors(1)[0].max() < 1e-3


@pytest.mark.nightly
@pytest.mark.long
@pytest.mark.parametrize("lie", [-(2**62), -HOUR_NS, HOUR_NS, 2**62])
def test_stamps_that_lie_are_forgotten_as_soon_as_they_are_true(session, lie):
    sweep(session.engage(), 100)
    sweep(session.tell_of(stamp_ns=lie, meas_ns=lie), 20)
    sweep(session.tell_of(), 400)

    shown, told = session.measure_errors(300)

    least = 1e-4  # [m] of a robot that stands: one an hour ago is a silent gate
    assert np.sqrt((shown**2).mean()) < max(0.1 * np.sqrt((told**2).mean()), least)
    assert not session.shown[-1].is_lost
