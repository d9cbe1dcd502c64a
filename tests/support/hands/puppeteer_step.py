"""A puppeteer's servos, session and gate in lock-step: real bus code, virtual time.

What the bus's thread does is done between two periods of the session. A question that
waits for its answer lets the rig run on; what it learns is seen when that time has
come.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
from dynamixel_rig import VirtualWire
from lock_step import H_NS, LockStep

from paprle.config import resolve
from paprle.contracts.types import Feedback, SessionState
from paprle.hardware.dynamixel.bus import Bus
from paprle.hardware.dynamixel.bus_thread import BusThread
from paprle.hardware.dynamixel.errors import BusError
from paprle.hosts.plan import make_robot, make_through
from paprle.ipc.records import pack_sample
from paprle.leaders.puppeteer.leader import Puppeteer
from paprle.retargeting.retarget import Retargeting
from paprle_emulators.dynamixel.config import read_rig
from paprle_emulators.dynamixel.faults import RigFaults
from paprle_emulators.dynamixel.rig import Rig

CYCLE = 0.0025  # [s] 400 Hz
AGAIN_NS = 500_000_000  # until a lost port is looked for again
TORQUE = 0.03  # [N·m] on every joint while engaged


class SteppedBus(BusThread):
    """A bus whose thread is the test."""

    def __init__(self, settings, clock, rig, begin_ns):
        super().__init__(settings, clock)
        self.rig, self._begin_ns = rig, begin_ns
        wire = VirtualWire(rig, settings.path)
        self._bus = Bus(wire, settings.servos, self.now)
        self._clock = self.now
        self.wire = wire
        self._shown = None
        self._coming = []
        self._look_ns = 0
        self._due_ns = 0

    def now(self):
        """Time of the rig on the session's clock."""
        return self._begin_ns + self.rig.now_ns

    def open(self):
        self._bus.open()

    def close(self):
        self._bus.close()

    def latest(self):
        return self._shown

    def run_to(self, now_ns):
        """Do what the thread does until a time."""
        while self.now() < now_ns:
            self.rig.step(min(CYCLE, (now_ns - self.now()) * 1e-9))
            if self.now() < self._due_ns and not self._is_wanted.is_set():
                continue  # it idles
            has_answers = self.turn()
            period = self._find_period(has_answers=has_answers)
            self._due_ns = self.now() + round(period * 1e9) - H_NS // 2
            self._coming.append((self.now(), self._snapshot))
        while self._coming and self._coming[0][0] <= now_ns:
            self._shown = self._coming.pop(0)[1]

    def turn(self):
        is_time = self.now() - self._look_ns > AGAIN_NS
        self._look_ns = self.now() if is_time else self._look_ns
        try:
            if self.wire.port.is_open:
                has_answers = self._read()
                self._tell(CYCLE)
                if is_time:
                    self._bus.reconnect()
                return has_answers
            elif is_time:
                self._bus.open(needs_all=False)
        except BusError as err:
            if self.wire.port.is_open:
                self._lose(err)
        return False


PAIR = "leader=puppeteer_piper", "follower=piper"
resolved_once = functools.cache(lambda words: resolve([*words, "env=kinematic"]))


class PuppeteerStep(LockStep):
    """An arm driven by a puppeteer, which renders a little torque while engaged."""

    def __init__(self, *words):
        resolved = resolved_once(words or PAIR)
        # in virtual time there is no process that would guard other watchdogs
        self.rig = Rig(replace(read_rig(resolved.leader_name), watchdog="ideal"))
        self.faults = RigFaults(self.rig)
        (self.limb,) = self.rig.limbs.values()
        leader = Puppeteer(resolved.leader, self._now)
        pair = self.pair(resolved, leader.info) if words else None
        super().__init__(leader.info, mode="joints", pair=pair)
        begin_ns = self.clock()
        leader._buses = {
            port: SteppedBus(bus.settings, self.clock, self.rig, begin_ns)
            for port, bus in leader.buses.items()
        }
        (self.bus,) = leader.buses.values()
        self.device = leader
        leader.open()

    @staticmethod
    def pair(resolved, leader):
        robot, through = make_robot(resolved), make_through(resolved)
        mapped = resolved.retarget
        return robot, Retargeting(
            robot, leader, mapped, ik_settings=resolved.ik, through=through
        )

    def _now(self):
        return self.clock()

    def step(self, n=1):
        for _ in range(n):
            self.clock.now_ns += H_NS
            self.feel()
            self.bus.run_to(self.clock())
            sample = self.device.latest() if self.leader_speaks else None
            if sample is not None:
                self.record = pack_sample(self.layout, sample)
            if self.session_speaks:
                output = self.core.step(
                    self.clock(), [self.record], self.status, self.actions
                )
                self.setpoint = output.setpoint.copy()
                self.events += output.events
            self.status = self.gate.step(self.setpoint, self.clock())
            self.states.append(self.core.state.name)
        return self

    def feel(self):
        """Post torques as the feedback thread does."""
        is_engaged = self.state == "ENGAGED"
        tau = {"arm": np.full(7, TORQUE)} if is_engaged else {"arm": np.zeros(7)}
        self.device.apply(
            Feedback(
                stamp_ns=self.bus.now(), state=SessionState[self.state], episode=0,
                is_engaged=is_engaged, tau=tau,
            )
        )  # fmt: skip

    def drive(self, n=40):
        """Engage, and let the hand swing every joint."""
        self.engage()
        self.rig.play("sines")
        return self.step(n)

    @property
    def q_truth(self):
        """Where the puppeteer's arm joints really are."""
        return self.limb.arm.q[:6].copy()

    @property
    def is_limp(self):
        return not np.any(self.limb.arm.tau_motor)

    @property
    def is_at_rest(self):
        return self.gate.is_at_rest
