"""Motors on one CAN channel: commands, answers, registers."""

from __future__ import annotations

import importlib
import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from paprle.hardware.can_channel.channels import (
    BIT_RATE,
    BusError,
    find_obstacle,
    lock_channel,
)
from paprle.hardware.damiao.models import MOTORS
from paprle.hardware.damiao.packets import (
    FEEDBACK,
    READ,
    REGISTERS,
    WRITE,
    Feedback,
    pack_refresh,
    pack_register,
    unpack_feedback,
    unpack_register,
)
from paprle.hardware.vendor_arm.states import ArmError

Clock = Callable[[], int]

_BUS_OFF = 0x40  # spec: CAN_ERR_BUSOFF of linux/can/error.h
_RECEIVE_TIME = 0.01  # [s] chosen: how long the reader takes to notice its end
_JOIN = 1.0  # [s] chosen: a busy host
_ANSWER_TIME = 0.1  # [s] chosen: a hundred times a motor's answer
_N_ASKED = 3  # chosen: an answer may be lost
_POLL = 0.001  # [s] chosen: a fraction of a period


class DamiaoBus:
    """Motors 1 … n of one arm; only reading has a thread.

    Attributes:
        feedback: Newest by motor, or None.
        failure: Reason for missing answers, or "".
        foreign: ID and arrival [ns] of another program's last command.
        drained_ns: When the receive queue was last empty, [ns].
    """

    def __init__(
        self, interface: str, channel: str, motors: Sequence[str], clock: Clock
    ) -> None:
        """Take python-can's channel, models by ID from 1, and a clock, [ns]."""
        self.name = f"{interface} '{channel}'"
        self._interface, self._channel, self._clock = interface, channel, clock
        self.models = tuple(MOTORS[name] for name in motors)
        self._bus: Any = None
        self._can: Any = None
        self._lock: socket.socket | None = None
        self._reader: threading.Thread | None = None
        self._must_end = threading.Event()
        self._asked: tuple[int, int] | None = None
        self._value: float | None = None
        self.feedback: list[Feedback | None] = [None] * len(motors)
        self.failure = ""
        self.foreign: tuple[int, int] | None = None
        self.drained_ns = 0

    def open(self) -> None:
        """Join the bus and listen; send nothing.

        Raises:
            ImportError: Missing python-can.
            ArmError: Unusable or occupied channel.
        """
        self._can = importlib.import_module("can")
        obstacle = find_obstacle(self._interface, self._channel)
        if obstacle:
            raise ArmError(obstacle)
        try:
            self._lock = lock_channel(self._interface, self._channel)
        except BusError as err:
            raise ArmError(str(err)) from err
        try:
            self._bus = self._can.Bus(
                channel=self._channel, interface=self._interface, bitrate=BIT_RATE
            )
        except Exception as err:
            raise ArmError(f"{self.name}: cannot be opened: {err}") from err
        self._must_end.clear()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, number: int, data: bytes) -> None:
        """Send eight bytes to a motor; errors set ``failure``."""
        message = self._can.Message(
            arbitration_id=number, data=data, is_extended_id=False
        )
        try:
            self._bus.send(message)
        except (self._can.CanError, OSError, ValueError) as err:
            self._fail(err)

    def refresh(self, number: int) -> None:
        """Request a motor's feedback without commanding it."""
        self.send(REGISTERS, pack_refresh(number))

    def wait_for(self, is_met: Callable[[], object], timeout: float) -> bool:
        """Return whether a condition is met within ``timeout``, [s]."""
        end = time.monotonic() + timeout
        while not is_met():
            if self.failure or time.monotonic() > end:
                return False
            time.sleep(_POLL)
        return True

    def find(self, number: int) -> Feedback | None:
        """Return fresh feedback of an uncommanded motor, or None."""
        for _ in range(_N_ASKED):
            begin = self._clock()
            self.refresh(number)
            if self.wait_for(lambda: self._is_newer(number, begin), _ANSWER_TIME):  # noqa: B023 - called at once
                return self.feedback[number - 1]
        return None

    def read_register(self, number: int, register: int) -> float | None:
        """Return a motor's register; None without an answer."""
        return self._ask(number, register, pack_register(number, READ, register))

    def write_register(self, number: int, register: int, value: float) -> float | None:
        """Write a register until power-off; return its new value."""
        self._ask(number, register, pack_register(number, WRITE, register, value))
        return self.read_register(number, register)

    def close(self) -> None:
        """Leave the bus; motors keep their state until time-out."""
        self._must_end.set()
        if self._reader is not None:
            self._reader.join(_JOIN)
            self._reader = None
        bus, self._bus = self._bus, None
        if bus is not None:
            bus.shutdown()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _is_newer(self, number: int, begin: int) -> bool:
        found = self.feedback[number - 1]
        return found is not None and found.stamp_ns >= begin

    def _ask(self, number: int, register: int, data: bytes) -> float | None:
        for _ in range(_N_ASKED):
            self._value, self._asked = None, (number, register)
            self.send(REGISTERS, data)
            if self.wait_for(lambda: self._value is not None, _ANSWER_TIME):
                break
        self._asked = None
        return self._value

    def _fail(self, err: Exception) -> None:
        self.failure = self.failure or f"bus lost, start the session again: {err}"

    def _read(self) -> None:
        stamp = self._clock()
        try:
            while not self._must_end.is_set():
                message = self._bus.recv(0.0)
                if message is None:  # all was read: whatever comes next has just come
                    self.drained_ns = self._clock()
                    message = self._bus.recv(_RECEIVE_TIME)
                    stamp = self._clock()
                if message is not None:
                    self._take(message, stamp)
        except Exception as err:  # noqa: BLE001 - back-ends raise anything
            self._fail(err)

    def _take(self, message: Any, stamp: int) -> None:
        can_id, data = message.arbitration_id, bytes(message.data)
        if message.is_error_frame:
            if can_id & _BUS_OFF:
                self.failure = "CAN controller is bus-off, start the session again"
            return
        if 1 <= can_id <= len(self.models):
            self.foreign = (can_id, stamp)
            return
        number = can_id - FEEDBACK
        if not 1 <= number <= len(self.models):
            return
        if self._asked is not None and self._asked[0] == number:
            value = unpack_register(*self._asked, data)
            if value is not None:
                self._value = value
                return
        found = unpack_feedback(self.models[number - 1], number, data, stamp)
        if found is not None:
            self.feedback[number - 1] = found
