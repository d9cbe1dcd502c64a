"""Robots without dynamics, each with one planted fault, for an acceptance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from paprle.config import resolve
from paprle.contracts.types import readonly
from paprle.followers.kinematic.follower import KinematicFollower
from paprle.hosts.plan import make_robot
from paprle.testing import ManualClock
from paprle_lab.acceptance.check import Kit
from paprle_lab.acceptance.person import Person
from paprle_lab.acceptance.rig import AcceptanceRig, Timing

TRIPLE = ("leader=autopilot", "follower=piper", "env=kinematic")


class Planted(KinematicFollower):
    """A sound robot; others change what it measures or declares."""

    n_opened = 0

    def open(self):
        self.opened_ns, self.sent = self.clock(), []
        return self.declare(super().open())

    def declare(self, info):
        return info

    def read(self):
        state = super().read()
        return replace(state, q=readonly(self.change(state.q)))

    def change(self, q):
        return q

    def write(self, q_cmd):
        self.sent.append(q_cmd.copy())
        super().write(q_cmd)

    @property
    def speeds(self):
        """Of the commands, [rad/s]."""
        return np.diff(self.sent, axis=0) * self.config.rate


class Mirrored(Planted):
    """Joint 3 has the other sign, in its commands and its measurements' place."""

    def change(self, q):
        home = self.robot.home
        return np.where(np.arange(len(q)) == 2, 2.0 * home - q, q)


class Creeping(Planted):
    """Joint 2 sinks from the moment it is opened."""

    def change(self, q):
        return q - 0.02 * 1e-9 * (self.clock() - self.opened_ns) * (
            np.arange(len(q)) == 1
        )


class Coasting(Planted):
    """It goes on at its speed once the command rests."""

    def __init__(self, *args):
        super().__init__(*args)
        self.fastest, self.gone = 0.0, 0.0

    def write(self, q_cmd):
        super().write(q_cmd)
        v = self.speeds[-1] if len(self.sent) > 1 else np.zeros_like(q_cmd)
        if np.abs(v).max() > np.abs(self.fastest).max():
            self.fastest = v
        elif not v.any():
            self.gone = self.gone + self.fastest / self.config.rate

    def change(self, q):
        return q + self.gone


class Late(Planted):
    """It declares no lag, whatever it has."""

    def declare(self, info):
        return replace(info, lag=0.0)


class Silent(Planted):
    """It measures nothing."""

    def change(self, q):
        return np.full_like(q, np.nan)


def make_kit(robot=Planted, *words, answer=None, sleep=None, **others):
    """Return a kit on a manual clock, and the robots that it opened."""
    resolved = resolve([*TRIPLE, *words])
    clock, opened = ManualClock(), []

    def make(config, model, ticking):
        opened.append(robot(config.env, model.info, ticking))
        return opened[-1]

    timing = Timing(clock=clock, sleep=sleep(clock) if sleep else clock.advance)
    kit = Kit(
        words=[*TRIPLE, *words],
        resolved=resolved,
        robot=make_robot(resolved),
        leaders={},
        person=Person(is_absent=answer is None, read=answer or str),
        folder=None,
        make_rig=lambda config: AcceptanceRig(config, make, timing),
        **others,
    )
    return kit, opened


class Stale(Planted):
    """Its measurements are half a second old from the beginning."""

    def read(self):
        state = super().read()
        return replace(state, stamp_ns=state.stamp_ns - 500_000_000)
