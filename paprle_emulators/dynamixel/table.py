"""A servo's control table."""

from __future__ import annotations

from dataclasses import dataclass

from paprle_emulators.dynamixel.models import (
    PWM_MAX,
    TICKS,
    ServoModel,
    read_items,
)

SIZE = 1024  # chosen: beyond the last address of any table here
EEPROM_END = 64  # spec: e-manual, first address of the RAM area
INDIRECT = "Indirect Address 1"
INDIRECT_DATA = "Indirect Data 1"
OFF_LIMITS = 255  # spec: e-manual, Bus Watchdog: -1 after it has bitten

RANGE_ERROR = 4  # spec: protocol 2.0, error number of a status packet
LENGTH_ERROR = 5  # spec: protocol 2.0
LIMIT_ERROR = 6  # spec: protocol 2.0
ACCESS_ERROR = 7  # spec: protocol 2.0

READ_ONLY = frozenset(
    {
        "Model Number",
        "Model Information",
        "Firmware Version",
        "Registered Instruction",
        "Hardware Error Status",
        "Realtime Tick",
        "Moving",
        "Moving Status",
        "Present PWM",
        "Present Current",
        "Present Load",
        "Present Velocity",
        "Present Position",
        "Velocity Trajectory",
        "Position Trajectory",
        "Present Input Voltage",
        "Present Temperature",
    }
)
SIGNED = frozenset(
    {
        "Homing Offset",
        "Goal PWM",
        "Goal Current",
        "Goal Velocity",
        "Goal Position",
        "Present PWM",
        "Present Current",
        "Present Load",
        "Present Velocity",
        "Present Position",
        "Velocity Trajectory",
        "Position Trajectory",
    }
)
# spec: e-manual of the XL330-M288, ranges of both areas
RANGES: dict[str, tuple[int, int]] = {
    "ID": (0, 252),
    "Baud Rate": (0, 7),
    "Return Delay Time": (0, 254),
    "Drive Mode": (0, 13),
    "Secondary(Shadow) ID": (0, 255),
    "Protocol Type": (2, 22),
    "Homing Offset": (-1_044_479, 1_044_479),
    "Moving Threshold": (0, 1023),
    "Temperature Limit": (0, 100),
    "Max Voltage Limit": (31, 300),
    "Min Voltage Limit": (31, 300),
    "PWM Limit": (0, PWM_MAX),
    "Velocity Limit": (0, 2047),
    "Max Position Limit": (0, TICKS - 1),
    "Min Position Limit": (0, TICKS - 1),
    "Torque Enable": (0, 1),
    "LED": (0, 1),
    "Status Return Level": (0, 2),
    "Bus Watchdog": (0, 127),
    "Profile Acceleration": (0, 32767),
    "Profile Velocity": (0, 32767),
}
GAINS = tuple(
    f"{what} Gain"
    for what in (
        "Velocity I", "Velocity P", "Position D", "Position I", "Position P",
        "Feedforward 2nd", "Feedforward 1st",
    )
)  # fmt: skip
LIMITED_BY = {
    "Goal PWM": "PWM Limit",
    "Goal Current": "Current Limit",
    "Goal Velocity": "Velocity Limit",
    "Goal Position": "Max Position Limit",
}  # spec: e-manual, the registers that bound goals
GAIN_RANGE = (0, 16383)  # spec: e-manual, all gains
MULTI_TURN = 1_048_575  # spec: e-manual, extended position control, 256 turns each way


@dataclass(frozen=True, slots=True)
class Register:
    """One register with its rules."""

    name: str
    address: int
    size: int
    is_signed: bool
    is_writable: bool
    low: int
    high: int
    limit: str


def make_registers(model: ServoModel) -> dict[str, Register]:
    """Return registers by name, indirect ones expanded."""
    registers = {}
    for item in read_items(model.name):
        if item.name.startswith("Indirect"):
            continue
        is_signed = item.name in SIGNED
        bits = 8 * item.size - is_signed
        low, high = (-(1 << bits) if is_signed else 0), (1 << bits) - 1
        low, high = RANGES.get(item.name, (low, high))
        if item.name in GAINS:
            low, high = GAIN_RANGE
        if item.name == "Current Limit":
            low, high = 0, model.current_limit
        registers[item.name] = Register(
            item.name, item.address, item.size, is_signed,
            item.name not in READ_ONLY, low, high, LIMITED_BY.get(item.name, ""),
        )  # fmt: skip
    return registers


def count_indirect(model: ServoModel) -> int:
    """Return the first block's number of indirect addresses."""
    return 20 if model.is_small else 28  # spec: e-manual


class ControlTable:
    """Memory of a servo with access rules."""

    def __init__(self, model: ServoModel) -> None:
        self.memory = bytearray(SIZE)
        self.registers = make_registers(model)
        self.address = {name: r.address for name, r in self.registers.items()}
        self._places = {
            name: (slice(r.address, r.address + r.size), r.is_signed)
            for name, r in self.registers.items()
        }
        self._model = model
        items = {item.name: item.address for item in read_items(model.name)}
        self._n_indirect = count_indirect(model)
        self._pointers = items[INDIRECT]
        self._data = items[INDIRECT_DATA]
        # spec: e-manual, 64 to the last of the indirect data: 227 of the 330 size with
        # firmware 52, 661 of the others, which have a second block
        is_small, n = model.is_small, self._n_indirect
        self._last_target = self._data + n - 1 if is_small else 661
        self._cover: dict[int, Register] = {}
        for register in self.registers.values():
            for byte in range(register.address, register.address + register.size):
                self._cover[byte] = register
        self.end = max(
            max(self._cover) + 1,
            self._data + self._n_indirect,
        )
        self.reset()

    def reset(self) -> None:
        """Restore factory values."""
        self.memory[:] = bytes(SIZE)
        model = self._model
        low, high = model.voltage_limits
        first = {
            "Model Number": model.number,
            "Firmware Version": model.firmware,
            "ID": 1,
            "Baud Rate": 1,
            "Return Delay Time": 250,
            "Operating Mode": 3,
            "Secondary(Shadow) ID": 255,
            "Protocol Type": 2,
            "Moving Threshold": 10,
            "Temperature Limit": model.temperature_limit,
            "Max Voltage Limit": high,
            "Min Voltage Limit": low,
            "PWM Limit": PWM_MAX,
            "Current Limit": model.current_limit,
            "Velocity Limit": model.velocity_limit,
            "Max Position Limit": TICKS - 1,
            "PWM Slope": model.pwm_slope,
            "Shutdown": model.shutdown,
        }  # spec: e-manual, initial values of the EEPROM area
        for name, value in first.items():
            if name in self.registers:
                self.put(name, value)
        self.reset_ram()

    def reset_ram(self) -> None:
        """Restore RAM as after power-up."""
        self.memory[EEPROM_END:] = bytes(SIZE - EEPROM_END)
        self.put("Status Return Level", 2)
        for index in range(self._n_indirect):
            at = self._pointers + 2 * index
            self.memory[at : at + 2] = (self._data + index).to_bytes(2, "little")
        self.reset_goals()

    def reset_goals(self) -> None:
        """Set gains and goals to defaults, without motion."""
        for name, value in zip(GAINS, self._model.gains, strict=False):
            self.put(name, value)
        mode = self.get("Operating Mode")
        self.put("Goal PWM", 0 if mode == 16 else self.get("PWM Limit"))
        self.put("Goal Velocity", 0 if mode == 1 else self.get("Velocity Limit"))
        if "Goal Current" in self.registers:
            self.put("Goal Current", 0 if mode == 0 else self.get("Current Limit"))

    def get(self, name: str) -> int:
        """Return a register's value."""
        place, is_signed = self._places[name]
        return int.from_bytes(self.memory[place], "little", signed=is_signed)

    def put(self, name: str, value: int) -> None:
        """Set a register unchecked."""
        place, is_signed = self._places[name]
        size = place.stop - place.start
        self.memory[place] = value.to_bytes(size, "little", signed=is_signed)

    def read(self, address: int, length: int) -> bytes:
        """Return bytes as a client sees them."""
        first, last = self._data, self._data + self._n_indirect
        if address >= last or address + length <= first:
            return bytes(self.memory[address : address + length])
        return bytes(
            self.memory[self._target(byte)] for byte in range(address, address + length)
        )

    def _target(self, byte: int) -> int:
        index = byte - self._data
        if not 0 <= index < self._n_indirect:
            return byte
        at = self._pointers + 2 * index
        return int.from_bytes(self.memory[at : at + 2], "little") % SIZE

    def check_write(self, address: int, data: bytes) -> int:
        """Return a write's error number, 0: allowed."""
        done = 0
        while done < len(data):
            error, size = self._check_item(address + done, data[done:])
            if error:
                return error
            done += size
        return 0

    def _check_item(self, byte: int, rest: bytes) -> tuple[int, int]:
        if 0 <= byte - self._pointers < 2 * self._n_indirect:
            return self._check_pointer(byte, rest[:2]), 2
        if 0 <= byte - self._data < self._n_indirect:
            target = self._target(byte)
            return (0 if target == byte else self._check_byte(target, rest[0])), 1
        register = self._cover.get(byte)
        if register is None:
            return ACCESS_ERROR, 1
        if byte != register.address or register.size > len(rest):
            return LENGTH_ERROR, 1
        return self._check(register, rest[: register.size]), register.size

    def write(self, address: int, data: bytes) -> set[str]:
        """Store checked bytes; return register names."""
        whole = self._cover.get(address)
        if whole is not None and (whole.address, whole.size) == (address, len(data)):
            self.memory[address : address + len(data)] = data
            return {whole.name}
        touched = set()
        for offset, value in enumerate(data):
            byte = self._target(address + offset)
            self.memory[byte] = value
            if byte in self._cover:
                touched.add(self._cover[byte].name)
        return touched

    def _check_pointer(self, byte: int, raw: bytes) -> int:
        if (byte - self._pointers) % 2 or len(raw) < 2:
            return LENGTH_ERROR
        target = int.from_bytes(raw, "little")
        return 0 if EEPROM_END <= target <= self._last_target else RANGE_ERROR

    def _check_byte(self, target: int, value: int) -> int:
        register = self._cover.get(target)
        if register is None:
            return ACCESS_ERROR
        if register.size == 1:
            return self._check(register, bytes((value,)))
        locked = register.address < EEPROM_END and self.get("Torque Enable")
        return ACCESS_ERROR if locked or not register.is_writable else 0

    def _check(self, register: Register, raw: bytes) -> int:
        is_locked = register.address < EEPROM_END and self.get("Torque Enable")
        if is_locked or not register.is_writable:
            return ACCESS_ERROR
        value = int.from_bytes(raw, "little", signed=register.is_signed)
        if register.name == "Operating Mode":
            return 0 if value in self._model.modes else RANGE_ERROR
        if not register.low <= value <= register.high:
            return RANGE_ERROR
        if register.limit:
            return self._check_goal(register, value)
        return 0

    def _check_goal(self, register: Register, value: int) -> int:
        if self.memory[self.address["Bus Watchdog"]] == OFF_LIMITS:
            return RANGE_ERROR
        if register.name == "Goal Position":
            if self.get("Operating Mode") in (4, 5):
                return 0 if abs(value) <= MULTI_TURN else LIMIT_ERROR
            low = self.get("Min Position Limit")
            is_inside = low <= value <= self.get("Max Position Limit")
            return 0 if is_inside else LIMIT_ERROR
        return 0 if abs(value) <= self.get(register.limit) else LIMIT_ERROR
