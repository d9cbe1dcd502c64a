"""A follower that is measured moves softly, and is left at rest however that ends."""

import numpy as np
import pytest

from paprle.config import resolve
from paprle.gate.controller import GateController
from paprle.haptics.probe import probe_follower
from paprle.hosts.plan import make_follower, make_plan
from paprle.ipc.loop import DeadlineLoop
from paprle.testing import ManualClock


class Measured:
    """A follower on a clock of its own, and all that was sent to it."""

    def __init__(self):
        plan = make_plan(resolve(["leader=autopilot", "follower=piper", *WORLD]))
        self.clock = ManualClock()
        follower = make_follower(plan.resolved, plan.robot, self.clock)
        info = follower.open()
        self.sent, write = [], follower.write
        follower.write = lambda q: (self.sent.append(q.copy()), write(q))
        self.rate = info.rate
        controller = GateController(
            plan.robot, plan.resolved.gate, follower, info, plan.layout, 1 / info.rate
        )
        self.parts = controller, plan.robot, plan.layout

    def probe(self, sleep):
        loop = DeadlineLoop(self.rate, self.clock, sleep)
        return probe_follower(*self.parts, loop, self.clock)

    @property
    def speed(self):
        """Of the commands, [rad/s]."""
        return np.abs(np.diff(self.sent, axis=0)).max(axis=1) * self.rate


WORLD = ("env=kinematic", "env.time_constant=0.04", "env.dead_time=0.02")


@pytest.mark.long
def test_the_tones_end_at_rest_and_tell_the_lag():
    measured = Measured()
    lags = measured.probe(measured.clock.advance)

    assert measured.speed.max() > 0.3
    assert measured.speed[-1] < 1e-6
    assert np.abs(np.diff(measured.speed)).max() * measured.rate < 10.0
    assert all(
        lag.dead_time + lag.time_constant == pytest.approx(0.06, abs=0.01)
        for lag in lags.values()
    )


@pytest.mark.long
@pytest.mark.parametrize("interruption", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_measurement_brakes_before_it_leaves(interruption):
    measured = Measured()
    is_interrupted = False

    def sleep(dt):
        nonlocal is_interrupted
        measured.clock.advance(dt)
        if not is_interrupted and measured.clock() > 9.5e9:
            is_interrupted = True
            raise interruption

    with pytest.raises(interruption):
        measured.probe(sleep)

    assert measured.speed.max() > 0.2
    assert measured.speed[-1] < 1e-6
    assert np.abs(np.diff(measured.speed)).max() * measured.rate < 20.1
