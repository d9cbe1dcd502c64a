"""A servo's memory."""

from __future__ import annotations

from paprle_emulators.feetech.registers import (
    BY_NAME,
    EEPROM_END,
    FACTORY,
    REGISTERS,
    SIZE,
    Access,
    decode,
    encode,
)

LOCK = BY_NAME["Lock"].address
IS_WRITABLE = [False] * SIZE
for _one in REGISTERS:
    for _place in range(_one.address, _one.address + _one.size):
        IS_WRITABLE[_place] = _one.access is Access.WRITE


class Memory:
    """Memory of a servo; ``ram`` is by address."""

    def __init__(self) -> None:
        self.ram = bytearray(SIZE)
        for register in REGISTERS:
            self.put(register.name, register.first)
        self._saved = bytes(self.ram)

    def get(self, name: str) -> int:
        """Return a register's value."""
        register = BY_NAME[name]
        place = register.address
        return decode(register, bytes(self.ram[place : place + register.size]))

    def put(self, name: str, value: int) -> None:
        """Set a register without check."""
        register = BY_NAME[name]
        place = register.address
        self.ram[place : place + register.size] = encode(register, value)

    def save(self) -> None:
        """Save all values."""
        self._saved = bytes(self.ram)

    def keep(self, name: str, value: int) -> None:
        """Set and save a register."""
        self.put(name, value)
        register = BY_NAME[name]
        saved = bytearray(self._saved)
        end = register.address + register.size
        saved[register.address : end] = self.ram[register.address : end]
        self._saved = bytes(saved)

    def restore_factory(self) -> None:
        """Restore the delivered values."""
        for register in REGISTERS:
            self.put(register.name, register.first)
        self.save()

    def read(self, address: int, length: int) -> bytes:
        """Return bytes; zeros without a register."""
        return bytes(self.ram[address : address + length]).ljust(length, b"\0")

    def write(self, address: int, data: bytes) -> bool:
        """Write writable bytes; return whether EEPROM bytes were saved."""
        for place, byte in enumerate(data, address):
            if place < SIZE and IS_WRITABLE[place]:
                self.ram[place] = byte
        if address < EEPROM_END and not self.ram[LOCK]:
            end = min(address + len(data), EEPROM_END)
            saved = bytearray(self._saved)
            saved[address:end] = self.ram[address:end]
            self._saved = bytes(saved)
            return True
        return False

    def power_up(self) -> None:
        """Restore saved values; reset the rest."""
        self.ram[:] = self._saved
        for register in REGISTERS:
            if EEPROM_END <= register.address < FACTORY:
                self.put(register.name, register.first)
        self.put("Torque_Limit", self.get("Max_Torque_Limit"))
