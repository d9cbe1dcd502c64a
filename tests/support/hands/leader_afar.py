"""A leader on another host than session and gate, in lock-step, over bad ways."""

from __future__ import annotations

from dataclasses import replace

from linked_step import KEY, SKEW_NS, Wire
from lock_step import H_NS, LockStep

from paprle.contracts.kit.sampling import Sampling
from paprle.contracts.types import LeaderInfo
from paprle.hosts.views.view import make_view
from paprle.ipc.records import pack_sample
from paprle.link.remote_leader.operator_side import OperatorSide
from paprle.link.remote_leader.robot_side import RobotSide

REPEATS = 3
HAND = LeaderInfo(
    limbs=("hand",),
    rate=100.0,
    has_gripper=True,
    is_far=True,
    sampling=Sampling("ordered", 0.2),
)


class LeaderAfar(LockStep):
    """``LockStep`` whose leader is on another host, with another clock."""

    def __init__(self, **wire):
        super().__init__(HAND)
        self.up, self.down = Wire(1), Wire(2)
        for one in (self.up, self.down):
            for name, value in wire.items():
                setattr(one, name, value)
        self.near = OperatorSide(KEY, HAND, REPEATS)
        self.far = RobotSide(KEY, HAND)
        self.view = self.taken = None

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
        sample = self.sample() if self.leader_speaks else None
        view = self.near.step(self.down.deliver(self.clock()), sample, now_ns)
        self.view = view or self.view
        for data in self.near.take_outbox():
            self.up.send(data, self.clock())

    def _step_session(self, now_ns):
        sample = self.far.step(self.up.deliver(now_ns), now_ns)
        if sample is not None:
            lives = self.far.take_life()
            self.taken = sample
            self.record = pack_sample(self.layout, sample, now_ns * lives)
        output = self.core.step(now_ns, [self.record], self.status, self.actions)
        self.setpoint = output.setpoint.copy()
        self.status = self.gate.step(self.setpoint, now_ns)
        view = make_view(self.layout, output.tick, self.status, now_ns)
        self.far.told = output.feedback
        self.far.send_view(view, now_ns)
        for data in self.far.take_outbox():
            self.down.send(data, self.clock())

    def part(self):
        """Part the hosts."""
        self.up.is_dead = self.down.is_dead = True
        return self
