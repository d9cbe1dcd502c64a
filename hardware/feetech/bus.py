"""One bus of servos, for one thread: reads all at once, writes goals.

Angles are the servos' own: count 2048 is 0, after the homing offset of each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paprle.hardware.feetech.eeprom import Stored, write_stored
from paprle.hardware.feetech.inspection import (
    MEASURED,
    find_elsewhere,
    find_foreigners,
)
from paprle.hardware.feetech.models import ServoSpec, find_number
from paprle.hardware.feetech.servo import SILENT, Servo
from paprle.hardware.feetech.wire import Wire
from paprle.hardware.serial_bus.goal_bus import GoalBus

Vec = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Reading:
    """All servos at one instant; arrays have shape (n,), with NaN for silent servos.

    Attributes:
        stamp_ns: Request time on the clock of the bus, [ns].
        angle: [rad], over whole turns since the servo was found.
        velocity: [rad/s].
        load: Share of the full duty of the motor, −1 … 1.
        current: [A], with the sign of the load.
        voltage: [V].
        temperature: [°C].
        errors: Bits of Status; 0 for silent servos.
        is_moving: Servos on their way to a goal.
    """

    stamp_ns: int
    angle: Vec
    velocity: Vec
    load: Vec
    current: Vec
    voltage: Vec
    temperature: Vec
    errors: npt.NDArray[np.int64]
    is_moving: Mask


class Bus(GoalBus[Wire, Servo, Reading]):
    """A bus and its servos."""

    def __init__(
        self, wire: Wire, specs: Sequence[ServoSpec], clock: Callable[[], int]
    ) -> None:
        """Begin closed.

        Raises:
            BusError: If a model is unknown.
        """
        for spec in specs:
            find_number(spec.model)
        super().__init__(wire, [Servo(spec) for spec in specs], clock)

    @property
    def n_echoes(self) -> int:
        """Requests that the adapter returned."""
        return self.wire.packets.n_echoes

    def _find_strangers(self) -> list[str]:
        return find_foreigners(self.wire)

    def _find_elsewhere(self, ids: Sequence[int]) -> list[str]:
        return find_elsewhere(self.wire, ids)

    def _read_rows(self, alive: Sequence[Servo]) -> dict[int, bytes]:
        return self.wire.sync_read(MEASURED, [servo.spec.id for servo in alive])

    def _switch_all_off(self) -> None:
        off = {servo.spec.id: 0 for servo in self.servos}
        self.wire.sync_write("Torque_Enable", off)

    def _decode(self, stamp_ns: int, rows: dict[int, bytes]) -> Reading:
        states = [
            servo.decode(rows[servo.spec.id]) if servo.spec.id in rows else SILENT
            for servo in self.servos
        ]
        *columns, errors, moving = zip(*states, strict=True)
        values = np.array(columns, dtype=np.float64)
        values.setflags(write=False)
        angle, velocity, load, current, voltage, temperature = values
        return Reading(
            stamp_ns=stamp_ns,
            angle=angle,
            velocity=velocity,
            load=load,
            current=current,
            voltage=voltage,
            temperature=temperature,
            errors=np.array(errors, dtype=np.int64),
            is_moving=np.array(moving, dtype=np.bool_),
        )

    def write_goals(self, angles: Vec) -> bool:
        """Send goals, shape (n,), [rad], to the servos that follow them.

        Returns:
            True.

        Raises:
            BusError: If the port is gone.
        """
        goals = {
            servo.spec.id: servo.find_goal(angle)
            for servo, angle in zip(self.servos, angles.tolist(), strict=True)
            if servo.is_held and servo.is_alive
        }
        if goals:
            self.wire.sync_write("Goal_Position", goals)
        return True

    def store(self, stored: Sequence[Stored]) -> None:
        """Write the calibration of each servo, limp, and verify it.

        Raises:
            BusError: If a servo holds torque, is silent or does not keep it.
        """
        for servo, one in zip(self.servos, stored, strict=True):
            with self.wire.patiently():
                write_stored(self.wire, servo.spec.id, one)
                servo.configure(self.wire)
