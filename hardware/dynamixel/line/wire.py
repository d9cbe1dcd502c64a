"""Single questions and answers on the bus, with bounded retries and clear failures."""

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
    """An open port and the packets on it; used by one thread.

    Attributes:
        path: The port.
        baud: Its rate, [bit/s].
        packets: Packs and unpacks.
        port: The port itself, a new one after each ``open``.
        n_failed: Questions that had no proper answer, by what came instead.
    """

    def __init__(self, path: str, baud: int, timeout: float = TIMEOUT) -> None:
        self.path, self.baud, self._timeout = path, baud, timeout
        self.packets = Packets()
        self.port = SerialPort(path, timeout)
        self.n_failed = {"timeout": 0, "corrupt": 0}
        self._tries = _TRIES
        self._adapter: Adapter | None = None

    def open(self) -> None:
        """Open the port; one that comes back has to be the same adapter.

        Raises:
            BusError: If it does not open, has no such rate, or its name is another
                adapter's now; that one is sent nothing.
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
        """Close the port; may be called twice."""
        self.port.closePort()

    def set_baud(self, baud: int) -> None:
        """Open the port anew, at another rate; raises as ``open``."""
        self.close()
        self.baud = baud
        self.open()

    @contextmanager
    def patiently(self) -> Iterator[None]:
        """Ask more often before a servo counts as silent: while nothing else waits."""
        self._tries = _PATIENT
        try:
            yield
        finally:
            self._tries = _TRIES

    def ping(self, servo_id: int, tries: int | None = None) -> int | None:
        """Return the model number of a servo; None when nobody answers."""
        for _ in range(tries or self._tries):
            number, result, _error = self._guard("ping", servo_id)
            if result == COMM_SUCCESS:
                return int(number)
            self.count(result)
        return None

    def scan(self) -> dict[int, int]:
        """Return the model numbers of all servos that answer, by id; takes 0.8 s."""
        found, _ = self._guard("broadcastPing")
        return {int(i): int(values[0]) for i, values in found.items()}

    def read(self, servo_id: int, register: Register, tries: int | None = None) -> int:
        """Return a register as an unsigned number; raises as ``read_block``."""
        block = self.read_block(servo_id, register, tries)
        return int.from_bytes(block, "little")

    def read_block(
        self, servo_id: int, register: Register, tries: int | None = None
    ) -> bytes:
        """Read consecutive registers.

        Args:
            servo_id: Whom to ask.
            register: Where, and how many bytes.
            tries: How often it may be silent; it may answer damaged thrice as often.

        Returns:
            The bytes.

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
        """Write a register and see it acknowledged.

        Args:
            servo_id: Whom.
            register: Where.
            value: What; negative numbers as two's complement.

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
        """Write a register and read it back.

        Args:
            servo_id: Whom.
            register: Where.
            value: What, not negative.

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
        """Write a register of a servo that may be set not to answer writes."""
        data = list(value.to_bytes(register.size, "little"))
        self._guard("writeTxOnly", servo_id, register.address, register.size, data)

    def has_echo(self, servo_id: int) -> bool:
        """Whether a ping is answered more than once."""
        self._guard("ping", servo_id)
        return self.has_more()

    def has_more(self) -> bool:
        """Whether bytes come that nobody asked for.

        Returns:
            Whether any came.

        Raises:
            BusError: If the port is gone.
        """
        try:
            return bool(self.port.readPort(1))
        except (OSError, TypeError, termios.error) as err:
            raise self._gone(err) from err

    def wait(self, duration: float) -> None:
        """Keep the line silent for a while, [s]."""
        time.sleep(duration)

    def count(self, result: int) -> None:
        """Count a question without a proper answer."""
        self.n_failed["corrupt" if result == COMM_RX_CORRUPT else "timeout"] += 1

    def run(self, group: object, method: str) -> int:
        """Call a group's method on this port.

        Args:
            group: A group of the SDK.
            method: Its name.

        Returns:
            The SDK's result.

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
        """Return what came instead of an answer."""
        return "silence" if result == COMM_RX_TIMEOUT else "a damaged packet"

    def _guard(self, method: str, *args: Any) -> Any:
        """Call the SDK on this port; a port that went away becomes a ``BusError``."""
        try:
            return getattr(self.packets, method)(self.port, *args)
        except (OSError, TypeError, termios.error) as err:
            raise self._gone(err) from err

    def _gone(self, err: Exception) -> BusError:
        """Return the error of a port that failed while it was open."""
        return BusError(
            f"port '{self.path}': it failed with '{err}'; plug the adapter in again"
        )
