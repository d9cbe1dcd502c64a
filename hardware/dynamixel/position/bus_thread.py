"""The thread of a bus of Dynamixel servos that follow positions.

Without goals the servos hold the last one; without this process their watchdogs stop
them, which holds them where they are.
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
            BusError: If a model is unknown.
        """
        wire = Wire(settings.path, settings.baud, settings.timeout)
        super().__init__("dynamixel", settings, Bus(wire, servos, clock))

    @property
    def ranges(self) -> tuple[tuple[float, float], ...]:
        """Lowest and highest angle that each servo's own limits permit, [rad]."""
        return tuple(servo.find_range() for servo in self._bus.servos)

    @property
    def n_stops(self) -> int:
        """Silences of this host after which watchdogs had stopped servos."""
        return self._bus.n_stops
