"""Puppeteers: arms of servos, which render torque.

``latest`` and ``apply`` may be called from two threads; each port has its own.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from paprle.contracts.errors import ConfigError, DeviceError
from paprle.contracts.plugins import Clock, Leader
from paprle.contracts.types import Feedback, LeaderInfo, LeaderSample, SessionState, Vec
from paprle.hardware.dynamixel.bus_thread import BusThread
from paprle.hardware.dynamixel.errors import BusError
from paprle.hardware.dynamixel.line.port import (
    find_latency_problem,
    read_latency_timer,
)
from paprle.hardware.dynamixel.torque import TorqueCommand
from paprle.hardware.serial_bus.port import find_obstacle
from paprle.leaders.puppeteer.calibration import calibrate
from paprle.leaders.puppeteer.checks import find_mistakes
from paprle.leaders.puppeteer.config import PuppeteerConfig
from paprle.leaders.puppeteer.doctor import diagnose
from paprle.leaders.puppeteer.fault_log import ServoFaultLog, summarise_buses
from paprle.leaders.puppeteer.rig import make_arms, make_bus, make_buses
from paprle.leaders.puppeteer.samples import SampleMaker
from paprle.leaders.puppeteer.servo_models import has_torque
from paprle.leaders.puppeteer.setup import set_up_servos

if TYPE_CHECKING:
    from paprle.leaders.puppeteer.rig import ServoBus

_ENGAGE_HINT = "open all grippers, then hold them closed for 3 s with the arms still"
_WAITING = SessionState.WAITING
_STANDS = 1e-3  # [N·m] chosen: torques that change by less between two calls stand
_MUST_BE_LIMP = {SessionState.STOPPED, SessionState.CLOSING}


class Puppeteer(Leader):
    """Emits joints and renders torques of any number of arms."""

    config: PuppeteerConfig
    _state: SessionState | None

    def __init__(self, config: PuppeteerConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        mistakes = find_mistakes(config)
        if mistakes:
            raise ConfigError(mistakes)
        self.arms = make_arms(config)
        self._buses = {
            port: make_bus(settings, self.arms, clock)
            for port, settings in make_buses(config).items()
        }
        self._on_port = {
            port: [arm for arm in self.arms if arm.settings.port == port]
            for port in self._buses
        }
        self._lock = threading.Lock()
        self._is_calibrating = False
        self._forget()

    @property
    def info(self) -> LeaderInfo:
        """All arms."""
        arms = {arm.name: arm.info for arm in self.arms}
        models = {servo.model for arm in self.arms for servo in arm.servos}
        has_gripper = any(arm.gripper is not None for arm in arms.values())
        return LeaderInfo(
            limbs=tuple(arms),
            emits="joints",
            joint_names={name: arm.joint_names for name, arm in arms.items()},
            has_gripper=has_gripper,
            renders="torque" if any(map(has_torque, models)) else "none",
            rate=self.config.rate,
            arms=arms,
            engage_hint=_ENGAGE_HINT if has_gripper else "",
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Slow adapters, faulty watchdogs, and an episode's start."""
        latencies = {port: read_latency_timer(port) for port in self._buses}
        found = [find_latency_problem(port, ms) for port, ms in latencies.items()]
        hint = self.info.engage_hint
        how = "puppeteer: it has no gripper to give a signal with: Enter starts, n ends"
        if hint:
            how = f"puppeteer: {hint} to start; the same at the reset pose ends"
        told = [text for bus in self._buses.values() for text in bus.notes]
        return (*(text for text in found if text is not None), *told, how)

    def preflight(self) -> tuple[str, ...]:
        """Report missing or forbidden ports."""
        found = (find_obstacle(bus.settings.path) for bus in self._buses.values())
        return tuple(f"leader 'puppeteer': {text}" for text in found if text)

    @property
    def unchecked(self) -> str:
        """Checks that need open ports."""
        return "whether every servo answers and is well; `paprle doctor` tells"

    def take_warnings(self) -> list[str]:
        """Return servos that newly failed or recovered."""
        return self._faults.update(self._buses)

    @property
    def closing_notes(self) -> tuple[str, ...]:
        """Faults of buses, and servos whose torque may be on."""
        return tuple(summarise_buses(self._buses))

    def open(self) -> None:
        """Open every bus; all arms are limp but for 0.2 s of watchdog trials.

        Raises:
            DeviceError: With all problems of any bus.
        """
        self._forget()
        problems: list[str] = []
        for bus in self._buses.values():
            try:
                bus.open()
                problems += self._find_uncalibrated(bus)
            except BusError as err:
                problems += err.problems
        if problems:
            self.close()
            listed = "\n".join(problems)
            raise DeviceError(f"leader 'puppeteer': {listed}")

    def latest(self) -> LeaderSample | None:
        """Return the newest joints; any thread, never blocks."""
        with self._lock:
            snapshots = {
                port: snapshot
                for port, bus in self._buses.items()
                if (snapshot := bus.latest()) is not None
            }
            if len(snapshots) < len(self._buses):
                return self._samples.sample
            return self._samples.update(
                snapshots, self._state, self.clock(), is_engaged=self._is_engaged
            )

    def apply(self, feedback: Feedback) -> None:
        """Post torques to the buses; any thread, never blocks."""
        self._is_engaged, self._state = feedback.is_engaged, feedback.state
        is_release = feedback.state in _MUST_BE_LIMP
        is_at_rest = self.is_at_rest
        for port, bus in self._buses.items():
            tau = self._make_torque(port, feedback.tau)
            bus.post(TorqueCommand(tau, feedback.stamp_ns, is_release))
            before = self._rendered.get(port, np.inf)
            stands = bool((np.abs(tau - before) <= _STANDS).all())
            bus.set_idle(is_idle=is_at_rest and (stands or not tau.any()))
            self._rendered[port] = tau

    @property
    def is_at_rest(self) -> bool:
        """Whether session and arms are idle."""
        return self._state == _WAITING and self._samples.is_quiet

    def close(self) -> None:
        """Ramp torques down, switch them off, and verify it."""
        for bus in self._buses.values():
            bus.release()
        for bus in self._buses.values():
            bus.close()

    def _find_uncalibrated(self, bus: ServoBus) -> list[str]:
        if self._is_calibrating or isinstance(bus, BusThread):
            return []
        text = bus.find_uncalibrated()
        return [text] if text else []

    def diagnose(self) -> Iterator[tuple[bool, str]]:
        """Examine the closed rig."""
        yield from diagnose(self.arms, make_buses(self.config))

    def set_up(self, joints: Sequence[str]) -> Generator[str, str, dict[str, Any]]:
        """Set up the closed rig's servos."""
        try:
            return (
                yield from set_up_servos(self.arms, make_buses(self.config), joints)
            )
        except BusError as err:
            raise DeviceError(f"leader 'puppeteer': {err}") from err

    def calibrate(self, joints: Sequence[str]) -> Generator[str, str, dict[str, Any]]:
        """Guide a calibration of the opened rig."""
        self._is_calibrating = True
        return self._calibrate(joints)

    def _calibrate(self, joints: Sequence[str]) -> Generator[str, str, dict[str, Any]]:
        try:
            return (yield from self._choose_calibration(joints))
        except BusError as err:
            raise DeviceError(f"leader 'puppeteer': {err}") from err

    def _choose_calibration(
        self, joints: Sequence[str]
    ) -> Generator[str, str, dict[str, Any]]:
        threads = {p: b for p, b in self._buses.items() if isinstance(b, BusThread)}
        limp = {p: b for p, b in self._buses.items() if not isinstance(b, BusThread)}
        if not limp:
            return calibrate(self.arms, threads, joints)
        if threads:
            raise ConfigError(
                "leader.limbs: expected servos of one maker, got two; calibrate each "
                "maker's arms by a config of their own"
            )
        from paprle.leaders.puppeteer.feetech.calibration import (  # noqa: PLC0415
            calibrate_feetech,
        )

        return calibrate_feetech(self.arms, limp, joints)

    @property
    def buses(self) -> Mapping[str, ServoBus]:
        """Buses by port."""
        return self._buses

    def _forget(self) -> None:
        self._is_engaged = False
        self._state: SessionState | None = None
        self._samples = SampleMaker(self.config, self.arms)
        self._faults = ServoFaultLog(self.arms)
        self._rendered: dict[str, Vec] = {}

    def _make_torque(self, port: str, wanted: Mapping[str, Vec]) -> Vec:
        arms, lost = self._on_port[port], self._samples.presence.lost
        tau = np.zeros(sum(len(arm.servos) for arm in arms))
        for arm in arms:
            torques = wanted.get(arm.name)
            if torques is None or arm.name in lost:
                continue
            if len(torques) == len(arm.servos):
                tau[arm.place] = arm.to_servos(torques)
        return tau
