"""Position servo."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from paprle.hardware.feetech.eeprom import Stored, find_stored, read_settings
from paprle.hardware.feetech.errors import BusError, BusTimeout, ServoError
from paprle.hardware.feetech.inspection import (
    MEASURED,
    describe_faults,
    find_absence,
    find_problems,
)
from paprle.hardware.feetech.models import (
    COUNTS,
    CURRENT_UNIT,
    LOAD_UNIT,
    REGISTERS,
    UNIT,
    VOLTAGE_UNIT,
    ZERO_COUNT,
    ServoSpec,
    count_angle,
    encode,
    make_span,
    split,
    with_sign,
)
from paprle.hardware.feetech.wire import Wire
from paprle.hardware.serial_bus.register import Register

ACCELERATION = 254
"""Acceleration of the servo's own profile, 100 counts/s². spec: LeRobot writes it: a
stream of goals is followed without lag."""

SPEED = 3400
"""Top speed of its profile, [counts/s]. spec: memory table, the highest, 5.2 rad/s; 0
means a stop or no limit, by a bit of Phase."""

_FULL_TORQUE = 1000  # spec: memory table, Torque Limit
_SAG = 91  # [counts] chosen: 8°: an arm hangs so far below its goal at most
_STANDS = 20  # [counts/s] chosen: 2° in a second
_NEAR = 34  # [counts] chosen: 3°: a joint that rests on its stop bends so far beyond it
_GOALS = make_span("Acceleration", "Goal_Velocity")
_CONTROL = make_span("Torque_Enable", "Present_Velocity")
_ROW = struct.Struct("<HHHBBxBBxxH")  # spec: memory table, addresses 56 to 70


class State(NamedTuple):
    """Measurements of one servo in SI units."""

    angle: float = math.nan
    velocity: float = math.nan
    load: float = math.nan
    current: float = math.nan
    voltage: float = math.nan
    temperature: float = math.nan
    errors: int = 0
    is_moving: bool = False


SILENT = State()


def _find_rest(values: Mapping[str, int]) -> int:
    present, goal = values["Present_Position"], values["Goal_Position"]
    stands = abs(values["Present_Velocity"]) <= _STANDS
    hangs = values["Torque_Enable"] == 1 and stands and abs(goal - present) <= _SAG
    return goal if hangs else present


@dataclass(eq=False)
class Servo:
    """A servo on a bus.

    Attributes:
        is_held: Torque is on by us; it follows goals.
        errors: As last seen.
    """

    spec: ServoSpec
    is_alive: bool = False
    is_held: bool = False
    is_on: bool = False
    errors: int = 0
    loss: str = ""
    stored: Stored = Stored(0, 0, COUNTS - 1)
    warnings: list[str] = field(default_factory=list)
    _place: int | None = None  # unwrapped count
    _torque_limit: int = _FULL_TORQUE

    @property
    def span(self) -> Register:
        """Register of the measurements."""
        return MEASURED

    @property
    def fault(self) -> str:
        """Its faults with remedies, or ""."""
        errors = [describe_faults(self.errors)] if self.errors else []
        return "; ".join([*errors, *([self.loss] if self.loss else [])])

    def configure(self, wire: Wire) -> list[str]:
        """Check the servo without writing.

        Returns:
            Fatal problems; ``warnings`` has the others.

        Raises:
            BusError: Lost port.
        """
        absence = find_absence(wire, self.spec)
        if absence is not None:
            return [absence.text]
        try:
            kept = read_settings(wire, self.spec.id)
            measured = split(wire.read_block(self.spec.id, MEASURED), MEASURED)
            self.is_on = wire.read(self.spec.id, REGISTERS["Torque_Enable"]) == 1
        except BusTimeout as err:
            return [str(err)]
        where = f"servo {self.spec.id} on '{wire.path}'"
        problems = find_problems(kept, measured, where)
        fatal = [problem.text for problem in problems if problem.is_fatal]
        if fatal:
            return fatal
        self.warnings += [problem.text for problem in problems]
        self.stored, self._place = find_stored(kept), None
        limit = self.spec.torque_limit
        own = kept["Max_Torque_Limit"]
        self._torque_limit = own if limit is None else round(limit * _FULL_TORQUE)
        self.is_alive = True
        return []

    def hold(self, wire: Wire) -> None:
        """Switch torque on in place.

        Raises:
            ServoError: Beyond its limits, or a refused value.
            BusTimeout: No valid answer.
            BusError: Lost port.
        """
        servo_id = self.spec.id
        now = split(wire.read_block(servo_id, _CONTROL), _CONTROL)
        goal = self._find_goal_here(_find_rest(now), wire.path)
        self.is_held = False
        wire.write_name(servo_id, "Torque_Limit", self._torque_limit)
        self.is_on = True  # a goal alone switches torque on; it has to be made limp
        wire.write_block(servo_id, _GOALS, self._make_goals(goal))
        after = split(wire.read_block(servo_id, _CONTROL), _CONTROL)
        if not self._has_profile(after) or after["Goal_Position"] != goal:
            raise ServoError(
                f"servo {servo_id} on '{wire.path}': expected it to take goal {goal}, "
                f"got {after['Goal_Position']}; power-cycle it"
            )
        wire.write_name(servo_id, "Torque_Enable", 1)
        wire.write_name(servo_id, "Lock", 1)
        self.is_held, self.loss = True, ""

    def _find_goal_here(self, rest: int, path: str) -> int:
        low, high = self._limits
        goal = min(max(rest, low), high)
        if abs(goal - rest) > _NEAR:
            raise ServoError(
                f"servo {self.spec.id} on '{path}': expected it within its limits "
                f"{low} to {high} [counts], got {rest}: torque would move it; turn "
                "the joint into its range by hand, or calibrate it again"
            )
        return goal

    @property
    def _limits(self) -> tuple[int, int]:
        if self.stored.is_limited:
            return self.stored.range_min, self.stored.range_max
        return 0, COUNTS - 1

    def _make_goals(self, goal: int) -> bytes:
        values = {
            "Acceleration": ACCELERATION,
            "Goal_Position": goal,
            "Goal_Time": 0,
            "Goal_Velocity": SPEED,
        }
        return b"".join(
            encode(name, value).to_bytes(REGISTERS[name].size, "little")
            for name, value in values.items()
        )

    def make_limp(self, wire: Wire) -> None:
        """Switch torque off, verified.

        Raises:
            BusError: Unverified torque.
        """
        self.is_held = False
        wire.write_checked(self.spec.id, REGISTERS["Torque_Enable"], 0)
        self.is_on, self.loss = False, ""

    def lose(self, why: str) -> None:
        """Stop following goals for a reason; torque stays."""
        if self.is_held:
            self.is_held, self.loss = False, why

    def check(self, wire: Wire) -> None:
        """Notice lost torque and a restart.

        Raises:
            BusError: Lost port.
        """
        try:
            block = wire.read_block(self.spec.id, _CONTROL, tries=1)
        except BusTimeout:
            return
        values = split(block, _CONTROL)
        self.is_on = values["Torque_Enable"] == 1
        where = f"servo {self.spec.id} on '{wire.path}'"
        if self.is_held and not self._has_profile(values):
            self.lose(
                f"{where}: expected its registers as written, got those of a restart: "
                "its supply broke down; check the power supply and its cables, support "
                "the arm, and switch torque on again"
            )
        elif self.is_held and not self.is_on:
            self.lose(
                f"{where}: expected torque on, got off: its protection or another "
                "program switched it off; take the load off the joint, and switch "
                "torque on again"
            )

    @staticmethod
    def _has_profile(values: Mapping[str, int]) -> bool:
        profile = values["Acceleration"], values["Goal_Velocity"]
        return profile == (ACCELERATION, SPEED)

    def decode(self, row: bytes) -> State:
        """Return the measurements in a row of ``MEASURED``.

        The current gets the load's sign, which some servos omit.
        """
        count, speed, load, volts, heat, errors, moving, current = _ROW.unpack(row)
        load = with_sign("Present_Load", load)
        current = abs(with_sign("Present_Current", current))
        self.errors = errors
        return State(
            angle=count_angle(self._unwrap(with_sign("Present_Position", count))),
            velocity=UNIT * with_sign("Present_Velocity", speed),
            load=LOAD_UNIT * load,
            current=CURRENT_UNIT * math.copysign(current, load),
            voltage=VOLTAGE_UNIT * volts,
            temperature=heat,
            errors=errors,
            is_moving=moving == 1,
        )

    def _unwrap(self, count: int) -> int:
        if self._place is not None:
            count += COUNTS * round((self._place - count) / COUNTS)
        self._place = count
        return count

    def find_goal(self, angle: float) -> int:
        """Return an angle's goal, [counts], from [rad], within limits and turn."""
        count = round(angle / UNIT) + ZERO_COUNT
        turns = 0 if self._place is None else math.floor(self._place / COUNTS)
        low, high = self._limits
        return min(max(count - turns * COUNTS, low), high)

    def switch_off(self, wire: Wire) -> str:
        """Make it limp; return the problem, or ""."""
        try:
            self.make_limp(wire)
        except BusError as err:
            return str(err)
        return ""
