"""Motor control, from goals to duty."""

from __future__ import annotations

from dataclasses import dataclass

from paprle_emulators.feetech.memory import Memory
from paprle_emulators.feetech.models import (
    DUTY_PER_P,
    MOST_DUTY,
    RAD_PER_TICK,
    TICKS,
)
from paprle_emulators.feetech.registers import FINE_SPEED, ZERO_IS_FASTEST

POSITION, SPEED, PWM, STEPS = 0, 1, 2, 3  # spec: memory table, Operating_Mode
ACCELERATION_UNIT = 100  # spec: memory table, Acceleration [ticks/s²]
COARSE_SPEED = 50  # spec: memory table, Phase: unit of speed [ticks/s]
FULL = 1000  # spec: memory table, whole torque, duty or load
SPEED_GAIN = (
    0.02  # chosen: duty by speed error and coefficient, settles in 0.1 s [s/rad]
)


@dataclass(frozen=True, slots=True)
class Settings:
    """A servo's control settings.

    Attributes:
        low: [ticks].
        high: [ticks]; not above ``low``: no limits.
        fastest: [ticks/s].
        rate: [ticks/s²]; 0: any.
        stiffness: Duty by error, [1/tick].
        startup: Least correcting duty.
        dead: Uncorrected errors, [ticks].
    """

    mode: int
    low: int
    high: int
    fastest: float
    rate: float
    stiffness: float
    startup: float
    dead: tuple[int, int]
    speed: float
    duty: float
    speed_gain: float


def find_fastest(memory: Memory) -> float:
    """Return the speed limit, [ticks/s]."""
    unit = 1 if memory.get("Phase") & FINE_SPEED else COARSE_SPEED
    most = memory.get("Maximum_Velocity_Limit") * COARSE_SPEED
    goal = abs(memory.get("Goal_Velocity")) * unit
    if goal == 0 and memory.get("Phase") & ZERO_IS_FASTEST:
        return float(most)
    return float(min(goal, most))


def read_settings(memory: Memory) -> Settings:
    """Return a memory's settings."""
    get = memory.get
    unit = 1 if get("Phase") & FINE_SPEED else COARSE_SPEED
    rates = [n for n in (get("Acceleration"), get("Maximum_Acceleration")) if n]
    return Settings(
        mode=get("Operating_Mode"),
        low=get("Min_Position_Limit"),
        high=get("Max_Position_Limit"),
        fastest=find_fastest(memory),
        rate=float(min(rates, default=0) * ACCELERATION_UNIT),
        stiffness=get("P_Coefficient") * DUTY_PER_P * RAD_PER_TICK,
        startup=get("Minimum_Startup_Force") / FULL,
        dead=(-get("CCW_Dead_Zone"), get("CW_Dead_Zone")),
        speed=get("Goal_Velocity") * unit * RAD_PER_TICK,
        duty=get("Goal_Time") / FULL,
        speed_gain=get("Velocity_P_Coefficient") * SPEED_GAIN,
    )


class Control:
    """The control of one motor.

    Attributes:
        goal: Before limits, [ticks].
        reference: Present, [ticks].
    """

    def __init__(self, settings: Settings, is_ideal: bool) -> None:
        self.settings = settings
        self.is_ideal = is_ideal
        self.goal = 0.0
        self.reference = 0.0
        self._pace = 0.0

    def start(self, place: float) -> None:
        """Begin at a place, at rest."""
        self.reference, self._pace = place, 0.0

    @property
    def target(self) -> float:
        """The limited goal, [ticks]."""
        low, high = self.settings.low, self.settings.high
        if high <= low or low <= self.goal <= high:
            return self.goal
        below, above = abs(low - self.goal), abs(self.goal - high)
        if not self.is_ideal:  # the nearest edge on the circle
            below, above = min(below, TICKS - below), min(above, TICKS - above)
        return float(low if below < above else high)

    @property
    def has_arrived(self) -> bool:
        """Whether the reference has arrived."""
        return abs(self.target - self.reference) < 1.0

    def drive(self, place: float, velocity: float, no_load: float, dt: float) -> float:
        """Return the next dt's duty, -1 … 1.

        Units: [ticks], [rad/s] and [s]; ``no_load`` is the speed at full duty.
        """
        own = self.settings
        if own.mode == PWM:
            duty = own.duty
        elif own.mode == SPEED:
            error = own.speed - velocity
            duty = own.speed / no_load + own.speed_gain * error
        else:
            self._follow(dt)
            duty = self._correct(self.reference - place)
        return min(max(duty, -MOST_DUTY), MOST_DUTY)

    def _correct(self, error: float) -> float:
        own = self.settings
        if own.dead[0] <= error <= own.dead[1]:
            return 0.0
        duty = own.stiffness * error
        if abs(duty) < own.startup:
            return own.startup if error > 0 else -own.startup
        return duty

    def _follow(self, dt: float) -> None:
        own, way = self.settings, self.target - self.reference
        fastest = own.fastest
        if own.rate:
            fastest = min(fastest, (2 * own.rate * abs(way)) ** 0.5)
            change = own.rate * dt
            wanted = fastest if way > 0 else -fastest
            self._pace += min(max(wanted - self._pace, -change), change)
        else:
            self._pace = fastest if way > 0 else -fastest
        step = self._pace * dt
        if step * way > 0 and abs(step) >= abs(way):
            self.reference, self._pace = self.target, 0.0
        else:
            self.reference += step
