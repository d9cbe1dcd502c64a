"""Gripper on a serial line by Modbus RTU, behind a USB-RS485 adapter.

Sources: Modbus over serial line, specification V1.02; Robotiq, instruction manuals, for
registers and frames. Function 3 reads the status in all generations of the manuals.
"""

from __future__ import annotations

import struct
import termios
import time

import serial

from paprle.hardware.robotiq.status import Status
from paprle.hardware.vendor_arm.states import ArmError

BAUD = 115_200  # spec: as delivered, 8N1
_OUTPUTS, _INPUTS = 0x03E8, 0x07D0  # spec: first registers
_READ, _WRITE = 0x03, 0x10  # spec: Modbus functions
_ERROR = 0x80  # spec: bit of an exception's function
_EXCEPTIONS = {1: "function", 2: "register", 3: "value", 4: "device", 6: "busy"}
_ANSWER_TIME = 0.05  # [s] chosen: a gripper answers within a few milliseconds
_GAP = 0.002  # [s] spec: 1.75 ms of silence between frames above 19200 bit/s
_ACTIVE, _GO = 0x01, 0x08  # spec: rACT, rGTO
_AMPERES = 0.01  # [A] spec: per count of gCU


def compute_crc(data: bytes) -> int:
    """Return the CRC-16 of a frame, low byte first on the line."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0xA001 if crc & 1 else 0)
    return crc


class RtuLine:
    """One serial port; questions and answers in turn, for one thread.

    Attributes:
        name: For messages.
    """

    def __init__(self, path: str, unit: int) -> None:
        self.name = f"robotiq '{path}'"
        self._path, self._unit = path, unit
        self._port: serial.Serial | None = None
        self._spoke = 0.0

    def reach(self) -> None:
        """Open the port for this process alone, again if need be.

        Raises:
            ArmError: If it is missing, forbidden or taken.
        """
        self.close()
        try:
            self._port = serial.Serial(
                self._path, BAUD, timeout=_ANSWER_TIME, exclusive=True
            )
        except (OSError, ValueError, termios.error) as err:
            raise ArmError(
                f"{self.name}: expected a serial port, got: {err}; look at the adapter "
                "and env.robotiq.port"
            ) from err

    def read(self) -> Status:
        """Return the status.

        Raises:
            ArmError: If it does not answer, or wrongly.
        """
        request = struct.pack(">BHH", _READ, _INPUTS, 3)
        answer = self._exchange(request, 7)
        status, _, fault, _, position, current = answer[1:7]
        is_going = status & _GO
        return Status(
            state=status >> 4 & 3,
            contact=status >> 6 if is_going else 0,  # spec: of no use without gGTO
            fault=fault & 0x0F,
            position=position,
            current=_AMPERES * current,
        )

    def move(self, position: int, speed: int, force: int) -> None:
        """Let the fingers go to a position; all are bytes, [counts].

        Raises:
            ArmError: If it is not acknowledged.
        """
        self._write(_ACTIVE | _GO, position, speed, force)

    def set_active(self, *, is_active: bool) -> None:
        """Activate, which moves the fingers, or reset.

        Raises:
            ArmError: If it is not acknowledged.
        """
        self._write(_ACTIVE * is_active, 0, 0, 0)

    def close(self) -> None:
        """Close the port; may be called twice."""
        if self._port is not None:
            self._port.close()
            self._port = None

    def _write(self, action: int, position: int, speed: int, force: int) -> None:
        values = (action, 0, 0, position, speed, force)
        head = struct.pack(">BHHB", _WRITE, _OUTPUTS, 3, 6)
        answer = self._exchange(head + bytes(values), 4)
        if answer != head[1:5]:
            raise ArmError(f"{self.name}: expected {head[1:5]!r}, got {answer!r}")

    def _exchange(self, request: bytes, n: int) -> bytes:
        """Return the n bytes of an answer after its function."""
        frame = bytes((self._unit,)) + request
        frame += struct.pack("<H", compute_crc(frame))
        try:
            port = self._port
            if port is None:
                raise ConnectionError("it is not open")
            time.sleep(max(0.0, self._spoke + _GAP - time.monotonic()))
            port.reset_input_buffer()
            port.write(frame)
            answer = bytes(port.read(5))  # the length of an exception
            if len(answer) == 5 and not answer[1] & _ERROR:
                answer += port.read(n - 1)
        except (OSError, termios.error) as err:
            raise ArmError(f"{self.name}: {err}") from err
        finally:
            self._spoke = time.monotonic()
        self._check(answer, request[0], n)
        return answer[2:-2]

    def _check(self, answer: bytes, function: int, n: int) -> None:
        """Raise ArmError unless an answer is whole, ours and no exception."""
        if not answer:
            raise ArmError(
                f"{self.name}: expected an answer of gripper {self._unit}, got none; "
                "look at its power and cable, and env.robotiq.unit"
            )
        is_short = len(answer) < 5
        if is_short or compute_crc(answer[:-2]) != int.from_bytes(
            answer[-2:], "little"
        ):
            raise ArmError(
                f"{self.name}: expected a whole answer, got {answer.hex(' ')}; look at "
                "its cable"
            )
        if answer[1] == function | _ERROR:
            what = _EXCEPTIONS.get(answer[2], "unknown")
            raise ArmError(
                f"{self.name}: expected it to obey, got exception {answer[2]} ({what})"
            )
        if answer[0] != self._unit or answer[1] != function or len(answer) != n + 4:
            raise ArmError(
                f"{self.name}: expected an answer of gripper {self._unit}, got "
                f"{answer.hex(' ')}"
            )
