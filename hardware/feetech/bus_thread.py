"""Thread of Feetech servos.

Without goals, plug or process they hold: they have no watchdog.
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
            BusError: Unknown model.
        """
        wire = Wire(settings.path, settings.baud, settings.timeout)
        super().__init__("feetech", settings, Bus(wire, servos, clock))

    @property
    def stored(self) -> tuple[Stored, ...]:
        """Each servo's calibration at discovery."""
        return tuple(servo.stored for servo in self._bus.servos)

    def store(self, stored: Sequence[Stored]) -> None:
        """Write and verify all calibrations, limp.

        Raises:
            BusError: Torque is on, or a servo is silent or refuses.
        """
        self._do(lambda: self._bus.store(stored))
