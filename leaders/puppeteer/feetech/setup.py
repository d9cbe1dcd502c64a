"""Set-up of Feetech servos in turn."""

from __future__ import annotations

from collections.abc import Generator

from paprle.hardware.dynamixel.bus_thread import BusSettings
from paprle.hardware.dynamixel.setup import Goal
from paprle.hardware.feetech.models import ServoSpec
from paprle.hardware.feetech.setup import find_alone, set_up
from paprle.hardware.feetech.wire import Wire
from paprle.leaders.puppeteer.setup_dialogue import Goals, set_up_each


def set_up_feetech(
    settings: BusSettings, goals: Goals
) -> Generator[str, str, list[str]]:
    """Give each servo its id and the rate of the bus.

    Yields:
        Questions; expects the answer.

    Returns:
        A line for each servo.

    Raises:
        BusError: If the port cannot be opened.
    """
    wire = Wire(settings.path, settings.baud, settings.timeout)
    wire.open()

    def set_up_alone(goal: Goal) -> None:
        spec = ServoSpec(id=goal.spec.id, model=goal.spec.model)
        set_up(wire, find_alone(wire), spec, goal.baud)

    try:
        return (yield from set_up_each(goals, set_up_alone))
    finally:
        wire.close()
