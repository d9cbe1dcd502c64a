"""Gripper on a serial port, or behind a UR's URCap."""

from __future__ import annotations

import importlib
from typing import Protocol

from paprle.hardware.robotiq.gripper import Gripper, GripperSettings, Line
from paprle.hardware.robotiq.urcap import UrcapLine


class Wishes(Protocol):
    """Settings of an env's grippers."""

    @property
    def model(self) -> str:
        """Of ``MODELS``."""

    @property
    def unit(self) -> int:
        """Modbus address."""

    @property
    def speed(self) -> float:
        """Share of range, 0 … 1."""

    @property
    def force(self) -> float:
        """Share of range, 0 … 1."""

    @property
    def activates(self) -> bool:
        """Whether activation is permitted."""


def make_gripper(
    wishes: Wishes, address: str, *, is_serial: bool, closed: float, opened: float
) -> Gripper:
    """Return a gripper, not yet open.

    Args:
        wishes: Settings.
        address: Serial port, or UR's controller.
        is_serial: Of the two.
        closed: Joint's, [m] or [rad].
        opened: Likewise.

    Raises:
        ImportError: Missing pymodbus.
    """
    line: Line = UrcapLine(address)
    if is_serial:  # pymodbus is an extra
        modbus = importlib.import_module("paprle.hardware.robotiq.modbus")
        line = modbus.RtuLine(address, wishes.unit)
    return Gripper(
        line,
        GripperSettings(
            model=wishes.model,
            closed=closed,
            opened=opened,
            speed=wishes.speed,
            force=wishes.force,
            activates=wishes.activates,
        ),
    )
