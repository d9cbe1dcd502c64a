"""One servo."""

from __future__ import annotations

import struct
from collections.abc import Callable

from paprle_emulators.feetech.control import STEPS, Control, read_settings
from paprle_emulators.feetech.memory import Memory
from paprle_emulators.feetech.models import (
    CENTRE,
    RAD_PER_TICK,
    TICKS,
    ServoModel,
)
from paprle_emulators.feetech.protection import CURRENT_UNIT, FULL, Protection
from paprle_emulators.feetech.registers import BY_NAME, WHOLE_ANGLE, encode_sign

ON, DAMPING, SET_MIDDLE = 1, 2, 128  # spec: memory table, values of Torque_Enable
LAST_TURN = 32766  # spec: memory table, range of positions [ticks]
LEAST_OFFSET, LAST_OFFSET = -2047, 2047  # spec: memory table, Homing_Offset [ticks]
FLASH_TIME = 0.022
"""Of keeping values; the answer waits [s]. measured: more than 21 ms (TCC67's
SerialServoRecover.c on an STS3215)."""
STANDING = 0.02  # chosen: speed of a servo that stands [rad/s]
GOAL, TORQUE = BY_NAME["Goal_Position"].address, BY_NAME["Torque_Enable"].address
PLACE, MOVING = BY_NAME["Present_Position"].address, BY_NAME["Moving"].address
CURRENT, PHASE = BY_NAME["Present_Current"].address, BY_NAME["Phase"].address
GOAL_AGAIN = BY_NAME["Goal_Position_2"].address
PRESENT = struct.Struct("<HHHBB")  # spec: memory table, addresses 56 to 63
AMPERES = struct.Struct("<H")  # spec: memory table, address 69


class Servo:
    """A servo on a bus; quantities are at its horn.

    Attributes:
        angle: 0 at encoder tick 2048, [rad].
        velocity: [rad/s].
        ahead: Age of a read angle, [s].
        torque: Last, [N·m].
        duty: Last, -1 … 1.
        voltage: Supply, [V].
        strength: Relative torque (fault).
        stuck: Constant reported position (fault), [ticks].
        on_goal: Called with each goal [ticks].
    """

    def __init__(self, servo: int, model: ServoModel, is_ideal: bool = False) -> None:
        self.model = model
        self.is_ideal = is_ideal
        self.memory = Memory()
        self.memory.put("ID", servo)
        low, high = model.voltage_limits
        self.memory.put("Min_Voltage_Limit", low)
        self.memory.put("Max_Voltage_Limit", high)
        self.memory.put("Maximum_Velocity_Limit", model.velocity_limit)
        self.memory.save()
        self.angle = self.velocity = self.ahead = 0.0
        self.torque = self.duty = 0.0
        self.voltage = model.voltage
        self.strength = 1.0
        self.is_silent = False
        self.stuck: int | None = None
        self.n_goals = 0
        self.on_goal: Callable[[int], None] | None = None
        self._turns = 0
        self._registered: tuple[int, bytes] | None = None
        self.control = Control(read_settings(self.memory), is_ideal)
        self.protection = Protection(self.memory)
        self.power_up()

    @property
    def number(self) -> int:
        """ID on the bus."""
        return self.memory.ram[5]

    @property
    def error(self) -> int:
        """Error byte."""
        return self.memory.ram[65]

    @property
    def is_on(self) -> bool:
        """Whether the motor holds."""
        return self.memory.ram[TORQUE] == ON

    def power_up(self) -> None:
        """Restart with saved values; the goal is the position."""
        self.memory.power_up()
        self._registered = None
        self.protection.begin()
        self.clear_turns()
        self.refresh()
        self.memory.put("Goal_Position", self.position)
        self.refresh()

    def clear_turns(self) -> None:
        """Count from the encoder's own turn."""
        self._turns = -(self._find_raw() // TICKS)

    def refresh(self) -> None:
        """Take the memory's settings."""
        self.control.settings = settings = read_settings(self.memory)
        self.protection.refresh()
        self._homing = self.memory.get("Homing_Offset")
        is_endless = settings.low == settings.high == 0
        self._counts_turns = is_endless or bool(self.memory.ram[PHASE] & WHOLE_ANGLE)
        if self.control.settings.mode != STEPS:
            self.control.goal = float(self.memory.get("Goal_Position"))
        if not self.is_on:
            self.control.start(self._find_place())

    # -- what the bus asks ---------------------------------------------------------

    def read(self, address: int, length: int) -> bytes:
        """Return fresh registers."""
        self._measure()
        return self.memory.read(address, length)

    def write(self, address: int, data: bytes) -> float:
        """Write registers; return the wait, [s]."""
        end, was_on = address + len(data), self.is_on
        is_kept = self.memory.write(address, data)
        if address <= TORQUE < end:
            self._switch(was_on)
        if address < GOAL + 2 and end > GOAL:
            self._take_goal()
        if address < GOAL or end > GOAL + 2:
            self.refresh()
        return FLASH_TIME if is_kept and not self.is_ideal else 0.0

    def register(self, address: int, data: bytes) -> float:
        """Keep a write for ACTION."""
        self._registered = address, data
        self.memory.put("Registered", 1)
        return 0.0

    def act(self) -> None:
        """Execute the kept write."""
        if self._registered is not None:
            address, data = self._registered
            self._registered = None
            self.memory.put("Registered", 0)
            self.write(address, data)

    def set_middle(self, place: int = CENTRE) -> None:
        """Make the position a place [ticks] by homing offset."""
        offset = (self._find_raw() - place + TICKS // 2) % TICKS - TICKS // 2
        offset = min(max(offset, LEAST_OFFSET), LAST_OFFSET)
        self.memory.keep("Homing_Offset", offset)
        self.refresh()

    def _take_goal(self) -> None:
        """Take a written goal; firmware switches torque on."""
        self.n_goals += 1
        goal = self.memory.get("Goal_Position")
        if self.on_goal is not None:
            self.on_goal(goal)
        is_relative = self.control.settings.mode == STEPS
        self.control.goal = goal + (self._find_place() if is_relative else 0.0)
        if not self.is_ideal and self.memory.ram[TORQUE] != ON:
            self.memory.ram[TORQUE] = ON
            self.control.start(self._find_place())

    def _switch(self, was_on: bool) -> None:
        if self.memory.ram[TORQUE] == SET_MIDDLE:
            self.memory.ram[TORQUE] = was_on
            self.set_middle()
        elif self.is_on and not was_on:
            if self.is_ideal:
                self.memory.put("Goal_Position", self.position)
            self.control.start(self._find_place())
        elif not self.is_on and self.is_ideal:
            self.protection.recover()

    # -- measurements --------------------------------------------------------------

    def _find_raw(self) -> int:
        return round(self.angle / RAD_PER_TICK + CENTRE)

    @property
    def position(self) -> int:
        """Counted true position, [ticks]."""
        return self._count(self._find_raw())

    def _count(self, raw: int) -> int:
        place = raw + self._turns * TICKS - self._homing
        if self._counts_turns:
            return min(max(place, -LAST_TURN), LAST_TURN)
        return place % TICKS

    def _find_place(self) -> float:
        """Return the unrounded position, [ticks]."""
        raw = self.angle / RAD_PER_TICK + CENTRE
        whole = round(raw)
        return self._count(whole) + raw - whole

    @property
    def current(self) -> float:
        """Motor current, [A]."""
        share = abs(self.torque / self.strength) / self.model.stall_torque
        return share * self.model.stall_current

    def _measure(self) -> None:
        since = self.velocity * self.ahead / RAD_PER_TICK
        position, velocity = self._count(self._find_raw() + round(since)), self.velocity
        if self.stuck is not None:
            position, velocity = self.stuck, 0.0
        is_moving = abs(velocity) > STANDING or not self.control.has_arrived
        ram = self.memory.ram
        PRESENT.pack_into(
            ram,
            PLACE,
            encode_sign(position, 15),
            encode_sign(round(velocity / RAD_PER_TICK), 15),
            encode_sign(round(self.duty * FULL), 10),
            min(max(round(self.voltage * 10), 0), 255),
            min(max(round(self.protection.temperature), 0), 255),
        )
        ram[MOVING] = self.is_on and is_moving
        AMPERES.pack_into(ram, CURRENT, min(round(self.current / CURRENT_UNIT), 511))
        ram[GOAL_AGAIN : GOAL_AGAIN + 2] = ram[GOAL : GOAL + 2]

    # -- motor ---------------------------------------------------------------------

    def step(self, dt: float) -> float:
        """Return the next dt's motor torque, [N·m]."""
        if not self.memory.ram[TORQUE] or self.voltage <= 0:
            self.torque = self.duty = 0.0
            return 0.0
        model, supply = self.model, self.voltage / self.model.voltage
        self.duty = 0.0
        if self.is_on:
            speed = model.no_load_speed
            duty = self.control.drive(self._find_place(), self.velocity, speed, dt)
            most = self.protection.most
            self.duty = min(max(duty, -most), most)
        back = self.velocity / model.no_load_speed
        self.torque = self.strength * model.stall_torque * (self.duty * supply - back)
        self.protection.watch(self.duty, self.current, dt)
        return self.torque

    def check_health(self, dt: float) -> None:
        """Update and check temperature and supply, dt [s]."""
        self.protection.warm(abs(self.torque) / self.model.stall_torque, dt)
        if self.voltage > 0:
            self.protection.check(self.voltage)

    def restore_supply(self) -> None:
        """Restore the supply and restart."""
        self.voltage = self.model.voltage
        self.power_up()
