"""A joint_trajectory_controller as ROS 2 brings it begins a message where the arm is.

What is sent must be smooth there, too, and as late as with one that begins at its
desired state.
"""

from __future__ import annotations

import numpy as np
import pytest

from paprle.hardware.ros.joints import Trajectory
from paprle.hardware.ros.messages import load_codec
from paprle.hardware.ros.stopping import StopPlanner
from paprle.hardware.ros.trajectories import encode_trajectory
from paprle_emulators.ros.controllers import BEGINS, TrajectoryController

H, LEAD = 0.005, 0.01  # [s] of commands
DURATION = 6.0  # [s]
LATE = 0.0005  # [s] mean of the arrivals' delay, exponential
V, A = 3.0, 20.0  # [rad/s], [rad/s²]
DRIVE = 0.02  # [s] of the arm behind its controller
CODEC = load_codec("jazzy")


def swing(t):
    """Return a path of at most 0.7 rad/s and 1 rad/s² that begins at rest, [rad]."""
    return 0.5 * (1.0 - np.cos(1.4 * np.maximum(t, 0.0)))


class Robot:
    """A controller that updates at a rate, and a drive with a lag behind it."""

    def __init__(self, begins, rate, *, tells_begin=True):
        one = np.ones(1)
        self.planner = StopPlanner(-9 * one, 9 * one, V * one, A * one, H)
        self.planner.tells_begin = tells_begin
        self.controller = TrajectoryController(("a",), np.zeros(1), begins=begins)
        self.dt = 1.0 / rate
        self.run(np.random.default_rng(0))

    def run(self, rng):
        sent = np.arange(0.0, DURATION, H)
        arrivals = np.maximum.accumulate(sent + rng.exponential(LATE, len(sent)))
        share, q, dq, k = -np.expm1(-self.dt / DRIVE), np.zeros(1), np.zeros(1), 0
        self.t = np.arange(3e-4, DURATION, self.dt)
        asked, measured = [], []
        for now in self.t:
            while k < len(sent) and arrivals[k] <= now:
                self.send(swing(sent[k : k + 1]), round(sent[k] * 1e9), now)
                k += 1
            self.controller.update(round(now * 1e9), q, dq)
            step = share * (self.controller.q - q)
            q, dq = q + step, step / self.dt
            asked.append(self.controller.q[0])
            measured.append(q[0])
        self.asked, self.measured = np.array(asked), np.array(measured)

    def send(self, q, sent_ns, now):
        plan = self.planner.advance(q, sent_ns, LEAD)
        message = Trajectory(("a",), plan.times, plan.q, plan.dq)
        self.controller.accept(
            CODEC, encode_trajectory(CODEC, message), round(now * 1e9)
        )

    @property
    def lag(self):
        """How late the arm is, [s], and how far off it is then, rms [rad]."""
        lags = np.arange(0.0, 0.4, 1e-3)
        rms = [np.sqrt(np.mean((self.measured - swing(self.t - x)) ** 2)) for x in lags]
        return lags[np.argmin(rms)], min(rms)

    def find_hardest(self, q):
        return np.abs(np.diff(q, 2)).max() / self.dt**2


def test_the_emulator_s_stock_controller_has_the_fault_that_it_is_there_for():
    """Messages without a begin: late by far, and a saw-tooth for the arm."""
    stock = Robot("measured", 500.0, tells_begin=False)
    kind = Robot("desired", 500.0, tells_begin=False)

    assert kind.lag[0] <= 0.031
    assert stock.lag[0] >= 2 * kind.lag[0]
    assert (
        stock.find_hardest(stock.asked) > 7000 > 50 * A > kind.find_hardest(kind.asked)
    )


@pytest.mark.parametrize("rate", [125.0, 200.0, 250.0, 500.0, 1000.0])
def test_both_controllers_get_commands_as_early_and_as_exact(rate):
    stock, kind = (Robot(begins, rate) for begins in BEGINS)

    np.testing.assert_array_equal(stock.asked[10:], kind.asked[10:])
    lag, rms = stock.lag
    assert lag <= 0.031
    assert rms < 1e-3
    # the arm's: what arrivals early or late leave of A
    assert stock.find_hardest(stock.measured) < 10 * A


def test_a_controller_that_begins_at_its_desired_state_takes_up_what_is_late():
    told, untold = (Robot("desired", 500.0, tells_begin=t) for t in (True, False))

    assert untold.find_hardest(untold.asked) < told.find_hardest(told.asked)
    assert untold.lag[0] == pytest.approx(told.lag[0], abs=2e-3)
