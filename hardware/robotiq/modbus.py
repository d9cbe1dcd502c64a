"""Gripper by Modbus RTU (pymodbus, USB-RS485).

Source: Robotiq, instruction manuals. Function 3 reads the status in all their
generations.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from pymodbus.client import ModbusSerialClient
from pymodbus.exceptions import ModbusException
from pymodbus.pdu import ModbusPDU

from paprle.hardware.robotiq.status import Status
from paprle.hardware.serial_bus.port import find_obstacle
from paprle.hardware.vendor_arm.states import ArmError

BAUD = 115_200  # spec: as delivered, 8N1
_OUTPUTS, _INPUTS, _N = 0x03E8, 0x07D0, 3  # spec: first registers, and their number
_EXCEPTIONS = {1: "function", 2: "register", 3: "value", 4: "device", 6: "busy"}
_ANSWER_TIME = 0.05  # [s] chosen: a gripper answers within a few milliseconds
_ACTIVE, _GO = 0x01, 0x08  # spec: rACT, rGTO
_AMPERES = 0.01  # [A] spec: per count of gCU

_T = TypeVar("_T", bound=ModbusPDU)
logging.getLogger("pymodbus").setLevel(logging.CRITICAL)  # errors are raised here


class RtuLine:
    """Serial port, for one thread."""

    def __init__(self, path: str, unit: int) -> None:
        self.name = f"robotiq '{path}'"
        self._path, self._unit = path, unit
        self._client = ModbusSerialClient(
            path, baudrate=BAUD, timeout=_ANSWER_TIME, retries=0
        )

    def reach(self) -> None:
        """Open exclusively, again if need be.

        Raises:
            ArmError: Missing, forbidden or taken.
        """
        self.close()
        if not self._client.connect():
            found = find_obstacle(self._path) or "one that another program has open"
            raise ArmError(
                f"{self.name}: expected a serial port, got: {found}; look at the "
                "adapter and env.robotiq.port"
            )

    def read(self) -> Status:
        """Return the status.

        Raises:
            ArmError: No valid answer.
        """
        ask = self._client.read_holding_registers
        answer = self._do(lambda: ask(_INPUTS, count=_N, device_id=self._unit))
        if len(answer.registers) != _N:
            raise ArmError(
                f"{self.name}: expected {_N} registers, got {answer.registers}"
            )
        bits = b"".join(one.to_bytes(2, "big") for one in answer.registers)
        status, _, fault, _, position, current = bits
        is_going = status & _GO
        return Status(
            state=status >> 4 & 3,
            contact=status >> 6 if is_going else 0,  # spec: of no use without gGTO
            fault=fault & 0x0F,
            position=position,
            current=_AMPERES * current,
        )

    def move(self, position: int, speed: int, force: int) -> None:
        """Move the fingers; all are bytes, [counts].

        Raises:
            ArmError: No acknowledgement.
        """
        self._write(_ACTIVE | _GO, position, speed, force)

    def set_active(self, *, is_active: bool) -> None:
        """Activate, with motion, or reset.

        Raises:
            ArmError: No acknowledgement.
        """
        self._write(_ACTIVE * is_active, 0, 0, 0)

    def close(self) -> None:
        """Close the port; repeatable."""
        self._client.close()  # type: ignore[no-untyped-call]

    def _write(self, action: int, position: int, speed: int, force: int) -> None:
        values = [action << 8, position, speed << 8 | force]
        tell = self._client.write_registers
        self._do(lambda: tell(_OUTPUTS, values, device_id=self._unit))

    def _do(self, request: Callable[[], _T]) -> _T:
        try:
            answer = request()
        except (ModbusException, OSError) as err:
            raise ArmError(
                f"{self.name}: expected an answer of gripper {self._unit}, got none "
                f"that is whole ({err}); look at its power and cable, and "
                "env.robotiq.unit"
            ) from err
        if answer.isError():
            code = answer.exception_code
            words = _EXCEPTIONS.get(code, "unknown")
            raise ArmError(
                f"{self.name}: expected it to obey, got exception {code} ({words})"
            )
        return answer
