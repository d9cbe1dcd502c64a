"""Thread of servos that follow positions.

Without goals they hold the last; without this process watchdogs stop them, with torque.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from paprle.hardware.dynamixel.line.wire import Wire
from paprle.hardware.dynamixel.position.bus import Bus, Reading
from paprle.hardware.dynamixel.position.inspection import PositionSpec
from paprle.hardware.serial_bus.goal_thread import BusSettings, GoalThread


class BusThread(GoalThread[Bus, Reading]):
    """A bus with its thread."""

    def __init__(
        self,
        settings: BusSettings,
        servos: Sequence[PositionSpec],
        clock: Callable[[], int],
    ) -> None:
        """Begin closed.

        Raises:
            BusError: Unknown model.
        """
        wire = Wire(settings.path, settings.baud, settings.timeout)
        super().__init__("dynamixel", settings, Bus(wire, servos, clock))

    @property
    def ranges(self) -> tuple[tuple[float, float], ...]:
        """Permitted angles by servo, [rad]."""
        return tuple(servo.find_range() for servo in self._bus.servos)

    @property
    def n_stops(self) -> int:
        """Host silences that tripped watchdogs."""
        return self._bus.n_stops
