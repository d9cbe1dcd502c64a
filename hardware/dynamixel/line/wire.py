"""Single requests on the bus, with bounded retries."""

from __future__ import annotations

import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dynamixel_sdk.robotis_def import (
    COMM_RX_CORRUPT,
    COMM_RX_TIMEOUT,
    COMM_SUCCESS,
)

from paprle.hardware.dynamixel.errors import BusError, BusTimeout, ServoError
from paprle.hardware.dynamixel.line.adapter import Adapter, find_adapter
from paprle.hardware.dynamixel.line.packets import Packets
from paprle.hardware.dynamixel.line.port import SerialPort
from paprle.hardware.dynamixel.models import Register

TIMEOUT = 0.01
"""Most time for a reply, [s]. chosen: an adapter takes 1 ms, a busy host some."""

_TRIES = 3  # chosen: of 1 % lost packets one question in a million stays unanswered
_PATIENT = 15  # chosen: 0.15 s; a host that pauses for less has no servo less
_DAMAGED = 3  # chosen: who answers is there, and a damaged answer costs little time
_BAD_CHECKSUM = 3  # spec: Protocol 2.0, error byte: what it heard was damaged
_ALERT = 0x80  # spec: Protocol 2.0, bit of the error byte: see Hardware Error Status
_REFUSALS = {
    1: "it could not carry it out",
    2: "it does not know the instruction",
    4: "the value is out of range",
    5: "the length is wrong",
    6: "the value is beyond its limit",
    7: "the register is read-only or locked while torque is on",
}  # spec: Protocol 2.0, error byte


class Wire:
    """An open port and its packets, for one thread.

    Attributes:
        baud: [bit/s].
        port: A new one after each ``open``.
        n_failed: Failed requests by result.
    """

    def __init__(self, path: str, baud: int, timeout: float = TIMEOUT) -> None:
        self.path, self.baud, self._timeout = path, baud, timeout
        self.packets = Packets()
        self.port = SerialPort(path, timeout)
        self.n_failed = {"timeout": 0, "corrupt": 0}
        self._tries = _TRIES
        self._adapter: Adapter | None = None

    def open(self) -> None:
        """Open the port; a returned one must be the same adapter.

        Raises:
            BusError: If it does not open, lacks the rate, or is another adapter.
        """
        adapter = find_adapter(self.path)
        self._adapter = self._adapter or adapter
        if adapter not in {None, self._adapter}:
            raise BusError(
                f"port '{self.path}': expected the adapter {self._adapter} to come "
                f"back, got {adapter}; plug in the one that was there, or start anew"
            )
        self.port = SerialPort(self.path, self._timeout)
        if not self.port.setBaudRate(self.baud):
            raise BusError(
                f"port '{self.path}': expected a baud rate that the SDK has (57600, "
                f"1000000, 2000000, 3000000, 4000000), got {self.baud}"
            )

    def close(self) -> None:
        """Close the port."""
        self.port.closePort()

    def set_baud(self, baud: int) -> None:
        """Reopen the port at another rate; raises as ``open``."""
        self.close()
        self.baud = baud
        self.open()

    @contextmanager
    def patiently(self) -> Iterator[None]:
        """Retry more often while nothing else waits."""
        self._tries = _PATIENT
        try:
            yield
        finally:
            self._tries = _TRIES

    def ping(self, servo_id: int, tries: int | None = None) -> int | None:
        """Return the model number of a servo, or None."""
        for _ in range(tries or self._tries):
            number, result, _error = self._guard("ping", servo_id)
            if result == COMM_SUCCESS:
                return int(number)
            self.count(result)
        return None

    def scan(self) -> dict[int, int]:
        """Return the model numbers of all servos by id; takes 0.8 s."""
        found, _ = self._guard("broadcastPing")
        return {int(i): int(values[0]) for i, values in found.items()}

    def read(self, servo_id: int, register: Register, tries: int | None = None) -> int:
        """Return a register, unsigned; raises as ``read_block``."""
        block = self.read_block(servo_id, register, tries)
        return int.from_bytes(block, "little")

    def read_block(
        self, servo_id: int, register: Register, tries: int | None = None
    ) -> bytes:
        """Return the bytes of consecutive registers.

        Raises:
            BusTimeout: If it never answers properly.
            BusError: If the port is gone.
        """
        tries = tries or self._tries
        result, n_silent, n_asked = COMM_SUCCESS, 0, 0
        while n_silent < tries and n_asked < _DAMAGED * tries:
            result = self._guard("readTx", servo_id, register.address, register.size)
            if result == COMM_SUCCESS:
                data, result, _error = self._guard("readRx", servo_id, register.size)
                if result == COMM_SUCCESS and len(data) == register.size:
                    return bytes(data)
            self.count(result)
            n_asked += 1
            n_silent += result != COMM_RX_CORRUPT
        raise BusTimeout(
            f"servo {servo_id} on '{self.path}': expected register "
            f"{register.address}, got {self.say(result)} {n_asked} times; "
            "check its cable and power"
        )

    def write(self, servo_id: int, register: Register, value: int) -> None:
        """Write a register and await its answer; negative numbers as two's complement.

        Raises:
            BusTimeout: If it never answers properly.
            ServoError: If it refuses.
        """
        data = list(
            (value % (1 << 8 * register.size)).to_bytes(register.size, "little")
        )
        result = COMM_SUCCESS
        where = f"servo {servo_id} on '{self.path}'"
        for _ in range(self._tries):
            result, error = self._guard(
                "writeTxRx", servo_id, register.address, register.size, data
            )
            if result == COMM_SUCCESS and error & ~_ALERT == _BAD_CHECKSUM:
                result = COMM_RX_CORRUPT
            refusal = _REFUSALS.get(error & ~_ALERT)
            if result == COMM_SUCCESS and refusal is None:
                return
            if result == COMM_SUCCESS:
                raise ServoError(
                    f"{where}: expected it to take {value} at register "
                    f"{register.address}, but {refusal}; check its model and mode"
                )
            self.count(result)
        raise BusTimeout(
            f"{where}: expected it to confirm register {register.address}, got "
            f"{self.say(result)} {self._tries} times; check its cable and power"
        )

    def write_checked(self, servo_id: int, register: Register, value: int) -> None:
        """Write a register, not negative, and read it back.

        Raises:
            ServoError: If it does not hold the value; also as ``write``.
        """
        self.write(servo_id, register, value)
        got = self.read(servo_id, register)
        if got != value:
            raise ServoError(
                f"servo {servo_id} on '{self.path}': expected register "
                f"{register.address} to read {value}, got {got}; power-cycle it"
            )

    def write_blindly(self, servo_id: int, register: Register, value: int) -> None:
        """Write a register without an answer."""
        data = list(value.to_bytes(register.size, "little"))
        self._guard("writeTxOnly", servo_id, register.address, register.size, data)

    def has_echo(self, servo_id: int) -> bool:
        """Return whether a ping is answered more than once."""
        self._guard("ping", servo_id)
        return self.has_more()

    def has_more(self) -> bool:
        """Return whether unexpected bytes come.

        Raises:
            BusError: If the port is gone.
        """
        try:
            return bool(self.port.readPort(1))
        except (OSError, TypeError, termios.error) as err:
            raise self._gone(err) from err

    def wait(self, duration: float) -> None:
        """Keep the line silent for ``duration``, [s]."""
        time.sleep(duration)

    def count(self, result: int) -> None:
        """Count a failed request."""
        self.n_failed["corrupt" if result == COMM_RX_CORRUPT else "timeout"] += 1

    def run(self, group: object, method: str) -> int:
        """Return the SDK's result of a group's method on this port.

        Raises:
            BusError: If the port is gone.
        """
        try:
            result: int = getattr(group, method)()
        except (OSError, TypeError, termios.error) as err:
            raise self._gone(err) from err
        except IndexError:  # spec: devices.md 1.1: a packet cut short under the SDK
            self.port.is_using = False
            return int(COMM_RX_CORRUPT)
        return result

    def say(self, result: int) -> str:
        """Return the meaning of a failed result."""
        return "silence" if result == COMM_RX_TIMEOUT else "a damaged packet"

    def _guard(self, method: str, *args: Any) -> Any:
        try:
            return getattr(self.packets, method)(self.port, *args)
        except (OSError, TypeError, termios.error) as err:
            raise self._gone(err) from err

    def _gone(self, err: Exception) -> BusError:
        return BusError(
            f"port '{self.path}': it failed with '{err}'; plug the adapter in again"
        )
