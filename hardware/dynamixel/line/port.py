"""Exclusive serial port under the vendor's SDK, whose own port spins while it waits."""

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
from dynamixel_sdk import PortHandler

from paprle.hardware.dynamixel.errors import BusError
from paprle.hardware.dynamixel.guardian_process import is_hung_up

_WAIT = 0.002  # [s] chosen: of a timeout of 10 ms, what a lost packet may cost more
_CHUNK = 4096  # chosen: more than all servos of a bus answer at once
_LOCK_TRIES = 5  # chosen: half a second in all
_LOCK_WAIT = 0.1  # [s] chosen: between two looks whether the port is free
_QUICK_LATENCY = (
    1  # [ms] spec: devices.md 1: 16 ms, Linux' own, leave 57 cycles a second
)
_SYSFS = Path("/sys/bus/usb-serial/devices")


class SerialPort(PortHandler):  # type: ignore[misc] # the SDK has no types
    """A port for one thread; a reply may take ``timeout`` [s] beyond its own bytes."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__(path)
        self.is_open: bool = False
        self.timeout = timeout
        self._come = b""

    def setupPort(self, _: int) -> bool:
        """Open the device for this process alone.

        Returns:
            True.

        Raises:
            BusError: If it is missing, forbidden, taken, or no serial device.
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
        """Return the descriptor of the open device."""
        return int(self.ser.fd)

    def clearPort(self) -> None:
        """Discard received bytes.

        Raises:
            OSError: If the device is not open.
        """
        if not self.is_open:
            raise OSError(errno.ENODEV, "it is not open")
        self._come = b""
        super().clearPort()

    def readPort(self, length: int) -> bytes:
        """Return at most ``length`` received bytes.

        Raises:
            OSError: If the device is gone.
        """
        fd = self.ser.fd
        if not self._come and select.select([fd], [], [], _WAIT)[0]:
            with contextlib.suppress(BlockingIOError):  # the guardian was quicker
                self._come = os.read(fd, _CHUNK)
            if not self._come and is_hung_up(fd):
                raise OSError(errno.EIO, "the device hung up")
        taken, self._come = self._come[:length], self._come[length:]
        return taken

    def writePort(self, packet: Sequence[int]) -> int:
        """Return the number of sent bytes.

        Raises:
            OSError: If the device is gone.
        """
        data, sent = bytes(packet), 0
        with contextlib.suppress(BlockingIOError):
            sent = os.write(self.ser.fd, data)
        return sent if sent == len(data) else sent + int(self.ser.write(data[sent:]))

    def setPacketTimeout(self, packet_length: int) -> None:
        """Start the timeout of so many bytes."""
        wire = self.tx_time_per_byte * packet_length
        self.setPacketTimeoutMillis(wire + self.timeout * 1e3)

    def getCurrentTime(self) -> float:
        """Return monotonic time, [ms]."""
        return time.monotonic_ns() * 1e-6


def read_latency_timer(path: str) -> int | None:
    """Return the latency timer of a USB adapter, [ms], or None."""
    name = Path(path).resolve().name
    try:
        return int((_SYSFS / name / "latency_timer").read_text("ascii"))
    except (OSError, ValueError):
        return None


def find_latency_problem(path: str, latency: int | None) -> str | None:
    """Return the remedy for a latency timer, [ms], or None."""
    if latency is None or latency <= _QUICK_LATENCY:
        return None
    name = Path(path).resolve().name
    return (
        f"port '{path}': expected a USB latency timer of 1 [ms], got {latency} [ms]; "
        f"now: echo 1 | sudo tee {_SYSFS}/{name}/latency_timer, and for good a line in "
        '/etc/udev/rules.d/99-dynamixel.rules: ACTION=="add", SUBSYSTEM=="usb-serial", '
        'DRIVER=="ftdi_sio", ATTR{latency_timer}="1"'
    )


def find_obstacle(path: str) -> str:
    """Return the visible reason that a port cannot be opened."""
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
        return (
            f"{where}: expected it to be free, got one that another process has open; "
            f"end that one (fuser -v {path})"
        )
    return f"{where}: expected a serial device, got '{err}'; check the cable and path"


def list_ports() -> tuple[str, ...]:
    """Return the serial devices, those with lasting names first."""
    by_id = sorted(str(p) for p in Path("/dev/serial/by-id").glob("*"))
    usb = sorted(str(p) for p in Path("/dev").glob("ttyUSB*"))
    return (*by_id, *usb, *sorted(str(p) for p in Path("/dev").glob("ttyACM*")))
