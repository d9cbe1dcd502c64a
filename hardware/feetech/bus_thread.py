"""The thread of a bus of Feetech servos.

Without goals the servos hold: they have no watchdog, and go on holding when the plug is
pulled or this process ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paprle.hardware.feetech.bus import Bus, Reading
from paprle.hardware.feetech.eeprom import Stored
from paprle.hardware.feetech.models import ServoSpec
from paprle.hardware.feetech.wire import Wire
from paprle.hardware.serial_bus.goal_thread import BusSettings, GoalThread, Snapshot

__all__ = ["BusSettings", "BusThread", "Snapshot"]


class BusThread(GoalThread[Bus, Reading]):
    """A bus with its thread."""

    def __init__(
        self,
        settings: BusSettings,
        servos: Sequence[ServoSpec],
        clock: Callable[[], int],
    ) -> None:
        """Begin closed.

        Raises:
            BusError: If a model is unknown.
        """
        wire = Wire(settings.path, settings.baud, settings.timeout)
        super().__init__("feetech", settings, Bus(wire, servos, clock))

    @property
    def stored(self) -> tuple[Stored, ...]:
        """Calibration at each servo, as read when it was found."""
        return tuple(servo.stored for servo in self._bus.servos)

    def store(self, stored: Sequence[Stored]) -> None:
        """Write the calibration of each servo, limp, and verify it.

        Raises:
            BusError: If a servo holds torque, is silent or does not keep it.
        """
        self._do(lambda: self._bus.store(stored))
