"""Session and gate on two hosts in lock-step, with a bad network between them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from lock_step import H_NS, HUMAN, LockStep

from paprle.ipc.records import pack_sample
from paprle.link.batch_compression import squeeze
from paprle.link.follower_end import FollowerEnd
from paprle.link.guards import make_gate_guards
from paprle.link.leader_end import LeaderEnd
from paprle.link.mirror import make_gate_cut

KEY = b"a secret of thirty-two bytes ..."
TERMS = {"version": "1", "session.rate": "200", "limits": "f0"}
SKEW_NS = 7_000_000_000_000  # [ns] between the two hosts' clocks


class Wire:
    """One direction: late, lossy, at times dead.

    Attributes:
        delay: One way, [s].
        jitter: Longest further delay, [s]; datagrams overtake one another.
        loss: Share that is lost.
        doubled: Share that comes twice.
        is_dead: Nothing passes.
        seen: Everything that was put on it.
    """

    def __init__(self, seed: int) -> None:
        self.delay, self.jitter, self.loss, self.doubled = 0.0, 0.0, 0.0, 0.0
        self.is_dead = False
        self.seen: list[bytes] = []
        self._rng = np.random.default_rng(seed)
        self._under_way: list[tuple[int, int, bytes]] = []

    def send(self, data: bytes, now_ns: int) -> None:
        self.seen.append(data)
        for _ in range(1 + (self._rng.random() < self.doubled)):
            if self.is_dead or self._rng.random() < self.loss:
                continue
            late = self.delay + self.jitter * self._rng.random()
            number = len(self.seen)
            self._under_way.append((now_ns + int(late * 1e9), number, data))

    def deliver(self, now_ns: int) -> list[bytes]:
        here = sorted(entry for entry in self._under_way if entry[0] <= now_ns)
        self._under_way = [entry for entry in self._under_way if entry[0] > now_ns]
        return [data for _, _, data in here]


class LinkedStep(LockStep):
    """``LockStep`` whose gate is on another host."""

    def __init__(self, leader=HUMAN, **settings):
        super().__init__(leader, **settings)
        self.skew_ns = SKEW_NS
        self.up, self.down = Wire(1), Wire(2)
        self.near = LeaderEnd(KEY, make_gate_cut(self.layout), TERMS, is_recorded=True)
        cut = make_gate_cut(self.layout)
        guards = make_gate_guards(cut, self.robot.info)
        self.far = FollowerEnd(KEY, cut, guards, TERMS, rate=1e9 / H_NS)
        self.at_gate = None
        self.gate_status = self.gate.step(None, self.clock())
        self._lies: dict[str, int] = {}
        self.status = None
        self.is_ready = False

    def sample(self):
        return replace(super().sample(), stamp_ns=self.clock() + self.skew_ns)

    def step(self, n=1):
        for _ in range(n):
            self.clock.now_ns += H_NS
            self._step_leader(self.clock() + self.skew_ns)
            self._step_follower(self.clock())
            self.states.append(self.core.state.name)
        return self

    def _step_leader(self, now_ns):
        if self.leader_speaks:
            self.record = pack_sample(self.layout, self.sample())
        newest = self.near.receive(self.down.deliver(self.clock()), now_ns)
        self.status = newest.get("status", self.status)
        self.near.ask(now_ns)
        if self.session_speaks and self.status is not None:
            output = self.core.step(now_ns, [self.record], self.status, self.actions)
            self.setpoint = output.setpoint
            self.events += output.events
            self.near.send("setpoint", output.setpoint, now_ns)
        for data in self.near.outbox:
            self.up.send(data, self.clock())
        self.near.outbox.clear()

    def _step_follower(self, now_ns):
        newest = self.far.receive(self.up.deliver(now_ns), now_ns)
        self.at_gate = newest.get("setpoint", self.at_gate)
        if self.far.is_open and not self.is_ready:
            self.is_ready = True
            self.far.send_report({"event": "ready", "rate": 200.0, "lag": 0.0}, now_ns)
        self.gate_status = self.gate.step(self.at_gate, now_ns)
        if self.is_ready:
            told = self.gate_status.copy()
            for name, lie_ns in self._lies.items():
                told[name] += lie_ns
            self.far.send("status", told.tobytes(), now_ns)
            self.far.send("gate_ring", self.gate_status.tobytes(), now_ns)
            self.far.send_queued(now_ns)
        for data in self.far.outbox:
            self.down.send(data, now_ns)
        self.far.outbox.clear()

    def cut(self, *, is_dead=True):
        self.up.is_dead = self.down.is_dead = is_dead
        return self

    def forge(self, change, kind):
        """Send one datagram of the leader's with its payload changed, well sealed."""
        (payload,) = squeeze([change(self.setpoint.copy()).tobytes()])
        data = self.near._sealer.seal(kind, payload, self.clock() + self.skew_ns)
        self.up.send(data, self.clock())

    def tell_of(self, **lies_ns):
        """Let the robot's host add these to stamps of its statuses, [ns]."""
        self._lies = lies_ns
        return self

    def ask(self, **values):
        def change(record):
            for name, value in values.items():
                record[name] = value
            return record

        return change

    @property
    def far_state(self):
        return self.gate.state.name

    @property
    def is_moving_far(self):
        return not self.gate.is_at_rest
