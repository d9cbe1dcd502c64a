"""Reader of reports: motion at 250 Hz, condition at 5 Hz.

The SDK keeps a lost box's last values; here each has its age. Source: xarm-Developer's
``data-description-of-tcp-port``.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from paprle.hardware.vendor_arm.clock import DeviceClock

Vec = npt.NDArray[np.float64]
Clock = Callable[[], int]

REALTIME, RICH, REAL = 30000, 30002, 30003  # spec: ports; 30000 from firmware 2.1 on
_LEAST = {REALTIME: 256, RICH: 252, REAL: 87}  # spec: bytes up to what is read
_MOST = 4096  # chosen: the longest report of today has 784 bytes
_REACH_TIME = 1.0  # [s] chosen: a box on the same network answers in 1 ms
_WAIT = 0.1  # [s] chosen: how long the reader takes to notice its end
_MOST_GARBLED = 20  # chosen: in a row; then the port speaks something else
_LARGEST = 1e3  # [rad/s], [N·m] chosen: far above any arm's; noise is seldom below
_TURNS = 7.0  # [rad] spec: joints turn by 360° at most, and a little beyond


@dataclass(frozen=True, slots=True)
class Motion:
    """Joints at one instant, shape (n,), [rad], [rad/s], [N·m]."""

    stamp_ns: int
    q: Vec
    dq: Vec
    tau: Vec
    mode: int
    state: int


@dataclass(frozen=True, slots=True)
class Details:
    """Box and joints at one instant.

    Attributes:
        stamp_ns: Arrival, [ns].
        error: Of the box; 0: none.
        has_power: All joints have power and open brakes.
        servos: Error by joint; 0: none.
        temperatures: By joint, [°C].
    """

    stamp_ns: int
    error: int
    warning: int
    has_power: bool
    servos: tuple[int, ...]
    temperatures: tuple[int, ...]


class Reports:
    """Newest reports.

    Attributes:
        failure: Reason for silence, or "".
        rate: Of ``motion``, [Hz].
    """

    def __init__(self, host: str, n: int, clock: Clock) -> None:
        """Describe a box of ``n`` joints."""
        self._host, self._n, self._clock = host, n, clock
        self._time = DeviceClock()
        self._ports: dict[socket.socket, int] = {}
        self._n_garbled = 0
        self._must_end = threading.Event()
        self._thread: threading.Thread | None = None
        self.motion: Motion | None = None
        self.details: Details | None = None
        self.failure, self.rate = "", 250.0

    def open(self) -> None:
        """Connect and start to read.

        Raises:
            OSError: No reports.
        """
        try:
            self._connect(REALTIME)
        except OSError:  # older firmware
            self._connect(REAL)
            self.rate = 100.0
        self._connect(RICH)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End; repeatable."""
        self._must_end.set()
        if self._thread is not None:
            self._thread.join(10 * _WAIT)
            self._thread = None
        for node in self._ports:
            node.close()
        self._ports.clear()

    def _connect(self, port: int) -> None:
        node = socket.create_connection((self._host, port), _REACH_TIME)
        node.setblocking(False)
        self._ports[node] = port

    def _read(self) -> None:
        buffers = {node: bytearray() for node in self._ports}
        with selectors.DefaultSelector() as selector:
            for node in self._ports:
                selector.register(node, selectors.EVENT_READ)
            while not self._must_end.is_set() and not self.failure:
                for key, _ in selector.select(_WAIT):
                    found = key.fileobj
                    if isinstance(found, socket.socket):
                        self._receive(found, buffers[found])

    def _receive(self, node: socket.socket, buffer: bytearray) -> None:
        try:
            data = node.recv(65536)
        except BlockingIOError:
            return
        except OSError as err:
            self.failure = f"its reports ended: {err}"
            return
        if not data:
            self.failure = "its reports ended"
            return
        buffer += data
        port, now = self._ports[node], self._clock()
        while len(buffer) >= 4:
            (length,) = struct.unpack_from(">I", buffer)
            if not _LEAST[port] <= length <= _MOST:
                self.failure = f"expected a report, got one of {length} bytes"
                return
            if len(buffer) < length:
                return
            self._take(port, bytes(buffer[:length]), now)
            del buffer[:length]

    def _take(self, port: int, data: bytes, now: int) -> None:
        with contextlib.suppress(ValueError):
            if port == RICH:
                self.details = self._parse_details(data, now)
            else:
                self.motion = self._parse_motion(port, data, now)
            self._n_garbled = 0
            return
        self._n_garbled += 1
        if self._n_garbled > _MOST_GARBLED:
            self.failure = "expected reports, got noise"

    def _parse_motion(self, port: int, data: bytes, now: int) -> Motion:
        n, at = self._n, 12 if port == REALTIME else 4
        state, mode = data[at] & 0x0F, data[at] >> 4
        places = (116, 144, 228) if port == REALTIME else (7, 59)
        q, *rest = (_read_floats(data, place, n) for place in places)
        if not (np.abs(q) < _TURNS).all() or not (np.abs(rest) < _LARGEST).all():
            raise ValueError("expected joints, got noise")
        if port == REAL:
            return Motion(now, q, self._differ(q, now), rest[0], mode, state)
        device_s = 1e-6 * struct.unpack_from(">Q", data, 4)[0]
        stamp = self._time.to_ours(device_s, now)
        return Motion(stamp, q, rest[0], rest[1], mode, state)

    def _differ(self, q: Vec, now: int) -> Vec:
        last = self.motion
        if last is None or now <= last.stamp_ns:
            return np.zeros(self._n)
        return (q - last.q) / (1e-9 * (now - last.stamp_ns))

    def _parse_details(self, data: bytes, now: int) -> Details:
        n = self._n
        if data[146] != n:
            raise ValueError(f"expected an arm of {n} joints, got {data[146]}")
        every = (1 << n) - 1
        return Details(
            now,
            error=data[89],
            warning=data[90],
            has_power=data[87] & every == every and data[88] & every == every,
            servos=tuple(data[230 + 2 * k] for k in range(n)),
            temperatures=struct.unpack_from(f">{n}b", data, 245),
        )


def _read_floats(data: bytes, at: int, n: int) -> Vec:
    return np.array(struct.unpack_from(f"<{n}f", data, at))
