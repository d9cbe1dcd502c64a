"""Arm behind its controller, by the maker's SDK.

A call waits for its answer, so it is made by the base's thread alone. The SDK keeps a
lost controller's last state, so each state has its age.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from paprle.hardware.vendor_arm.arm import Clock, Reading, Vec, VendorArm
from paprle.hardware.vendor_arm.clock import DeviceClock
from paprle.hardware.vendor_arm.settings import VendorSettings
from paprle.hardware.vendor_arm.states import (
    READY,
    ArmError,
    ArmState,
    Condition,
    describe,
)

_FIRST_TIME = 1.0  # [s] chosen: a controller on the same network answers in 1 ms
_POWER_TIME = 5.0  # [s] chosen: brakes open within one
_START_TIME = 1.0  # [s] chosen
_SILENT_NS = 1_000_000_000  # [ns] chosen: states that old mean a cable that stays out
_OFF, _READY, _RUNS, _HALTED, _ESTOP = range(5)  # spec: modes
_AT_THE_PENDANT = "then press Reset at its pendant"

_CONDITIONS: Mapping[int, Condition] = {
    _OFF: Condition(ArmState.POWER_OFF),
    _READY: Condition(ArmState.ENDED),
    _RUNS: READY,
    _ESTOP: Condition(ArmState.EMERGENCY_STOP),
}
_ERRORS: Mapping[int, tuple[ArmState, str, str]] = {  # spec: errors
    21: (ArmState.PROTECTIVE_STOP, "collision", "clear its way"),
    31: (ArmState.PROTECTIVE_STOP, "joint limit", "lead the joint back"),
    41: (ArmState.PROTECTIVE_STOP, "joint too fast", "lower gate.speed"),
    42: (ArmState.PROTECTIVE_STOP, "goal too far", "lower gate.speed"),
    51: (ArmState.FAULT, "drive", "call the maker's service"),
}
_REMEDIES: Mapping[ArmState, str] = {
    ArmState.EMERGENCY_STOP: "release the button, then switch the arm on",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SextantSettings(VendorSettings):
    """Settings of an arm.

    Attributes:
        rate: Of goals, [Hz].
        watchdog: Longest silence before its program ends, [s].
    """

    rate: float = 200.0
    watchdog: float = 0.2


def judge(mode: int, error: int) -> tuple[Condition, Mapping[ArmState, str]]:
    """Return a mode's condition, and the remedies for it."""
    if mode != _HALTED:
        found = _CONDITIONS.get(mode, Condition(ArmState.FAULT, f"mode {mode}"))
        return found, _REMEDIES
    unknown = (ArmState.FAULT, "unknown", "read its pendant")
    state, name, remedy = _ERRORS.get(error, unknown)
    told = f"{remedy}, {_AT_THE_PENDANT}"
    return Condition(state, f"error {error}, {name}"), {state: told}


class SextantArm(VendorArm):
    """A connected arm; ``open`` first."""

    def __init__(self, settings: SextantSettings, clock: Clock) -> None:
        name = f"sextant '{settings.host}'"
        super().__init__(name, clock, settings.rate, settings.watchdog)
        self._settings, self._time = settings, DeviceClock()
        self._client: Any = None
        self.model = ""

    def open(self) -> None:
        """Connect, power on, and start the program, without motion.

        Raises:
            ImportError: Missing SDK.
            ArmError: Unreachable, or stopped.
        """
        if self._client is None:
            self.greet()
        condition = self.examine()
        if condition.state is ArmState.POWER_OFF:
            self._call("POWER", 1)
            self._wait_for(lambda: self._find() is not ArmState.POWER_OFF, _POWER_TIME)
            condition = self.examine()
        if condition.state is not ArmState.ENDED:
            got = describe(condition, self.remedies) or "one that another program moves"
            raise ArmError(f"{self.name}: expected an arm at rest, got: {got}")
        settings = self._settings
        if settings.payload is not None:
            self._call("LOAD", settings.payload, *settings.payload_centre)
        self._start_program()
        if not self._wait_for(lambda: self._find() is ArmState.READY, _START_TIME):
            got = describe(self.examine(), self.remedies)
            raise ArmError(f"{self.name}: expected its program to run, got: {got}")
        self.start()

    def greet(self) -> str:
        """Return the model after connecting.

        Raises:
            ImportError: Missing SDK.
            ArmError: Unreachable, or without states.
        """
        sdk = importlib.import_module("sextant")
        try:
            self._client = client = sdk.Client(self._settings.host)
        except OSError as err:
            raise ArmError(
                f"{self.name}: expected a controller, got: {err}; look at its cable, "
                "power and address"
            ) from err
        self.model = str(self._call("WHO")).partition(" ")[0]
        if not self._wait_for(lambda: client.state is not None, _FIRST_TIME):
            raise ArmError(f"{self.name}: expected its states, got none; restart it")
        return self.model

    def examine(self) -> Condition:
        """Return the newest condition."""
        return self._read().condition

    def _read(self) -> Reading:
        client = self._client
        if client is None or client.state is None:
            raise ArmError(f"{self.name}: expected an open arm, got a closed one")
        state = client.state
        now = self._clock()  # after it: no state is from the future
        stamp = self._time.to_ours(state.time, now)
        condition, self.remedies = judge(state.mode, state.error)
        if not client.is_connected or now - stamp > _SILENT_NS:
            condition = Condition(ArmState.DISCONNECTED)
        q, dq, tau = (np.array(part) for part in (state.q, state.dq, state.tau))
        return Reading(stamp, q, dq, tau, condition, state.speed)

    def _send(self, q: Vec) -> None:
        self._call("JOIN", *q.tolist())

    def _keep(self) -> None:
        self._call("TICK")

    def _end_program(self) -> None:
        self._call("STOP")

    def _start_program(self) -> None:
        self._call("START", self._settings.watchdog)

    def _leave(self, *, is_powerless: bool) -> None:
        client, self._client = self._client, None
        if client is None:
            return
        for words in (("STOP",), ("POWER", 0))[: 1 + is_powerless]:
            if client.is_connected:
                self._try(client, *words)
        client.close()

    def _find(self) -> ArmState:
        return self.examine().state

    def _call(self, *words: object) -> str:
        try:
            return str(self._client.call(*words))
        except RuntimeError as err:
            raise ArmError(f"{self.name}: {err}") from err

    @staticmethod
    def _try(client: Any, *words: object) -> None:
        try:
            client.call(*words)
        except RuntimeError:
            return  # a controller that has gone is left as well
