"""Codes of stops, by the primary interface.

Source: Universal Robots, "Remote control via TCP/IP", robot messages of PolyScope 5.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

PORT = 30001  # spec: primary interface
_CONNECT_TIME = 1.0  # [s] chosen: as for its other ports
_HEADER = struct.Struct(">iB")  # spec: size, package type
_MESSAGE = 20  # spec: robot message
_KIND_AT = _HEADER.size + 9  # spec: after time and source
_SAFETY, _ERROR = 5, 6  # spec: message types
_NUMBERS = struct.Struct(">ii")  # spec: code, argument; both kinds begin with them
_TEXT_AT = _KIND_AT + 1 + 20  # spec: of an error, after level and data
_MOST = 1 << 20  # [bytes] chosen: no package is as large
_CHUNK = 65_536  # [bytes]
_EARLY_NS = 500_000_000  # [ns] chosen: by which a message precedes RTDE's bits


@dataclass(frozen=True, slots=True)
class Code:
    """A code, C204A3, with the controller's text if it has one."""

    name: str
    text: str
    stamp_ns: int


class Messages:
    """Newest code of a stop; without its port there are none."""

    def __init__(self, clock: Callable[[], int]) -> None:
        self._clock = clock
        self._socket: socket.socket | None = None
        self._rest = b""
        self._code: Code | None = None

    def open(self, host: str) -> None:
        """Connect, if the controller lets it."""
        self.close()
        with suppress(OSError):
            self._socket = socket.create_connection((host, PORT), _CONNECT_TIME)
            self._socket.setblocking(False)

    def close(self) -> None:
        """Disconnect."""
        if self._socket is not None:
            self._socket.close()
        self._socket, self._rest, self._code = None, b"", None

    def poll(self) -> None:
        """Read what has come, without waiting."""
        while self._socket is not None:
            try:
                data = self._socket.recv(_CHUNK)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self._socket.close()
                self._socket = None
                return
            self.take(data)

    def take(self, data: bytes) -> None:
        """Take bytes of the stream."""
        self._rest += data
        while len(self._rest) >= _HEADER.size:
            size, kind = _HEADER.unpack_from(self._rest)
            if not _HEADER.size <= size <= _MOST:
                self._rest = b""
                return
            if len(self._rest) < size:
                return
            package, self._rest = self._rest[:size], self._rest[size:]
            if kind == _MESSAGE and size >= _KIND_AT + 1 + _NUMBERS.size:
                self._take_message(package)

    def find_code(self, since_ns: int) -> str:
        """Return the code of a stop that began at a time, or ""."""
        code = self._code
        if code is None or code.stamp_ns < since_ns - _EARLY_NS:
            return ""
        return f"{code.name}: {code.text}" if code.text else code.name

    def _take_message(self, package: bytes) -> None:
        kind = package[_KIND_AT]
        if kind not in (_SAFETY, _ERROR):
            return
        code, argument = _NUMBERS.unpack_from(package, _KIND_AT + 1)
        name = f"C{code}A{argument}"
        text = package[_TEXT_AT:].decode("utf-8", "replace") if kind == _ERROR else ""
        before = self._code
        if not text and before is not None and before.name == name:
            text = before.text
        if code:
            self._code = Code(name, " ".join(text.split()), self._clock())
