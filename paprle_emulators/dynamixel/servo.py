"""One servo."""

from __future__ import annotations

import struct
from collections.abc import Callable

from paprle_emulators.dynamixel.models import (
    CENTRE,
    PWM_MAX,
    RAD_PER_TICK,
    SMALL_FIRMWARE,
    TICKS,
    VELOCITY_UNIT,
    ServoModel,
)
from paprle_emulators.dynamixel.table import (
    ACCESS_ERROR,
    OFF_LIMITS,
    ControlTable,
)

PRESENT = struct.Struct("<HBBhhiiiiHB")  # spec: e-manual, addresses 120 … 146
ALERT = 0x80  # spec: protocol 2.0, bit 7 of the error byte
VOLTAGE_FAULT, OVERHEATED, OVERLOADED = 0x01, 0x04, 0x20  # spec: e-manual, register 70
WATCHDOG_UNIT_NS = 20_000_000  # spec: e-manual, Bus Watchdog, 20 ms
LEVELS = {0: {1}, 1: {1, 2}}
"""Instructions that a servo answers, by Status Return Level; 2: all."""

POSITION_MODES = (3, 4, 5)  # spec: e-manual, register 11
GOAL_CURRENT = {"Goal Current"}
GOALS = frozenset({"Goal PWM", "Goal Current", "Goal Velocity", "Goal Position"})

AMBIENT = 25.0  # chosen: temperature of the room [°C]
HEATING = 60.0  # chosen: rise at standing stall current [°C]
WARMING = 120.0  # chosen: time constant of the housing [s]
LARGEST = 32767  # spec: two bytes, signed


class Servo:
    """A servo on a bus; quantities are at its horn.

    Attributes:
        angle: 0 at tick 2048, counter-clockwise, [rad].
        velocity: [rad/s].
        ahead: Age of a read angle, [s].
        torque: Last, [N·m].
        temperature: [°C].
        voltage: Supply, [V].
        strength: Relative torque (fault).
        heard_ns: Of the last instruction, [ns].
        stuck: Constant reported position (fault), [ticks].
        on_goal: Called with each goal, [ticks].
    """

    def __init__(self, servo: int, model: ServoModel) -> None:
        self.model = model
        self.table = ControlTable(model)
        self.table.put("ID", servo)
        self.angle = 0.0
        self.velocity = 0.0
        self.ahead = 0.0
        self.torque = 0.0
        self.temperature = AMBIENT
        self.voltage = model.voltage
        self.strength = 1.0
        self.heard_ns = 0
        self.is_ideal = False
        self.is_silent = False
        self.stuck: int | None = None
        self.on_goal: Callable[[int], None] = lambda _: None
        self._turns = 0
        self._integral = 0.0
        self._pwm = 0.0
        self._goal_torque = 0.0
        self._reference = 0.0
        self._registered: tuple[int, bytes] | None = None
        self._refresh()

    # -- what the bus asks ---------------------------------------------------------

    @property
    def number(self) -> int:
        """ID on the bus."""
        return self.table.memory[7]

    @property
    def second_number(self) -> int:
        """Second ID, obeyed silently; from 253: none."""
        return self.table.memory[12]

    @property
    def error(self) -> int:
        """Alert bit of the error byte."""
        return ALERT if self.table.memory[70] else 0

    def answers(self, code: int) -> bool:
        """Return whether the Status Return Level permits answers."""
        level = self.table.memory[68]
        return not self.is_silent and (level >= 2 or code in LEVELS[level])

    def read(self, address: int, length: int, now_ns: int) -> bytes | None:
        """Return fresh registers; None beyond the table."""
        if address + length > self.table.end or length == 0:
            return None
        if address + length > 120:
            self._measure(now_ns)
        return self.table.read(address, length)

    def write(self, address: int, data: bytes) -> int:
        """Write registers; return an error number."""
        error = self.table.check_write(address, data)
        if error or not data:
            return error
        mode, was_on = self.table.memory[11], self._is_on
        touched = self.table.write(address, data)
        if "Torque Enable" in touched and self.is_shut and self.table.memory[64]:
            self.table.memory[64] = 0
            return ACCESS_ERROR
        if self.table.memory[11] != mode:
            self.table.reset_goals()
        if self.table.memory[64] and not was_on:
            self._switch_on()
        if touched == GOAL_CURRENT and was_on:
            self._refresh_torque()
        elif touched <= GOALS and was_on:
            self._refresh_goals()
        else:
            self._refresh()
        if "Goal Position" in touched and was_on and self._mode in POSITION_MODES:
            self.on_goal(self._goal_position)
        return 0

    def register(self, address: int, data: bytes) -> int:
        """Keep a write for ACTION; return an error number."""
        error = self.table.check_write(address, data)
        if not error:
            self._registered = address, data
            self.table.put("Registered Instruction", 1)
        return error

    def act(self) -> None:
        """Execute the kept write."""
        if self._registered is not None:
            address, data = self._registered
            self._registered = None
            self.table.put("Registered Instruction", 0)
            self.write(address, data)

    def clear_turns(self) -> bool:
        """Clear whole turns; refused in motion."""
        if self._is_on and abs(self.velocity) > VELOCITY_UNIT * 10:
            return False
        self._settle_turns()
        return True

    def reboot(self) -> None:
        """Reset RAM, turns, errors and torque."""
        self.table.reset_ram()
        self._registered = None
        self._settle_turns()
        self._refresh()

    @property
    def position(self) -> int:
        """True position, [ticks]."""
        return round(self._position_now())

    # -- errors --------------------------------------------------------------------

    @property
    def is_shut(self) -> bool:
        """Whether an error forbids torque until a reboot."""
        return bool(self.table.memory[70] & self.table.memory[63])

    def fail(self, bits: int) -> None:
        """Raise bits of the Hardware Error Status."""
        self.table.memory[70] |= bits
        if self.is_shut:
            self.table.memory[64] = 0
            self._refresh()

    def check_health(self, dt: float) -> None:
        """Update and check temperature and supply, dt [s]."""
        load = abs(self.torque) / self.model.stall_torque
        rise = AMBIENT + HEATING * load * load - self.temperature
        self.temperature += rise * dt / WARMING
        self.check_limits()

    def check_limits(self) -> None:
        """Check temperature and supply."""
        if self.temperature > self.table.get("Temperature Limit"):
            self.fail(OVERHEATED)
        low, high = self.model.voltage_limits
        if self.voltage > 0 and not low <= self.voltage * 10 <= high:
            self.fail(VOLTAGE_FAULT)

    @property
    def stops_when_bitten(self) -> bool:
        """Whether its watchdog stops the motor."""
        is_known_bad = self.table.get("Firmware Version") == SMALL_FIRMWARE
        return self.is_ideal or not (self.model.is_small and is_known_bad)

    def check_watchdog(self, now_ns: int) -> None:
        """Trigger the watchdog after silence."""
        value = self.table.memory[98]
        if not self._is_on or not 0 < value < OFF_LIMITS:
            return
        if now_ns - self.heard_ns > value * WATCHDOG_UNIT_NS:
            self.table.memory[98] = OFF_LIMITS
            if self.stops_when_bitten:
                self._stop_alone()

    def _stop_alone(self) -> None:
        if self._mode in POSITION_MODES:
            self.table.put("Goal Position", self.position)
            self._reference = float(self.position)
        else:
            for name in ("Goal PWM", "Goal Current", "Goal Velocity"):
                if name in self.table.registers:
                    self.table.put(name, 0)
        self._refresh()

    def restore_supply(self) -> None:
        """Restore the supply."""
        self.voltage = self.model.voltage

    # -- motor ---------------------------------------------------------------------

    def step(self, dt: float) -> float:
        """Return the next dt's motor torque, [N·m]."""
        if not self._is_on or self.voltage <= 0:
            self.torque = self._pwm = 0.0
            return 0.0
        model = self.model
        back = self.velocity / model.no_load_speed
        if self._mode == 0:
            wanted = self._goal_torque
        else:
            self._pwm = self._control(dt)
            wanted = model.stall_torque * (self._pwm - back)
            if self._mode == 5:
                limit = abs(self._goal_torque)
                wanted = min(max(wanted, -limit), limit)
        supply = self.voltage / model.voltage
        high = model.stall_torque * min(supply - back, supply)
        low = model.stall_torque * max(-supply - back, -supply)
        self.torque = min(max(wanted, low), high)
        if self._mode == 0:
            self._pwm = (self.torque / model.stall_torque + back) / supply
        return self.torque

    def _control(self, dt: float) -> float:
        if self._mode == 16:
            return self._goal_pwm
        if self._is_bitten:
            return 0.0
        speed = self._direction * self.velocity / VELOCITY_UNIT
        if self._mode == 1:
            error = self._goal_velocity - speed
            self._integral += error * dt * 1000 * self._velocity_i / 65536
            self._integral = min(max(self._integral, -PWM_MAX), PWM_MAX)
            pwm = error * self._velocity_p / 128 + self._integral
        else:
            self._follow_profile(dt)
            error = self._reference - self._position_now()
            pwm = error * self._position_p / 128
            pwm -= (
                self._position_d
                / 16
                * self._direction
                * self.velocity
                * (0.001 / RAD_PER_TICK)
            )
        limit = abs(self._goal_pwm) * PWM_MAX
        return self._direction * min(max(pwm, -limit), limit) / PWM_MAX

    def _follow_profile(self, dt: float) -> None:
        way = self._goal_position - self._reference
        if self._profile:
            most = self._profile * VELOCITY_UNIT / RAD_PER_TICK * dt
            way = min(max(way, -most), most)
        self._reference += way

    # -- registers -----------------------------------------------------------------

    def _switch_on(self) -> None:
        self._integral = 0.0
        position = self.position
        self.table.put("Goal Position", position)
        self._reference = float(position)

    def _position_now(self) -> float:
        """Return the unrounded position, [ticks]."""
        ticks = self.angle / RAD_PER_TICK + CENTRE
        return self._direction * ticks + self._turns * TICKS + self._homing

    def _settle_turns(self) -> None:
        direction = -1 if self.table.memory[10] & 1 else 1
        ticks = round(direction * (self.angle / RAD_PER_TICK + CENTRE))
        self._turns = -(ticks // TICKS)

    def _refresh(self) -> None:
        get = self.table.get
        self._is_on = bool(self.table.memory[64])
        self._mode = self.table.memory[11]
        self._direction = -1 if self.table.memory[10] & 1 else 1
        has_bitten = self.table.memory[98] == OFF_LIMITS
        stops = self.stops_when_bitten and self._mode not in POSITION_MODES
        self._is_bitten = has_bitten and stops
        self._homing = get("Homing Offset")
        self._profile = get("Profile Velocity")
        self._velocity_p = get("Velocity P Gain")
        self._velocity_i = get("Velocity I Gain")
        self._position_p = get("Position P Gain")
        self._position_d = get("Position D Gain")
        self._refresh_goals()
        if not self._is_on:
            self._reference = self._position_now()

    def _refresh_goals(self) -> None:
        get = self.table.get
        self._goal_pwm = self._direction * get("Goal PWM") / PWM_MAX
        if self._mode != 16:
            self._goal_pwm = abs(self._goal_pwm)
        self._goal_velocity = get("Goal Velocity")
        self._goal_position = get("Goal Position")
        self._refresh_torque()

    def _refresh_torque(self) -> None:
        if self.model.current_unit:
            limit = self.table.get("Current Limit")
            current = min(max(self.table.get("Goal Current"), -limit), limit)
            goal = self.model.make_torque(current * self.model.current_unit)
            self._goal_torque = self._direction * self.strength * goal

    def _count_effort(self) -> float:
        model = self.model
        if model.current_unit:
            return model.draw_current(self.torque / self.strength) / model.current_unit
        return 1000 * self.torque / model.stall_torque

    def _measure(self, now_ns: int) -> None:
        sign, velocity = self._direction, self.velocity
        since = sign * velocity * self.ahead / RAD_PER_TICK
        position = round(self._position_now() + since)
        if self.stuck is not None:  # a servo's velocity is its encoder's
            position, velocity = self.stuck, 0.0
        speed = round(sign * velocity / VELOCITY_UNIT)
        effort = round(sign * self._count_effort())
        is_moving = abs(speed) > self.table.memory[24]
        reference = round(self._reference)
        PRESENT.pack_into(
            self.table.memory,
            120,
            now_ns // 1_000_000 % 32768,
            is_moving,
            0,
            round(sign * self._pwm * PWM_MAX),
            min(max(effort, -LARGEST), LARGEST),
            speed,
            position,
            self._goal_velocity if self._mode == 1 else 0,
            reference,
            max(round(self.voltage * 10), 0),
            min(max(round(self.temperature), 0), 255),
        )
