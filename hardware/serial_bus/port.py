"""Exclusive serial port for SDKs, without spinning.

The SDKs of ROBOTIS and Feetech have one ancestor.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import termios
import time
from collections.abc import Sequence
from pathlib import Path

import serial

from paprle.hardware.serial_bus.errors import BusError
from paprle.hardware.serial_bus.holders import describe_holders

_WAIT = 0.002  # [s] chosen: of a timeout of 10 ms, what a lost packet may cost more
_CHUNK = 4096  # chosen: more than all servos of a bus answer at once
_LOCK_TRIES = 5  # chosen: half a second in all
_LOCK_WAIT = 0.1  # [s] chosen: between two looks whether the port is free
_GONE = select.POLLHUP | select.POLLERR | select.POLLNVAL


class QuietPort:
    """Port that sleeps while it waits, for one thread; precedes the SDK's class.

    Attributes:
        timeout: Of a reply beyond its bytes, [s].
        n_unasked: Requests preceded by bytes.
    """

    port_name: str
    baudrate: int
    tx_time_per_byte: float

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__(path)  # type: ignore[call-arg] # the SDK's class is next
        self.ser: serial.Serial | None = None
        self.is_open: bool = False
        self.is_using = False
        self.timeout = timeout
        self.n_unasked = 0
        self._come = b""

    def setupPort(self, _: int) -> bool:
        """Open the device exclusively.

        Returns:
            True.

        Raises:
            BusError: Missing, forbidden, taken, or not serial.
        """
        if self.is_open:
            self.closePort()
        try:
            self.ser = self._open()
            self.ser.reset_input_buffer()
        except (OSError, ValueError, termios.error) as err:
            raise BusError(_explain(self.port_name, err)) from err
        self.is_open = True
        self.is_using = False
        self._come = b""
        self.tx_time_per_byte = 10_000.0 / self.baudrate  # [ms] spec: 8N1, 10 bits
        with contextlib.suppress(OSError, ValueError, NotImplementedError):
            self.ser.set_low_latency_mode(True)  # no pseudo-terminal has it
        return True

    def _open(self) -> serial.Serial:
        for _ in range(_LOCK_TRIES - 1):
            try:
                return serial.Serial(self.port_name, self.baudrate, exclusive=True)
            except OSError as err:  # SerialException is an OSError
                if err.errno != errno.EAGAIN:
                    raise
            time.sleep(_LOCK_WAIT)
        return serial.Serial(self.port_name, self.baudrate, exclusive=True)

    def closePort(self) -> None:
        """Close the device."""
        if self.ser is not None:
            self.ser.close()
        self.is_open = False
        self.is_using = False

    def fileno(self) -> int:
        """Return the descriptor.

        Raises:
            OSError: Not open.
        """
        if self.ser is None or not self.is_open:
            raise OSError(errno.ENODEV, "it is not open")
        return int(self.ser.fd)

    def clearPort(self) -> None:
        """Discard received bytes.

        Raises:
            OSError: Not open.
        """
        if self.ser is None or not self.is_open:
            raise OSError(errno.ENODEV, "it is not open")
        self.n_unasked += bool(self._come or self.ser.in_waiting)
        self._come = b""
        self.ser.reset_input_buffer()

    def readPort(self, length: int) -> bytes:
        """Return received bytes, ``length`` at most.

        Raises:
            OSError: Lost device.
        """
        if length <= 0:  # an SDK asks so after a damaged length
            return b""
        fd = self.fileno()
        if not self._come and select.select([fd], [], [], _WAIT)[0]:
            with contextlib.suppress(BlockingIOError):  # another reader was quicker
                self._come = os.read(fd, _CHUNK)
            if not self._come and _is_hung_up(fd):
                raise OSError(errno.EIO, "the device hung up")
        taken, self._come = self._come[:length], self._come[length:]
        return taken

    def writePort(self, packet: Sequence[int]) -> int:
        """Return the number of sent bytes.

        Raises:
            OSError: Lost device.
        """
        data, sent = bytes(packet), 0
        fd = self.fileno()
        with contextlib.suppress(BlockingIOError):
            sent = os.write(fd, data)
        if sent == len(data) or self.ser is None:
            return sent
        return sent + int(self.ser.write(data[sent:]))

    def setPacketTimeout(self, packet_length: int) -> None:
        """Start the timeout of a number of bytes."""
        wire = self.tx_time_per_byte * packet_length
        self.setPacketTimeoutMillis(wire + self.timeout * 1e3)

    def setPacketTimeoutMillis(self, msec: float) -> None:
        """Start a timeout, [ms]."""
        self.packet_start_time = self.getCurrentTime()
        self.packet_timeout = msec

    def getCurrentTime(self) -> float:
        """Return monotonic time, [ms]."""
        return time.monotonic_ns() * 1e-6


def _is_hung_up(fd: int) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return any(events & _GONE for _, events in poll.poll(0))


def find_obstacle(path: str) -> str:
    """Return a port's visible problem, or ""."""
    if not Path(path).exists():
        return _explain(path, FileNotFoundError(errno.ENOENT, path))
    if not os.access(path, os.R_OK | os.W_OK):
        return _explain(path, PermissionError(errno.EACCES, path))
    return ""


def _explain(path: str, err: Exception) -> str:
    where, number = f"port '{path}'", getattr(err, "errno", None)
    if number == errno.ENOENT or not Path(path).exists():
        ports = ", ".join(list_ports()) or "none"
        return (
            f"{where}: expected a serial device, got none; plug in the adapter or set "
            f"the port; there are: {ports}"
        )
    if number in {errno.EACCES, errno.EPERM}:
        return (
            f"{where}: expected permission to open it, got none; "
            "run: sudo usermod -aG dialout $USER, then log in again"
        )
    if number in {errno.EAGAIN, errno.EBUSY}:
        known = describe_holders(path)
        return (
            f"{where}: expected it to be free, got one that another process has open"
            f"{f', {known}' if known else ''}; end that one (fuser -v {path})"
        )
    return f"{where}: expected a serial device, got '{err}'; check the cable and path"


def list_ports() -> tuple[str, ...]:
    """Return serial devices, lasting names first."""
    by_id = sorted(str(p) for p in Path("/dev/serial/by-id").glob("*"))
    usb = sorted(str(p) for p in Path("/dev").glob("ttyUSB*"))
    return (*by_id, *usb, *sorted(str(p) for p in Path("/dev").glob("ttyACM*")))
