"""A gripper by its settings: on a serial port, or behind a UR's URCap."""

from __future__ import annotations

import importlib
from typing import Protocol

from paprle.hardware.robotiq.gripper import Gripper, GripperSettings, Line
from paprle.hardware.robotiq.urcap import UrcapLine


class Wishes(Protocol):
    """Settings that all grippers of an env share."""

    @property
    def model(self) -> str:
        """Of ``MODELS``."""

    @property
    def unit(self) -> int:
        """Modbus address."""

    @property
    def speed(self) -> float:
        """Share of its range, 0 … 1."""

    @property
    def force(self) -> float:
        """Share of its range, 0 … 1."""

    @property
    def activates(self) -> bool:
        """Whether it may be activated at the opening."""


def make_gripper(
    wishes: Wishes, address: str, *, is_serial: bool, closed: float, opened: float
) -> Gripper:
    """Return a closed connection to a gripper.

    Args:
        wishes: Settings.
        address: Serial port, or address of the UR's controller.
        is_serial: Which of the two.
        closed: Position of its joint with closed fingers, [m] or [rad].
        opened: The same with open fingers.

    Returns:
        The gripper.

    Raises:
        ImportError: If a serial port is asked for without pymodbus.
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
