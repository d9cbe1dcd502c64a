"""Servo measurements in any mode, in SI units."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from paprle.hardware.dynamixel.inspection import ServoSpec
from paprle.hardware.dynamixel.models import Model
from paprle.hardware.dynamixel.torque_map import TorqueMap
from paprle.hardware.serial_bus.register import Register

TRIPPED = 255
"""Value of register 98 after the watchdog has bitten: -1. spec: e-manual."""


@dataclass(eq=False)
class MeasuredServo:
    """A servo on a bus.

    Attributes:
        direction: -1 if it counts clockwise.
    """

    spec: ServoSpec
    model: Model
    is_alive: bool = False
    direction: int = 1

    @cached_property
    def torques(self) -> TorqueMap:
        """Torque by current of each motor."""
        return self.spec.torques

    @cached_property
    def span(self) -> Register:
        """Register of the measurements."""
        first = "Present Current" if self.model.has_torque else "Present Velocity"
        return self.model.span(first, "Present Position")

    @property
    def n_motors(self) -> int:
        """Number of servos at the joint."""
        return 1 if self.spec.twin is None else 2

    def register(self, name: str) -> Register:
        """Return a register by the vendor's name."""
        return self.model.registers[name]

    def decode(self, row: bytes) -> tuple[float, float, float]:
        """Return ``span``'s angle [rad], velocity [rad/s] and torque [N·m]."""
        model, way, torque = self.model, self.direction, math.nan
        if model.has_torque:
            current = self._signed(row, "Present Current") * model.current_unit
            torque = way * self.n_motors * self.torques.find_torque(current)
        count = self._signed(row, "Present Position") - model.zero_count
        velocity = self._signed(row, "Present Velocity") * model.velocity_unit
        return way * count * model.angle_unit, way * velocity, torque

    def split(self, block: bytes, span: Register) -> Mapping[str, int]:
        """Return a block's unsigned registers by name."""
        return {
            name: int.from_bytes(block[place], "little")
            for name, place in self._find_places(span).items()
        }

    def _signed(self, row: bytes, name: str) -> int:
        return int.from_bytes(row[self._places[name]], "little", signed=True)

    @cached_property
    def _places(self) -> Mapping[str, slice]:
        return self._find_places(self.span)

    def _find_places(self, span: Register) -> Mapping[str, slice]:
        return {
            name: slice(at, at + register.size)
            for name, register in self.model.registers.items()
            if 0 <= (at := register.address - span.address) < span.size
        }
