"""Puppeteers: what the operator's arms of servos do, and what they are made to feel.

Each port has a thread of its own that reads and writes; here snapshots become samples
and torques become commands. ``latest`` and ``apply`` may be called from two threads.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from hardware.dynamixel.errors import BusError
from hardware.dynamixel.models import has_torque
from hardware.dynamixel.owner import BusOwner, BusSettings, Snapshot
from hardware.dynamixel.port import find_latency_problem, read_latency_timer
from hardware.dynamixel.torque import TorqueCommand
from leaders.puppeteer.arm import Arm, ArmState, stand_still
from leaders.puppeteer.calibration import calibrate
from leaders.puppeteer.checks import find_mistakes
from leaders.puppeteer.config import PuppeteerConfig
from leaders.puppeteer.doctor import diagnose
from leaders.puppeteer.fault_log import Tidings, find_slack, say_buses
from leaders.puppeteer.grip import Grip, Hands, Says
from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.plugins import Clock, Leader
from paprle.contracts.types import (
    Feedback,
    JointState,
    LeaderInfo,
    LeaderSample,
    LimbCommand,
    SessionState,
)

_BEHIND_NS = 500_000_000  # chosen: longer than a host pauses; A1 brakes before
_PRESS = "open all grippers, then hold them closed for 3 s with the arms still"
_MUST_BE_LIMP = {SessionState.STOPPED, SessionState.CLOSING}


class Puppeteer(Leader):
    """Emits joints of any number of arms; renders torques where its servos can."""

    config: PuppeteerConfig
    _state: SessionState | None

    def __init__(self, config: PuppeteerConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        mistakes = find_mistakes(config)
        if mistakes:
            raise ConfigError(mistakes)
        self.arms = make_arms(config)
        self._owners = {
            port: BusOwner(settings, clock)
            for port, settings in make_buses(config).items()
        }
        self._on_port = {
            port: [arm for arm in self.arms if arm.settings.port == port]
            for port in self._owners
        }
        self._joint_names = tuple(
            f"{arm.name}/{joint}" for arm in self.arms for joint in arm.joint_names
        )
        self._lock = threading.Lock()
        self._forget()

    @property
    def info(self) -> LeaderInfo:
        """All arms of the YAML."""
        arms = {arm.name: arm.info for arm in self.arms}
        models = {servo.model for arm in self.arms for servo in arm.servos}
        return LeaderInfo(
            limbs=tuple(arms),
            emits="joints",
            joint_names={name: arm.joint_names for name, arm in arms.items()},
            has_gripper=any(arm.gripper is not None for arm in arms.values()),
            renders="torque" if any(map(has_torque, models)) else "none",
            rate=self.config.rate,
            arms=arms,
            press=_PRESS if any(arm.gripper for arm in arms.values()) else "",
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What slows it down, and how to start."""
        latencies = {port: read_latency_timer(port) for port in self._owners}
        found = [find_latency_problem(port, ms) for port, ms in latencies.items()]
        press = self.info.press
        how = "puppeteer: it has no gripper to give a signal with: Enter starts, n ends"
        if press:
            how = f"puppeteer: {press} to start; the same at the reset pose ends"
        return (*(text for text in found if text is not None), how)

    def take_warnings(self) -> list[str]:
        """Return what went wrong with servos, or got well, since the last call."""
        return self._tidings.take(self._owners)

    @property
    def last_words(self) -> tuple[str, ...]:
        """What its buses got over; closed, what could not be seen to be limp, too."""
        return tuple(say_buses(self._owners))

    def open(self) -> None:
        """Open every bus; all arms stay limp.

        Raises:
            DeviceError: With everything that is wrong on any bus.
        """
        self._forget()
        problems: list[str] = []
        for owner in self._owners.values():
            try:
                owner.open()
            except BusError as err:
                problems += err.problems
        if problems:
            self.close()
            listed = "\n".join(problems)
            raise DeviceError(f"leader 'puppeteer': {listed}")

    def latest(self) -> LeaderSample | None:
        """Return the newest joints of all arms; any thread, never blocks."""
        with self._lock:
            return self._take()

    def apply(self, feedback: Feedback) -> None:
        """Leave torques to the buses' threads; any thread, never blocks."""
        self._is_engaged, self._state = feedback.is_engaged, feedback.state
        is_release = feedback.state in _MUST_BE_LIMP
        for port, owner in self._owners.items():
            arms = self._on_port[port]
            tau = np.zeros(sum(len(arm.servos) for arm in arms))
            for arm in arms:
                wanted = feedback.tau.get(arm.name)
                is_lost = arm.name in self._lost
                if (
                    wanted is not None
                    and len(wanted) == len(arm.servos)
                    and not is_lost
                ):
                    tau[arm.place] = arm.to_servos(wanted)
            owner.post(TorqueCommand(tau, feedback.stamp_ns, is_release))

    def close(self) -> None:
        """Ramp torques down, switch them off, and see that they are; may be twice."""
        for owner in self._owners.values():
            owner.release()
        for owner in self._owners.values():
            owner.close()

    def diagnose(self) -> Iterator[tuple[bool, str]]:
        """Examine the closed rig, for ``paprle doctor``; writes nothing to it."""
        yield from diagnose(self.arms, make_buses(self.config))

    def calibrate(self, joints: Sequence[str]) -> Generator[str, str, dict[str, Any]]:
        """Guide through a calibration of the opened rig, for ``paprle calibrate``."""
        try:
            return (yield from calibrate(self.arms, self._owners, joints))
        except BusError as err:
            raise DeviceError(f"leader 'puppeteer': {err}") from err

    @property
    def owners(self) -> Mapping[str, BusOwner]:
        """The buses by port, for their counters and health."""
        return self._owners

    def _forget(self) -> None:
        self._sample: LeaderSample | None = None
        self._seqs: Mapping[str, int] = {}
        self._looked_at: Sequence[int] = ()
        self._lost: frozenset[str] = frozenset()
        self._seen: Sequence[ArmState] = ()  # when all arms were there last
        self._is_engaged = False
        self._state = None
        self._grip = Grip(self.config.reset_box)
        self._tidings = Tidings(self.arms)

    def _take(self) -> LeaderSample | None:
        """Make a sample of the newest snapshots, if anything is new."""
        snapshots = {
            port: snapshot
            for port, owner in self._owners.items()
            if (snapshot := owner.latest()) is not None
        }
        found = [snapshot.seq for snapshot in snapshots.values()]
        if len(found) < len(self._owners) or found == self._looked_at:
            return self._sample
        self._looked_at = found
        newest_ns = max(s.reading.stamp_ns for s in snapshots.values())
        arms = [
            arm
            for arm in self.arms
            if self._is_there(arm, snapshots[arm.settings.port], newest_ns)
        ]
        lost = {arm.name for arm in self.arms if arm not in arms}
        if self._is_engaged:
            lost |= self._lost  # who was away comes back where the session aligns
        arms = [arm for arm in arms if arm.name not in lost]
        seqs = {arm.settings.port: snapshots[arm.settings.port].seq for arm in arms}
        is_new = all(seq != self._seqs.get(port) for port, seq in seqs.items())
        if lost == self._lost and not (is_new and seqs):
            return self._sample  # until every arm has something new, of one moment
        self._seqs, self._lost = seqs, frozenset(lost)
        self._sample = self._make(arms, snapshots)
        return self._sample

    def _is_there(self, arm: Arm, snapshot: Snapshot, newest_ns: int) -> bool:
        """Whether an arm answers, and is not far behind those of other ports."""
        is_fresh = newest_ns - snapshot.reading.stamp_ns <= _BEHIND_NS
        return snapshot.is_open and is_fresh and arm.is_in(snapshot.reading)

    def _make(
        self, arms: Sequence[Arm], snapshots: Mapping[str, Snapshot]
    ) -> LeaderSample:
        """Make a sample of the arms that are there."""
        last, now_ns = self._sample, self.clock()
        states = [arm.convert(snapshots[arm.settings.port].reading) for arm in arms]
        used = {arm.settings.port for arm in arms} or snapshots
        stamp_ns = min(snapshots[port].reading.stamp_ns for port in used)
        is_whole = len(arms) == len(self.arms)
        limbs = {
            arm.name: LimbCommand(q=state.q[: arm.n_arm], opening=state.opening)
            for arm, state in zip(arms, states, strict=True)
        }
        if is_whole:
            says = self._read_hands(states, now_ns)
        else:
            self._grip.lose()
            says = Says(engaged=True)
        return LeaderSample(
            stamp_ns=stamp_ns if last is None else max(stamp_ns, last.stamp_ns),
            seq=0 if last is None else last.seq + 1,
            limbs=limbs,
            valid=is_whole or (self.config.on_loss == "go_on" and bool(arms)),
            engaged=says.engaged,
            start=says.start,
            end=says.end,
            leader_state=self._join(self._fill_in(arms, states)),
            slack=find_slack(self.arms, snapshots, self._lost),
        )

    def _read_hands(self, states: Sequence[ArmState], now_ns: int) -> Says:
        """Read what the operator says with grippers and arms."""
        both = list(zip(self.arms, states, strict=True))
        hands = Hands(
            openings=[s.opening for s in states if s.opening is not None],
            arms=[state.q[: arm.n_arm] for arm, state in both],
            distances=[arm.find_distance(state) for arm, state in both],
        )
        return self._grip.step(self._state, hands, now_ns)

    def _fill_in(
        self, arms: Sequence[Arm], states: Sequence[ArmState]
    ) -> Sequence[ArmState]:
        """Let lost arms stand where they were seen last: the others go on feeling."""
        if len(arms) == len(self.arms):
            self._seen = states
            return states
        found = {arm.name: state for arm, state in zip(arms, states, strict=True)}
        return [
            found.get(arm.name) or stand_still(state)
            for arm, state in zip(self.arms, self._seen, strict=False)
        ]

    def _join(self, states: Sequence[ArmState]) -> JointState | None:
        """Return all joints; None until all were seen once.

        Torques are given only where all are measured.
        """
        if not states:
            return None
        q, dq, tau = (
            np.concatenate(parts)
            for parts in zip(*((s.q, s.dq, s.tau) for s in states), strict=True)
        )
        for values in (q, dq, tau):
            values.setflags(write=False)
        is_measured = bool(np.isfinite(tau).all())
        return JointState(
            joint_names=self._joint_names, q=q, dq=dq, tau=tau if is_measured else None
        )


def make_arms(config: PuppeteerConfig) -> tuple[Arm, ...]:
    """Return the arms of a rig, each with its place on its bus."""
    arms: list[Arm] = []
    used: dict[str, int] = {}
    for name, settings in config.limbs.items():
        arm = Arm(name, settings, used.get(settings.port, 0))
        used[settings.port] = arm.place.stop
        arms.append(arm)
    return tuple(arms)


def make_buses(config: PuppeteerConfig) -> dict[str, BusSettings]:
    """Return the buses of a rig by port; arms of one port share a bus."""
    arms = make_arms(config)
    return {
        port: BusSettings(
            path=port,
            servos=tuple(
                servo
                for arm in arms
                if arm.settings.port == port
                for servo in arm.bus_servos
            ),
            baud=config.baud,
            rate=config.rate,
            timeout=config.timeout,
        )
        for port in dict.fromkeys(arm.settings.port for arm in arms)
    }
