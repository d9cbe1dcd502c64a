"""A leader on another host than the session: its samples cross a bad network."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from linked_step import KEY, SKEW_NS, TERMS, Wire
from lock_step import H_NS, HUMAN, LockStep

from paprle.ipc.records import pack_sample
from paprle.link.follower_end import FollowerEnd
from paprle.link.leader_end import LeaderEnd
from paprle.link.mirror import make_leader_cut

V_OVER_A = 0.32  # [s] of the slowest joint of the PiPER, rounded up
T_STALE = 0.1  # [s] spec: safety.md A1


class LeaderAfar(LockStep):
    """``LockStep`` whose leader is on another host, with another clock."""

    def __init__(self):
        super().__init__(HUMAN)
        cut = make_leader_cut(self.layout)
        self.up, self.down = Wire(1), Wire(2)
        self.near = LeaderEnd(KEY, cut, TERMS, is_recorded=False)
        self.far = FollowerEnd(KEY, self.robot.info, cut, TERMS, rate=1e9 / H_NS)
        self.tick = None

    def sample(self):
        return replace(super().sample(), stamp_ns=self.clock() + SKEW_NS)

    def engage(self):
        self.until("WAITING").step(100)  # hosts that meet take a while
        return super().engage()

    def step(self, n=1):
        for _ in range(n):
            self.clock.now_ns += H_NS
            self._step_leader(self.clock() + SKEW_NS)
            self._step_session(self.clock())
            self.states.append(self.core.state.name)
        return self

    def _step_leader(self, now_ns):
        self.tick = self.near.take(self.down.deliver(self.clock()), now_ns).get(
            "tick", self.tick
        )
        self.near.ask(now_ns)
        if self.leader_speaks:
            sample = pack_sample(self.layout, self.sample())
            self.near.send("sample", sample, now_ns)
        self._carry(self.near.outbox, self.up)
        self.near.outbox.clear()

    def _step_session(self, now_ns):
        newest = self.far.take(self.up.deliver(now_ns), now_ns)
        self.record = newest.get("sample", self.record)
        output = self.core.step(now_ns, [self.record], self.status, self.actions)
        self.setpoint = output.setpoint.copy()
        self.far.send("tick", output.tick.tobytes(), now_ns)
        self._carry(self.far.outbox, self.down)
        self.far.outbox.clear()
        self.status = self.gate.step(self.setpoint, now_ns)

    def _carry(self, outbox, wire):
        for data in outbox:
            wire.send(data, self.clock())


@pytest.fixture
def session():
    made = LeaderAfar()
    for wire in (made.up, made.down):
        wire.delay, wire.jitter, wire.loss, wire.doubled = 0.02, 0.01, 0.1, 0.1
    yield made
    verdict = made.judge()
    assert verdict.is_ok, str(verdict)


def test_it_drives_over_loss_delay_and_jitter(session):
    session.engage()
    before = session.q_cmd

    session.move(200).step(100)

    assert session.state == "ENGAGED"
    assert np.abs(session.q_cmd - before).max() > 0.1


def test_samples_arrive_in_the_sessions_time(session):
    session.until("WAITING").step(200)

    age = session.clock() - int(session.record["stamp_ns"])

    assert 0.015e9 < age < 0.08e9
    assert (session.record["limb_ns"] == session.record["stamp_ns"]).all()


def test_a_cut_brakes_within_the_age_of_arrival_and_says_so(session):
    session.engage().move(100, speed=0.4)
    session.up.is_dead = session.down.is_dead = True

    session.move(round((T_STALE + V_OVER_A) * 1e9 / H_NS) + 8, speed=0.4)

    assert session.gate.is_at_rest
    assert "leader lost" in session.core.note


def test_the_leader_hears_what_the_session_does(session):
    session.engage().move(50)

    age = session.clock() + SKEW_NS - int(session.tick["stamp_ns"])
    assert session.tick["episode"] == session.core.episodes.number
    assert 0.015e9 < age < 0.1e9
