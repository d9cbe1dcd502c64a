"""Modbus RTU of one gripper.

Sources: Modbus application protocol V1.1b3, Modbus over serial line V1.02; Robotiq,
instruction manuals, for registers.
"""

from __future__ import annotations

import struct

from paprle_emulators.robotiq.gripper import EmulatedGripper

_OUTPUTS, _INPUTS, _N_WORDS = 0x03E8, 0x07D0, 8  # spec: bytes 0 … 15 of each
_READS, _WRITE_ONE, _WRITE, _BOTH = (0x03, 0x04), 0x06, 0x10, 0x17
_FUNCTION, _ADDRESS, _VALUE = 1, 2, 3  # spec: exception codes
_MOST_WORDS = 125  # spec: in one frame
_ERROR = 0x80
_POLYNOMIAL = 0xA001  # spec: 0x8005 mirrored


class ModbusError(ValueError):
    """A request to answer with exception ``code``."""

    def __init__(self, code: int) -> None:
        super().__init__(f"exception {code}")
        self.code = code


def _make_table() -> tuple[int, ...]:
    table = []
    for index in range(256):
        for _ in range(8):
            index = index // 2 ^ (_POLYNOMIAL if index % 2 else 0)  # noqa: PLW2901
        table.append(index)
    return tuple(table)


_TABLE = _make_table()


def add_crc(frame: bytes) -> bytes:
    """Return a checksummed frame, low byte first."""
    crc = 0xFFFF
    for byte in frame:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    return frame + struct.pack("<H", crc)


class RtuGripper:
    """A gripper on a serial line."""

    def __init__(self, gripper: EmulatedGripper, unit: int) -> None:
        """Answer at address ``unit``, 1 … 247."""
        self._gripper, self._unit = gripper, unit

    def answer(self, frame: bytes) -> bytes:
        """Return an answer; empty: damaged, or another's."""
        if len(frame) < 4 or add_crc(frame[:-2]) != frame or frame[0] != self._unit:
            return b""
        self._gripper.hear()
        function = frame[1]
        try:
            body = self._obey(function, frame[2:-2])
        except ModbusError as err:
            function, body = function | _ERROR, bytes((err.code,))
        return add_crc(bytes((self._unit, function)) + body)

    def _obey(self, function: int, body: bytes) -> bytes:
        try:
            if function in _READS:
                return self._read(*struct.unpack(">HH", body))
            if function == _WRITE_ONE:
                address, value = struct.unpack(">HH", body)
                self._write(address, struct.pack(">H", value))
                return body
            if function == _WRITE:
                address, count, size = struct.unpack(">HHB", body[:5])
                self._check_size(body[5:], count, size)
                self._write(address, body[5:])
                return body[:4]
            if function == _BOTH:
                read, n_read, address, count, size = struct.unpack(">HHHHB", body[:9])
                self._check_size(body[9:], count, size)
                self._write(address, body[9:])
                return self._read(read, n_read)
        except struct.error as err:
            raise ModbusError(_VALUE) from err
        raise ModbusError(_FUNCTION)

    @staticmethod
    def _check_size(data: bytes, count: int, size: int) -> None:
        if size != len(data) or size != 2 * count or not size:
            raise ModbusError(_VALUE)

    def _read(self, address: int, count: int) -> bytes:
        if not 1 <= count <= _MOST_WORDS:
            raise ModbusError(_VALUE)
        for first, data in ((_INPUTS, self._inputs), (_OUTPUTS, self._outputs)):
            begin = 2 * (address - first)
            if begin >= 0 and begin + 2 * count <= len(data):
                return bytes((2 * count,)) + data[begin : begin + 2 * count]
        raise ModbusError(_ADDRESS)

    def _write(self, address: int, data: bytes) -> None:
        begin = 2 * (address - _OUTPUTS)
        if begin < 0 or begin + len(data) > 2 * _N_WORDS:
            raise ModbusError(_ADDRESS)
        now = bytearray(self._outputs)
        now[begin : begin + len(data)] = data
        action, _, _, position, speed, force = now[:6]
        self._gripper.write(
            {
                "ACT": action & 1,
                "GTO": action >> 3 & 1,
                "ATR": action >> 4 & 1,
                "POS": position,
                "SPE": speed,
                "FOR": force,
            }
        )

    @property
    def _outputs(self) -> bytes:
        now = self._gripper.outputs
        action = now["ACT"] | now["GTO"] << 3 | now["ATR"] << 4
        data = bytes((action, 0, 0, now["POS"], now["SPE"], now["FOR"]))
        return data.ljust(2 * _N_WORDS, b"\0")

    @property
    def _inputs(self) -> bytes:
        gripper = self._gripper
        now = gripper.outputs
        status = now["ACT"] | now["GTO"] << 3 | gripper.state << 4
        status |= gripper.contact << 6
        position = round(gripper.position)
        data = bytes((status, 0, gripper.fault, now["POS"], position, gripper.current))
        return data.ljust(2 * _N_WORDS, b"\0")
