"""Messages of the primary interface, port 30001.

Source: Universal Robots, "Remote control via TCP/IP", primary interface of PolyScope 5:
package type 20, and 16 for the state, of which only the robot's mode is sent.
"""

from __future__ import annotations

import struct
from collections import deque

_HEADER = struct.Struct(">iB")  # spec: size, package type
_MESSAGE_HEADER = struct.Struct(">QbB")  # spec: time [µs], source, message type
_STATE, _MESSAGE = 16, 20  # spec: package types
_VERSION, _SAFETY, _ERROR, _EXCEPTION = 3, 5, 6, 10  # spec: message types
_CONTROLLER = 7  # spec: source
_VIOLATION = 3  # spec: report level
_KEPT = 64  # chosen: a client that reads more seldom than that is dropped before
_NO_DATA = 0
_MODE = struct.Struct(">IBQ7bbBddd")  # spec: robot mode data, with size and type 0
_SIZE_OF_MODE = _MODE.size + 1  # spec: a reserved byte ends it


class Reports:
    """The newest messages, for any number of clients.

    Attributes:
        n: Number of all messages so far.
    """

    def __init__(self) -> None:
        self.n = 0
        self._kept: deque[bytes] = deque(maxlen=_KEPT)

    def take(self, since: int) -> bytes:
        """Return the kept messages after the first ``since``."""
        n_new = min(self.n - since, len(self._kept))
        return b"".join(list(self._kept)[len(self._kept) - n_new :])

    def add_stop(
        self, time: float, safety_mode: int, code: int, argument: int, text: str
    ) -> None:
        """Add a stop's safety mode and error code; ``time`` in [s]."""
        safety = struct.pack(">iiBII", code, argument, safety_mode, _NO_DATA, 0)
        self._add(time, _SAFETY, safety)
        error = struct.pack(">iiiII", code, argument, _VIOLATION, _NO_DATA, 0)
        self._add(time, _ERROR, error + text.encode())

    def add_exception(self, time: float, text: str) -> None:
        """Add a script's runtime exception; ``time`` in [s]."""
        self._add(time, _EXCEPTION, struct.pack(">ii", 0, 0) + text.encode())

    def _add(self, time: float, kind: int, body: bytes) -> None:
        self._kept.append(_make_message(time, kind, body))
        self.n += 1


def make_version(time: float, version: tuple[int, ...]) -> bytes:
    """Return the first message that a client gets."""
    name = b"URControl"
    major, minor, fix, build = version
    body = bytes([len(name)]) + name + struct.pack(">BBii", major, minor, fix, build)
    return _make_message(time, _VERSION, body + b"25-02-2025, 12:00:00")


def make_state(
    time: float, robot_mode: int, flags: tuple[bool, ...], slider: float, scaling: float
) -> bytes:
    """Return the state package; ``flags`` as the robot mode data has them."""
    numbers = 0, slider, scaling, 1.0  # control mode: position
    body = _MODE.pack(_SIZE_OF_MODE, 0, round(time * 1e6), *flags, robot_mode, *numbers)
    return _pack(_STATE, body + b"\x00")


def _make_message(time: float, kind: int, body: bytes) -> bytes:
    head = _MESSAGE_HEADER.pack(round(time * 1e6), _CONTROLLER, kind)
    return _pack(_MESSAGE, head + body)


def _pack(kind: int, body: bytes) -> bytes:
    return _HEADER.pack(_HEADER.size + len(body), kind) + body
