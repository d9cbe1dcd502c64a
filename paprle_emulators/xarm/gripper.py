"""Grippers on Modbus RTU behind register 124.

Sources: registers of the UFACTORY user manual and ``xarm-python-sdk``. The control box
adds checksums.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

_ADDRESS = 0x08  # spec: of both grippers
_READ, _WRITE_ONE, _WRITE = 0x03, 0x06, 0x10  # spec: Modbus functions
_STATUS, _ERROR, _ENABLE, _CLEAN = 0x0000, 0x000F, 0x0100, 0x0109
_SPEED, _TARGET, _POSITION, _VERSION = 0x0303, 0x0700, 0x0702, 0x0801
_BIO_MODE, _BIO_SERIAL = 0x010A, 0x0B10
_SETTINGS = frozenset((0x0101, 0x0506, 0x0607, 0x0A0B, 0x0817, 0x110A))
_MOVING, _CAUGHT, _FAULT = 1, 2, 3  # spec: lowest bits of the status
_BIO_ENABLED = 2 << 2  # spec: BIO gripper, bits 2 and 3 of the status


@dataclass(frozen=True)
class Kind:
    """A gripper: range [pulses], speed at its setting, [pulses/s]."""

    low: float
    high: float
    version: tuple[int, int, int]
    speed_setting: int
    pulses_per_setting: float


KINDS: Mapping[str, Kind] = {
    # spec: user manual, -10 … 850; chosen: the whole stroke in 0.85 s at 5000
    "xarm": Kind(-10.0, 850.0, (3, 4, 3), 1500, 0.2),
    # spec: SDK, 71 … 150 mm are 0 … 295 pulses; chosen: the whole stroke in 0.6 s
    "bio": Kind(-10.0, 300.0, (2, 0, 0), 2000, 0.25),
}


class Gripper:
    """One gripper.

    Attributes:
        position: [pulses].
        obstacle: Blocking position, [pulses].
    """

    def __init__(self, name: str) -> None:
        self.kind, self._is_bio = KINDS[name], name == "bio"
        self.position = self._target = self.kind.high
        self.error = 0
        self.obstacle: float | None = None
        self._is_enabled = False
        self._setting = self.kind.speed_setting

    def step(self, dt: float) -> None:
        """Advance dt [s]."""
        if not self._is_enabled or self.error:
            return
        most = self._setting * self.kind.pulses_per_setting * dt
        goal = self._target
        if self.obstacle is not None:
            goal = max(goal, self.obstacle)
        self.position += min(max(goal - self.position, -most), most)

    def disable(self) -> None:
        """Lose power."""
        self._is_enabled = False
        self._target = self.position

    def answer(self, frame: bytes) -> bytes:
        """Return the answer to a frame, or nothing."""
        if len(frame) < 6 or frame[0] != _ADDRESS:
            return b""
        function, address, count = struct.unpack_from(">BHH", frame, 1)
        if function == _READ:
            words = self._read(address, count)
            return bytes((_ADDRESS, _READ, 2 * count)) + words
        if function == _WRITE_ONE:
            self._write(address, frame[4:6])
        elif function == _WRITE and len(frame) >= 7 + 2 * count:
            self._write(address, frame[7 : 7 + 2 * count])
        else:
            return bytes((_ADDRESS, function | 0x80, 1))
        return frame[:6]

    def _read(self, address: int, count: int) -> bytes:
        values = {
            _STATUS: (self._find_status(),),
            _ERROR: (self.error,),
            _ENABLE: (int(self._is_enabled),),
            _SPEED: (self._setting,),
            _BIO_MODE: (1,),
        }
        if address in (_TARGET, _POSITION):
            place = self._target if address == _TARGET else self.position
            return struct.pack(">i", round(place))[: 2 * count].ljust(2 * count, b"\0")
        if _VERSION <= address < _VERSION + 3:
            words = self.kind.version[address - _VERSION :][:count]
        elif address == _BIO_SERIAL:
            words = (48,) * count  # chosen: a serial number of zeros
        else:
            words = values.get(address, (0,))[:count]
        words = words + (0,) * (count - len(words))
        return struct.pack(f">{count}H", *words)

    def _write(self, address: int, data: bytes) -> None:
        value = int.from_bytes(data[:2], "big")
        if address == _ENABLE:
            self._is_enabled = bool(value)
            self._target = self.position
        elif address == _SPEED:
            self._setting = value
        elif address == _TARGET and len(data) >= 4:
            target = float(int.from_bytes(data[:4], "big", signed=True))
            self._target = min(max(target, self.kind.low), self.kind.high)
        elif address == _CLEAN or (address == _ERROR and not value):
            self.error = 0

    def _find_status(self) -> int:
        if self.error:
            status = _FAULT
        elif self.obstacle is not None and self._target < self.obstacle:
            status = _CAUGHT if abs(self.position - self.obstacle) < 1 else _MOVING
        else:
            status = _MOVING if abs(self.position - self._target) >= 1 else 0
        if self._is_bio and self._is_enabled:
            status |= _BIO_ENABLED
        return status
