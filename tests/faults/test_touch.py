"""A grasp and a press are no faults: L1 and L2 never trip on them (acceptance 5)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from lock_step import H_NS, HUMAN, PIPER, LockStep

from paprle.gate.reasons import Reason

TRIPS = (Reason.LAG, Reason.OVERSPEED, Reason.REVERSED)
GRIPPER = PIPER.joint_names.index(PIPER.limbs["arm"].gripper.joint)
BOUNCE = 20.0  # [Hz] of what is touched


class Touching(LockStep):
    """An operator with a gripper, and a follower that something stops.

    Attributes:
        opening: Of the leader's gripper.
        touch: From where the follower would be to where it is; None: nothing is there.
    """

    def __init__(self):
        super().__init__(replace(HUMAN, has_gripper=True))
        self.opening, self.touch = 1.0, None
        self._write = self.follower.write
        self.follower.write = self._meet

    def sample(self):
        found = super().sample()
        hand = replace(found.limbs["hand"], opening=self.opening)
        return replace(found, limbs={"hand": hand})

    def _meet(self, q_cmd):
        before = self.follower.q.copy()
        self._write(q_cmd)
        if self.touch is not None:
            self.follower.q = self.touch(self.follower.q)
            self.follower.dq = (self.follower.q - before) * 1e9 / H_NS

    def bounce(self, amplitude):
        return amplitude * np.sin(2e-9 * np.pi * BOUNCE * self.clock())

    def check(self):
        """Return how often the gate said that it was blocked."""
        counts = self.status["counts"]
        assert {reason.name: int(counts[reason]) for reason in TRIPS} == dict.fromkeys(
            (reason.name for reason in TRIPS), 0
        )
        assert self.gate_state == "ENGAGED"
        assert self.judge().is_ok
        return int(counts[Reason.BLOCKED])


@pytest.mark.parametrize("amplitude", [0.0, 0.001], ids=["hard", "springy"])
def test_a_grasp_never_trips(amplitude):
    """A block of 2 cm in fingers that close from 3.5 cm, held for ten seconds."""
    session = Touching()
    session.engage().step(20)

    def touch(q):
        q = q.copy()
        q[GRIPPER] = max(q[GRIPPER], 0.02 + session.bounce(amplitude))
        return q

    session.touch = touch
    for opening in (*np.linspace(1.0, 0.0, 60), *[0.0] * 2000):
        session.opening = opening
        session.step()

    assert session.q_cmd[GRIPPER] < 0.005  # squeezing
    assert session.follower.q[GRIPPER] >= 0.019
    assert session.check() == 0
    for session.opening in np.linspace(0.0, 1.0, 60):
        session.step()
    session.step(20)
    session.check()


@pytest.mark.parametrize("amplitude", [0.0, 0.003], ids=["hard", "springy"])
def test_a_press_never_trips(amplitude):
    """Ten seconds against something that gives way and comes back, and away again."""
    session = Touching()
    session.engage().step(20)
    wall = session.follower.q[0] + 0.1

    def touch(q):
        q = q.copy()
        q[0] = min(q[0], wall + session.bounce(amplitude))
        return q

    session.touch = touch
    session.move(500, speed=0.2).step(1500)

    assert session.q_cmd[0] > wall + 0.05  # pressing
    assert session.check() > 100  # leashed, which is what a press is
    session.move(500, speed=-0.2)
    assert session.follower.q[0] < wall - 0.02
    session.check()
