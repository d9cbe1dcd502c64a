"""Torque servo."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from paprle.hardware.dynamixel.errors import BusTimeout, ServoError
from paprle.hardware.dynamixel.inspection import (
    CURRENT_MODE,
    TORQUE_SHARE,
    find_absence,
    find_direction,
    find_problems,
    read_table,
    say_errors,
)
from paprle.hardware.dynamixel.line.wire import Wire
from paprle.hardware.dynamixel.measured_servo import TRIPPED, MeasuredServo
from paprle.hardware.dynamixel.torque_map import Dither
from paprle.hardware.dynamixel.twins import find_twin_absence, find_twin_problems
from paprle.hardware.serial_bus.register import Register

WATCHDOG = 0.1
"""Silence after which a servo drops its torque by itself, [s]. chosen: longer than any
pause of a healthy bus thread."""

_WATCHDOG = round(WATCHDOG / 0.02)  # spec: e-manual, register 98, its unit, [s]
_ANSWERS_ALL = 2  # spec: e-manual, register 68, Status Return Level

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Health:
    """A servo's health.

    Attributes:
        errors: Bits of Hardware Error Status.
        temperature: [°C].
        voltage: [V].
        is_torque_off: Without due torque.
    """

    servo_id: int
    errors: int
    temperature: int
    voltage: float
    is_torque_off: bool = False

    @property
    def is_well(self) -> bool:
        """Whether it has no fault."""
        return not (self.errors or self.is_torque_off)

    def __str__(self) -> str:
        words = [say_errors(self.errors)] if self.errors else []
        return ", ".join([*words, "torque is off"] if self.is_torque_off else words)


@dataclass(eq=False)
class Servo(MeasuredServo):
    """A servo that renders torque.

    Attributes:
        is_enabled: It may hold torque.
        epoch: Configurations.
        cap: Largest torque, [N·m]; 0: none.
        share: Of the torque, while it returns.
        stops_alone: Its watchdog stops it, as known.
    """

    is_enabled: bool = False
    epoch: int = 0
    cap: float = 0.0
    share: float = 1.0
    is_tried: bool = False
    stops_alone: bool = True
    _dither: Dither = field(default_factory=Dither, repr=False)

    @property
    def _watchdog(self) -> int:
        return _WATCHDOG if self.stops_alone else 0

    @property
    def is_waiting(self) -> bool:
        """Whether it awaits torque."""
        return self.is_alive and self.cap > 0.0 and not self.is_enabled

    @cached_property
    def goal(self) -> Register:
        """Goal torque, for torque control only."""
        return self.register("Goal Current")

    def look_at(self, wire: Wire) -> None:
        """Mark as present and read its direction.

        Raises:
            BusError: Lost port.
        """
        self.is_alive = True
        try:
            drive_mode = wire.read(self.spec.id, self.register("Drive Mode"))
        except BusTimeout as err:
            _LOG.debug("%s", err)  # whoever reads it next is told
        else:
            self.direction = find_direction(drive_mode)

    def configure(self, wire: Wire) -> list[str]:
        """Check the servo and write its settings, limp.

        Returns:
            Fatal problems.

        Raises:
            BusError: Lost port.
        """
        absence = find_absence(wire, self.spec) or find_twin_absence(wire, self.spec)
        if absence is not None:
            return [absence.text]
        try:
            level = self.register("Status Return Level")
            wire.write_blindly(self.spec.id, level, _ANSWERS_ALL)
            self.make_limp(wire)
            values = read_table(wire, self.spec)
            where = f"servo {self.spec.id} on '{wire.path}'"
            problems = find_problems(self.spec, values, where)
            problems += find_twin_problems(wire, self.spec)
            fatal = [problem.text for problem in problems if problem.is_fatal]
            if fatal:
                return fatal
            self.direction = find_direction(values["Drive Mode"])
            self._set_up(wire, values)
        except (BusTimeout, ServoError) as err:
            return [str(err)]
        self.is_alive, self.epoch = True, self.epoch + 1
        return []

    def enable(self, wire: Wire) -> None:
        """Enable torque: goal 0, watchdog armed unless faulty.

        Raises:
            BusError: Refusal or lost port.
        """
        self.is_enabled = True  # From here on it has to be made limp.
        wire.write(self.spec.id, self.register("Goal Current"), 0)
        register = self.register("Bus Watchdog")
        wire.write_checked(self.spec.id, register, self._watchdog)
        wire.write_checked(self.spec.id, self.register("Torque Enable"), 1)

    def make_limp(self, wire: Wire) -> None:
        """Switch torque off, verified, and disarm the watchdog.

        Raises:
            BusError: Unverified torque.
        """
        wire.write_checked(self.spec.id, self.register("Torque Enable"), 0)
        if self.spec.twin is not None:
            wire.write_checked(self.spec.twin, self.register("Torque Enable"), 0)
        wire.write(self.spec.id, self.register("Bus Watchdog"), 0)
        self.is_enabled, self.share = False, 1.0

    def give_up(self, wire: Wire) -> None:
        """Drop it; switch torque off unverified."""
        self.is_alive = False
        if self.is_enabled:
            wire.write_blindly(self.spec.id, self.register("Torque Enable"), 0)

    def check(self, wire: Wire) -> tuple[Health, bool] | None:
        """Check health and restore torque.

        Returns:
            Health, and whether the watchdog tripped; None if silent.

        Raises:
            BusError: Lost port.
        """
        span = self.model.span("Torque Enable", "Present Temperature")
        try:
            block = wire.read_block(self.spec.id, span, tries=1)
        except BusTimeout:
            return None
        values = self.split(block, span)
        errors = values["Hardware Error Status"]
        has_tripped = values["Bus Watchdog"] == TRIPPED
        if has_tripped:
            wire.write(self.spec.id, self.register("Bus Watchdog"), 0)
        is_armed = values["Bus Watchdog"] == self._watchdog
        is_on = values["Torque Enable"] == 1 and is_armed
        errors |= self._ask_twin(wire)
        health = Health(
            servo_id=self.spec.id,
            errors=errors,
            temperature=values["Present Temperature"],
            voltage=0.1 * values["Present Input Voltage"],
            is_torque_off=self.is_enabled
            and not is_on
            and not self._enable_again(wire),
        )
        return health, has_tripped

    def _ask_twin(self, wire: Wire) -> int:
        twin = self.spec.twin
        if twin is None:
            return 0
        try:
            if wire.read(twin, self.register("Bus Watchdog"), tries=1) == TRIPPED:
                wire.write(twin, self.register("Bus Watchdog"), 0)
            return wire.read(twin, self.register("Hardware Error Status"), tries=1)
        except BusTimeout:
            return 0

    def _enable_again(self, wire: Wire) -> bool:
        self.share = 0.0
        try:
            self.enable(wire)
        except (BusTimeout, ServoError) as err:
            _LOG.debug("%s", err)
            return False
        return True

    def encode(self, torque: float) -> int:
        """Return a torque's current, [counts], from [N·m], within the cap."""
        if not -self.cap <= torque <= self.cap:
            torque = 0.0 if math.isnan(torque) else math.copysign(self.cap, torque)
        unit, torques = self.model.current_unit, self.torques
        most = int(torques.find_current(self.cap / self.n_motors) / unit)
        count = self._dither.find_count(torque / self.n_motors, unit, torques)
        return self.direction * min(max(count, -most), most)

    def _set_up(self, wire: Wire, values: Mapping[str, int]) -> None:
        """Write differences; EEPROM wears, and needs torque off."""
        model, servo_id = self.model, self.spec.id
        if values["Return Delay Time"]:
            wire.write_checked(servo_id, self.register("Return Delay Time"), 0)
            _LOG.warning("servo %d: return delay set to 0", servo_id)
        if not model.has_torque:
            return
        if values["Operating Mode"] != CURRENT_MODE:
            register = self.register("Operating Mode")
            wire.write_checked(servo_id, register, CURRENT_MODE)
            _LOG.warning("servo %d: operating mode set to current control", servo_id)
        limit = values["Current Limit"] * model.current_unit
        most = self.torques.find_torque(limit)
        self.cap = min(TORQUE_SHARE * model.stall_torque, most) * self.n_motors
