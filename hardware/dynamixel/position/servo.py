"""Servo that follows positions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from paprle.hardware.dynamixel.errors import BusError, BusTimeout, ServoError
from paprle.hardware.dynamixel.inspection import (
    find_absence,
    find_direction,
    judge_errors,
)
from paprle.hardware.dynamixel.line.wire import Wire
from paprle.hardware.dynamixel.measured_servo import TRIPPED, MeasuredServo
from paprle.hardware.dynamixel.position.inspection import (
    CURRENT_BASED,
    PositionSpec,
    as_signed,
    find_pair_problems,
    find_position_problems,
    read_with_answers,
)
from paprle.hardware.dynamixel.twins import find_twin_absence

WATCHDOG = 0.2
"""Silence after which a servo stops by itself, [s]. chosen: longer than a thread asks
for a silent servo; until then it goes to its last goal, which is a period away."""

_WATCHDOG = round(WATCHDOG / 0.02)  # spec: e-manual, register 98, its unit, [s]
_SAG = 91  # [counts] chosen: 8°: an arm hangs so far below its goal at most
_STANDS = 9  # [0.229 rpm] chosen: 12° in a second, and the noise of the estimate
_NEAR = 34  # [counts] chosen: 3°: a joint that rests on its stop bends so far beyond it
_FULL_PWM = 885  # spec: e-manual, register 36, 100 %


@dataclass(eq=False)
class PositionServo(MeasuredServo):
    """A servo on a bus.

    Attributes:
        is_held: Torque is on by us; it follows goals.
        limits: Lowest and highest goal, [counts].
    """

    spec: PositionSpec
    is_held: bool = False
    is_on: bool = False
    loss: str = ""
    limits: tuple[int, int] = (0, 4095)
    warnings: list[str] = field(default_factory=list)
    _error: str = ""
    _kept: Mapping[str, int] = field(default_factory=dict)

    @property
    def fault(self) -> str:
        """Its faults with remedies, or ""."""
        return "; ".join(text for text in (self._error, self.loss) if text)

    def configure(self, wire: Wire) -> list[str]:
        """Check the servo; write its status return level at most.

        Returns:
            Fatal problems; ``warnings`` has the others.

        Raises:
            BusError: Lost port.
        """
        absence = find_absence(wire, self.spec) or find_twin_absence(wire, self.spec)
        if absence is not None:
            return [absence.text]
        where = f"servo {self.spec.id} on '{wire.path}'"
        try:
            values = read_with_answers(wire, self.spec)
            problems = find_position_problems(self.spec, values, where)
            problems += find_pair_problems(wire, self.spec, values)
        except BusTimeout as err:
            return [str(err)]
        fatal = [problem.text for problem in problems if problem.is_fatal]
        if fatal:
            return fatal
        self.warnings += [problem.text for problem in problems]
        self.direction = find_direction(values["Drive Mode"])
        self.limits = values["Min Position Limit"], values["Max Position Limit"]
        self.is_on, self._error = values["Torque Enable"] == 1, ""
        self._kept = values
        self.is_alive = True
        return []

    def hold(self, wire: Wire) -> None:
        """Switch torque on in place, without the watchdog.

        Raises:
            ServoError: Beyond its limits, or a refused value.
            BusTimeout: No valid answer.
            BusError: Lost port.
        """
        now = self._look(wire)
        goal = self._find_goal_here(now, wire.path)
        self.is_held = False
        self._write(wire, "Bus Watchdog", 0)  # a tripped one refuses goals
        if not now["Torque Enable"]:
            self._set_up(wire)
        for name, value in self._make_controls().items():
            self._write_checked(wire, name, value)
        self.is_on = True  # from here on it has to be made limp
        self._write_checked(wire, "Torque Enable", 1)
        self._write_checked(wire, "Goal Position", goal)
        self._check_twin(wire)
        self.is_held, self.loss = True, ""

    def _set_up(self, wire: Wire) -> None:
        for name, value in (
            ("Operating Mode", self.spec.mode),
            ("Return Delay Time", 0),
        ):
            if self._kept[name] != value:
                self._write_checked(wire, name, value)

    def _make_controls(self) -> Mapping[str, int]:
        share = 1.0 if self.spec.torque_limit is None else self.spec.torque_limit
        pwm = self._kept["PWM Limit"]
        values = {"Profile Acceleration": 0, "Profile Velocity": 0}
        if self.spec.mode == CURRENT_BASED:
            current = round(share * self._kept["Current Limit"])
            return {**values, "Goal PWM": pwm, "Goal Current": current}
        return {**values, "Goal PWM": min(pwm, round(share * _FULL_PWM))}

    def _find_goal_here(self, now: Mapping[str, int], path: str) -> int:
        present = as_signed(now["Present Position"])
        goal = as_signed(now["Goal Position"])
        stands = abs(as_signed(now["Present Velocity"])) <= _STANDS
        hangs = now["Torque Enable"] == 1 and stands and abs(goal - present) <= _SAG
        rest = goal if hangs else present
        low, high = self.limits
        found = min(max(rest, low), high)
        if abs(found - rest) > _NEAR:
            raise ServoError(
                f"servo {self.spec.id} on '{path}': expected it within its limits "
                f"{low} to {high} [counts], got {rest}: torque would move it; turn "
                "the joint into its range by hand, and power-cycle the servo where it "
                "counted a turn"
            )
        return found

    def _check_twin(self, wire: Wire) -> None:
        twin = self.spec.twin
        if twin is None:
            return
        if wire.read(twin, self.register("Torque Enable")) != 1:
            raise ServoError(
                f"servo {twin} on '{wire.path}': expected torque on together with "
                f"servo {self.spec.id}, got off; power-cycle both"
            )

    @property
    def watchdog(self) -> int:
        """Value that arms its watchdog; 0: not armed."""
        return _WATCHDOG if self.spec.has_watchdog else 0

    def check_armed(self, wire: Wire) -> None:
        """Verify an armed or tripped watchdog.

        Raises:
            ServoError: It is neither.
            BusTimeout: No valid answer.
            BusError: Lost port.
        """
        got = wire.read(self.spec.id, self.register("Bus Watchdog"))
        if got not in {self.watchdog, TRIPPED}:
            raise ServoError(
                f"servo {self.spec.id} on '{wire.path}': expected its Bus Watchdog (98)"
                f" to read {self.watchdog}, got {got}; power-cycle it"
            )

    def has_tripped(self, wire: Wire) -> bool:
        """Return whether its watchdog stopped it.

        Raises:
            BusError: Lost port.
        """
        try:
            block = wire.read(self.spec.id, self.register("Bus Watchdog"))
        except BusTimeout:
            return False
        return block == TRIPPED

    def stay(self, wire: Wire) -> float:
        """Return the held goal, [rad], for use after a silence.

        Raises:
            BusError: It refuses.
        """
        goal = self._find_goal_here(self._look(wire), wire.path)
        self._write(wire, "Bus Watchdog", 0)
        self._write_checked(wire, "Goal Position", goal)
        return self._find_angle(goal)

    def make_limp(self, wire: Wire) -> None:
        """Switch torque off, verified, and disarm the watchdog.

        Raises:
            BusError: Unverified torque.
        """
        self.is_held = False
        self._write_checked(wire, "Torque Enable", 0)
        if self.spec.twin is not None:
            wire.write_checked(self.spec.twin, self.register("Torque Enable"), 0)
        self._write(wire, "Bus Watchdog", 0)
        self.is_on, self.loss = False, ""

    def switch_off(self, wire: Wire) -> str:
        """Make it limp; return the problem, or ""."""
        try:
            self.make_limp(wire)
        except BusError as err:
            return str(err)
        return ""

    def lose(self, why: str) -> None:
        """Stop following goals for a reason; torque stays."""
        if self.is_held:
            self.is_held, self.loss = False, why

    def check(self, wire: Wire) -> None:
        """Notice errors, lost torque, restarts and tripped watchdogs.

        Raises:
            BusError: Lost port.
        """
        where = f"servo {self.spec.id} on '{wire.path}'"
        try:
            now = self._look(wire, tries=1)
            errors = {**now}
            errors["Hardware Error Status"] |= self._read_twin_errors(wire)
        except BusTimeout:
            return
        self._error = "; ".join(one.text for one in judge_errors(errors, where))
        self.is_on = now["Torque Enable"] == 1
        if self.is_held:
            why = self._find_loss(now)
            if why:
                self.lose(f"{where}: {why}, and switch torque on again")

    def _read_twin_errors(self, wire: Wire) -> int:
        twin = self.spec.twin
        if twin is None:
            return 0
        return wire.read(twin, self.register("Hardware Error Status"), tries=1)

    def _find_loss(self, now: Mapping[str, int]) -> str:
        watchdog = now["Bus Watchdog"]
        is_new = self.spec.has_watchdog and watchdog == 0
        if is_new and not self.is_on and not now["Hardware Error Status"]:
            return (
                "expected its registers as written, got those of a restart: its supply "
                "broke down; check the power supply and its cables, support the arm"
            )
        if not self.is_on:
            return (
                "expected torque on, got off: its protection or another program "
                "switched it off; take the load off the joint"
            )
        if watchdog == TRIPPED:
            return (
                f"expected to be heard, got stopped by its watchdog after {WATCHDOG:g} "
                "[s] without a packet; check its cable"
            )
        return ""

    def find_goal(self, angle: float) -> int:
        """Return an angle's goal, [counts], from [rad], within limits."""
        counts = self.direction * angle / self.model.angle_unit
        low, high = self.limits
        return min(max(round(counts) + self.model.zero_count, low), high)

    def find_range(self) -> tuple[float, float]:
        """Return the angles within its limits, [rad]."""
        ends = [self._find_angle(end) for end in self.limits]
        return min(ends), max(ends)

    def _find_angle(self, count: int) -> float:
        away = count - self.model.zero_count
        return self.direction * away * self.model.angle_unit

    def measure(self, row: bytes) -> tuple[float, float, float]:
        """Return angle [rad], velocity [rad/s], torque [N·m], 0 if unmeasured."""
        angle, velocity, torque = self.decode(row)
        return angle, velocity, 0.0 if math.isnan(torque) else torque

    def _look(self, wire: Wire, tries: int | None = None) -> Mapping[str, int]:
        span = self.model.span("Torque Enable", "Present Position")
        return self.split(wire.read_block(self.spec.id, span, tries), span)

    def _write(self, wire: Wire, name: str, value: int) -> None:
        wire.write(self.spec.id, self.register(name), value)

    def _write_checked(self, wire: Wire, name: str, value: int) -> None:
        raw = value % (1 << 8 * self.register(name).size)
        wire.write_checked(self.spec.id, self.register(name), raw)
