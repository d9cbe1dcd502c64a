"""Bus of servos, for one thread.

Count 2048 after the homing offset is 0.
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
    """All servos at one instant, shape (n,), NaN for silent ones.

    Attributes:
        stamp_ns: Request time, [ns].
        angle: [rad], over turns since discovery.
        velocity: [rad/s].
        load: Of the full duty, −1 … 1.
        current: [A], load's sign.
        voltage: [V].
        temperature: [°C].
        errors: Status bits; 0 for silent servos.
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
            BusError: Unknown model.
        """
        for spec in specs:
            find_number(spec.model)
        super().__init__(wire, [Servo(spec) for spec in specs], clock)

    @property
    def n_echoes(self) -> int:
        """Requests returned by the adapter."""
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
            BusError: Lost port.
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
        """Write and verify all calibrations, limp.

        Raises:
            BusError: Torque is on, or a servo is silent or refuses.
        """
        for servo, one in zip(self.servos, stored, strict=True):
            with self.wire.patiently():
                write_stored(self.wire, servo.spec.id, one)
                servo.configure(self.wire)
