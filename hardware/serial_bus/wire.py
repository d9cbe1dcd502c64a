"""Requests through a vendor's SDK, with bounded retries."""

from __future__ import annotations

import termios
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from paprle.hardware.serial_bus.adapter import Adapter, find_adapter
from paprle.hardware.serial_bus.errors import BusError, BusTimeout, ServoError
from paprle.hardware.serial_bus.register import Register

_TRIES = 3  # chosen: of 1 % lost packets one question in a million stays unanswered
_PATIENT = 15  # chosen: 0.15 s; a host that pauses for less has no servo less
_DAMAGED = 3  # chosen: who answers is there, and a damaged answer costs little time
_N_PROBES = 4  # chosen: collisions spoil most answers, lost packets one in a hundred
_DONE = 0  # spec: COMM_SUCCESS of both SDKs


class RegisterWire(ABC):
    """Open port and packets, for one thread.

    Attributes:
        baud: [bit/s].
        port: New after each ``open``.
        n_failed: By result.
    """

    CORRUPT: ClassVar[int]
    """The SDK's result of a damaged packet."""

    SILENCE: ClassVar[int]
    """The SDK's result of no packet."""

    RATES: ClassVar[str]
    """The SDK's usual rates, for an error text."""

    packets: Any
    port: Any

    def __init__(self, path: str, baud: int, timeout: float) -> None:
        """Take a rate [bit/s] and a reply's timeout [s]."""
        self.path, self.baud, self.timeout = path, baud, timeout
        self.n_failed = {"timeout": 0, "corrupt": 0}
        self.port = self._make_port()
        self._tries = _TRIES
        self._adapter: Adapter | None = None

    @abstractmethod
    def _make_port(self) -> Any:
        """Return a new, closed port."""

    @abstractmethod
    def scan(self) -> dict[int, int]:
        """Return all model numbers by id."""

    def open(self) -> None:
        """Open the port, always on the same adapter.

        Raises:
            BusError: No port, no such rate, or another adapter.
        """
        adapter = find_adapter(self.path)
        self._adapter = self._adapter or adapter
        if adapter not in {None, self._adapter}:
            raise BusError(
                f"port '{self.path}': expected the adapter {self._adapter} to come "
                f"back, got {adapter}; plug in the one that was there, or start anew"
            )
        self.port = self._make_port()
        if not self.port.setBaudRate(self.baud):
            raise BusError(
                f"port '{self.path}': expected a baud rate that the SDK has "
                f"({self.RATES}), got {self.baud}"
            )

    def close(self) -> None:
        """Close the port."""
        self.port.closePort()

    def set_baud(self, baud: int) -> None:
        """Reopen the port at another rate; raise as ``open``."""
        self.close()
        self.baud = baud
        self.open()

    @contextmanager
    def patiently(self) -> Iterator[None]:
        """Retry more often meanwhile."""
        self._tries = _PATIENT
        try:
            yield
        finally:
            self._tries = _TRIES

    def ping(self, servo_id: int, tries: int | None = None) -> int | None:
        """Return a servo's model number, or None."""
        for _ in range(tries or self._tries):
            number, result, _error = self._guard("ping", servo_id)
            if result == _DONE:
                return int(number)
            self.count(result)
        return None

    def read(self, servo_id: int, register: Register, tries: int | None = None) -> int:
        """Return a register, unsigned; raise as ``read_block``."""
        block = self.read_block(servo_id, register, tries)
        return int.from_bytes(block, "little")

    def read_block(
        self, servo_id: int, register: Register, tries: int | None = None
    ) -> bytes:
        """Return the bytes of consecutive registers.

        Raises:
            BusTimeout: No valid answer.
            BusError: Lost port.
        """
        tries = tries or self._tries
        result, n_silent, n_asked = _DONE, 0, 0
        while n_silent < tries and n_asked < _DAMAGED * tries:
            result = self._guard("readTx", servo_id, register.address, register.size)
            if result == _DONE:
                data, result, _error = self._guard("readRx", servo_id, register.size)
                if result == _DONE and len(data) == register.size:
                    return bytes(data)
            self.count(result)
            n_asked += 1
            n_silent += result != self.CORRUPT
        raise BusTimeout(
            f"servo {servo_id} on '{self.path}': expected register "
            f"{register.address}, got {self.say(result)} {n_asked} times; "
            "check its cable and power"
        )

    def write(self, servo_id: int, register: Register, value: int) -> None:
        """Write a register, answered, as two's complement.

        Raises:
            BusTimeout: No valid answer.
            ServoError: Refusal.
            BusError: Lost port.
        """
        raw = value % (1 << 8 * register.size)
        self.write_block(servo_id, register, raw.to_bytes(register.size, "little"))

    def write_block(self, servo_id: int, register: Register, data: bytes) -> None:
        """Write consecutive registers, answered; raise as ``write``."""
        result, where = _DONE, f"servo {servo_id} on '{self.path}'"
        for _ in range(self._tries):
            result, error = self._guard(
                "writeTxRx", servo_id, register.address, register.size, list(data)
            )
            result, refusal = self._judge_write(result, error)
            if result == _DONE and not refusal:
                return
            if result == _DONE:
                value = int.from_bytes(data, "little")
                raise ServoError(
                    f"{where}: expected it to take {value} at register "
                    f"{register.address}, but {refusal}; check its model and mode"
                )
            self.count(result)
        raise BusTimeout(
            f"{where}: expected it to confirm register {register.address}, got "
            f"{self.say(result)} {self._tries} times; check its cable and power"
        )

    def _judge_write(self, result: int, _error: int) -> tuple[int, str]:
        return result, ""

    def write_checked(self, servo_id: int, register: Register, value: int) -> None:
        """Write a register, not negative, verified.

        Raises:
            ServoError: Another value; also as ``write``.
        """
        self.write(servo_id, register, value)
        got = self.read(servo_id, register)
        if got != value:
            raise ServoError(
                f"servo {servo_id} on '{self.path}': expected register "
                f"{register.address} to read {value}, got {got}; power-cycle it"
            )

    def write_blindly(self, servo_id: int, register: Register, value: int) -> None:
        """Write a register unanswered."""
        data = list(value.to_bytes(register.size, "little"))
        self._guard("writeTxOnly", servo_id, register.address, register.size, data)

    def is_duplicated(self, servo_id: int, block: Register) -> bool:
        """Return whether most probes show two servos at an id.

        ``block`` differs between servos.

        Raises:
            BusError: Lost port.
        """
        n_double = n_spoiled = 0
        for _ in range(_N_PROBES):
            n_double += self.has_echo(servo_id)
            before = self.n_failed["corrupt"]
            try:
                self.read_block(servo_id, block, tries=1)
            except BusTimeout:
                n_spoiled += self.n_failed["corrupt"] > before
            n_double += self.has_more()
        return n_double > _N_PROBES or n_spoiled >= _N_PROBES - 1

    def has_echo(self, servo_id: int) -> bool:
        """Return whether a ping gets several answers."""
        self._guard("ping", servo_id)
        return self.has_more()

    def has_more(self) -> bool:
        """Return whether unexpected bytes come; raise as ``receive``."""
        return bool(self.receive(1))

    def receive(self, length: int) -> bytes:
        """Return up to ``length`` received bytes.

        Raises:
            BusError: Lost port.
        """
        try:
            return bytes(self.port.readPort(length))
        except (OSError, TypeError, termios.error) as err:
            raise self._gone(err) from err

    def wait(self, duration: float) -> None:
        """Keep the line silent for ``duration``, [s]."""
        time.sleep(duration)

    def count(self, result: int) -> None:
        """Count a failed request."""
        self.n_failed["corrupt" if result == self.CORRUPT else "timeout"] += 1

    def run(self, group: object, method: str) -> int:
        """Return a group method's result.

        Raises:
            BusError: Lost port.
        """
        try:
            result: int = getattr(group, method)()
        except (OSError, TypeError, termios.error) as err:
            raise self._gone(err) from err
        except IndexError:  # spec: devices.md 1.1: a packet cut short under the SDK
            self.port.is_using = False
            return self.CORRUPT
        return result

    def say(self, result: int) -> str:
        """Return a failed result's meaning."""
        return "silence" if result == self.SILENCE else "a damaged packet"

    def _guard(self, method: str, *args: Any) -> Any:
        try:
            return getattr(self.packets, method)(self.port, *args)
        except (OSError, TypeError, termios.error) as err:
            raise self._gone(err) from err

    def _gone(self, err: Exception) -> BusError:
        return BusError(
            f"port '{self.path}': it failed with '{err}'; plug the adapter in again"
        )
