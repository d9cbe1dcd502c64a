"""Orders of standard input."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from paprle_emulators.ur.controller import DT, N_INPUTS, Controller
from paprle_emulators.ur.models import N_JOINTS
from paprle_emulators.ur.server import Server


class Faults:
    """Executes orders.

    Attributes:
        stalled: Remaining standstill, [s].
    """

    def __init__(
        self,
        controller: Controller,
        server: Server,
        more: Mapping[str, Callable[..., None]],
    ) -> None:
        self._controller, self._server = controller, server
        self.stalled = 0.0
        self._until: list[tuple[float, Callable[[], None]]] = []
        self._orders: dict[str, Callable[..., object]] = {
            "estop": controller.stop_in_emergency,
            "system_estop": lambda: controller.stop_in_emergency(is_system=True),
            "estop_release": controller.release_emergency,
            "violation": lambda: controller.break_safety(is_fault=False),
            "safety_fault": lambda: controller.break_safety(is_fault=True),
            "restart_safety": controller.restart_safety,
            "recovery": controller.enter_recovery,
            "recovered": controller.recover,
            "protective_stop": controller.stop_protectively,
            "unlock": controller.unlock,
            "safeguard": controller.open_safeguard,
            "safeguard_reset": controller.close_safeguard,
            "local": lambda: controller.set_remote(is_remote=False),
            "remote": lambda: controller.set_remote(is_remote=True),
            "power_off": lambda: controller.switch_power(is_on=False),
            "power_on": controller.release_brakes,
            "program_stop": lambda: controller.end_program("stopped at the pendant"),
            "slider": self._set_slider,
            "wrench": self._set_wrench,
            "push": self._push,
            "lead": self._lead,
            "input": self._set_input,
            "unplug": self._unplug,
            "replug": lambda: server.cut(is_cut=False),
            "power_loss": self._lose_power,
            "late": self._delay,
            "stall": self._stall,
            "none": self._clear,
            **more,
        }

    @property
    def kinds(self) -> tuple[str, ...]:
        """Names of all orders."""
        return tuple(self._orders)

    def apply(self, order: Mapping[str, Any]) -> None:
        """Execute an order.

        Raises:
            ValueError: If invalid.
        """
        arguments = dict(order)
        kind = str(arguments.pop("fault", ""))
        if kind not in self._orders:
            raise ValueError(f"fault: expected one of {', '.join(self._orders)}")
        try:
            self._orders[kind](**arguments)
        except TypeError as err:
            raise ValueError(f"fault '{kind}': {err}") from err

    def step(self) -> None:
        """End expired faults."""
        now = self._controller.time
        due = [action for at, action in self._until if at <= now]
        self._until = [(at, action) for at, action in self._until if at > now]
        for action in due:
            action()

    def _set_slider(self, fraction: float) -> None:
        self._controller.slider = min(max(float(fraction), 0.0), 1.0)

    def _set_wrench(self, values: list[float]) -> None:
        if len(values) != N_JOINTS:
            raise ValueError(f"wrench: expected 6 values, got {len(values)}")
        self._controller.wrench = np.array(values, dtype=float)

    def _push(self, joint: int = 1, by: float = 0.1) -> None:
        if not 1 <= joint <= N_JOINTS:
            raise ValueError(f"joint: expected 1 to {N_JOINTS}, got {joint}")
        self._controller.arm.push(joint - 1, by)

    def _lead(self, joint: int = 1, by: float = 0.1, time: float = 0.5) -> None:
        if not 1 <= joint <= N_JOINTS:
            raise ValueError(f"joint: expected 1 to {N_JOINTS}, got {joint}")
        if not time > 0.0:
            raise ValueError(f"time: expected more than 0 [s], got {time}")
        if not self._controller.arm.lead(joint - 1, float(by), float(time)):
            self._controller.note("a hand pushes, the arm holds")

    def _set_input(self, number: int = 0, is_on: bool = True) -> None:
        if not 0 <= number < N_INPUTS:
            raise ValueError(f"number: expected 0 to {N_INPUTS - 1}, got {number}")
        bit = 1 << number
        other = self._controller.digital_in & ~bit
        self._controller.digital_in = other | bit * bool(is_on)

    def _unplug(self, time: float = 0.0) -> None:
        self._server.cut(is_cut=True)
        if time > 0.0:
            self._later(time, lambda: self._server.cut(is_cut=False))

    def _lose_power(self, time: float = 0.0) -> None:
        self._controller.switch_power(is_on=False)
        self._server.close()
        if time > 0.0:
            self._later(time, self._server.listen)

    def _delay(self, by: float = 0.05, time: float = 0.0) -> None:
        self._server.delay = round(by / DT)
        if time > 0.0:
            self._later(time, lambda: setattr(self._server, "delay", 0))

    def _stall(self, time: float = 0.1) -> None:
        self.stalled = float(time)

    def _clear(self) -> None:
        self._server.delay = 0
        if self._server.is_cut:
            self._server.cut(is_cut=False)

    def _later(self, time: float, action: Callable[[], None]) -> None:
        self._until.append((self._controller.time + time, action))
