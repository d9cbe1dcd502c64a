"""An inertial sensor on a pseudo-terminal, with faults."""

from __future__ import annotations

import contextlib
import math
import os
import select
import threading
import time
import tty
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from paprle_emulators.imu.packets import PacketKind, encode

Fault = Literal["flip", "lose", "insert", "silent", "stuck", "not_finite", "restart"]
SensorMotion = Callable[[float], Sequence[float]]
"""From time [s] to the values of a packet."""

_GRAVITY = 9.81  # [m/s²] spec: what an accelerometer at rest shows
_RATE = 0.5  # [rad/s] chosen: a hand that turns slowly


def turn_slowly(kind: PacketKind) -> SensorMotion:
    """Return a level turn about the vertical."""

    def measure(t: float) -> Sequence[float]:
        if kind == "attitude":
            half = 0.5 * _RATE * math.sin(t)
            return math.cos(half), 0.0, 0.0, math.sin(half)
        return 0.0, 0.0, _RATE * math.cos(t), 0.0, 0.0, _GRAVITY

    return measure


class EmulatedImu:
    """A sensor; ``path`` is its terminal's."""

    def __init__(
        self,
        link: str,
        kind: PacketKind = "attitude",
        rate: float = 200.0,
        motion: SensorMotion | None = None,
        seed: int = 0,
    ) -> None:
        self.path, self.kind, self._rate = link, kind, rate
        self._motion = motion or turn_slowly(kind)
        self._rng = np.random.default_rng(seed)
        self._faults: dict[Fault, float] = {}
        self._t, self._begin_t = 0.0, 0.0
        self.n_written = self.n_damaged = 0
        self._master = self._slave = -1
        self._lock = threading.RLock()  # a thread writes while another unplugs
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self.was_started = False
        self.plug()

    def plug(self) -> None:
        """Plug it in, idle until ``start``."""
        with self._lock:
            self.unplug()
            self._master, self._slave = os.openpty()
            tty.setraw(self._slave)
            os.set_blocking(self._master, False)
            self.was_started = False
            os.symlink(os.ttyname(self._slave), self.path)  # noqa: PTH211 - as below

    def unplug(self) -> None:
        """Disappear; clients read an error."""
        with self._lock:
            master, slave = self._master, self._slave
            self._master = self._slave = -1
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.path)  # noqa: PTH108 - a link, not what it names
            for end in (slave, master):
                if end >= 0:
                    os.close(end)

    def set_fault(self, fault: Fault, share: float = 1.0) -> None:
        """Set a fault."""
        if fault == "restart":
            self._begin_t = self._t
            return
        self._faults[fault] = share

    def write(self, n: int = 1) -> None:
        """Write n packets at once."""
        with self._lock:
            self._listen()
            for _ in range(n):
                self._write_next()

    def run(self) -> None:
        """Write in a thread until ``close``."""
        self._thread = threading.Thread(target=self._keep_on, name="emulated imu")
        self._thread.start()

    def close(self) -> None:
        """Stop and disappear."""
        self._end.set()
        if self._thread is not None:
            self._thread.join()
        self.unplug()

    def _keep_on(self) -> None:
        next_t = time.monotonic()
        while not self._end.wait(max(0.0, next_t - time.monotonic())):
            next_t += 1.0 / self._rate
            self.write()

    def _write_next(self) -> None:
        if not self._is_hit("stuck"):
            self._t += 1.0 / self._rate
        values = tuple(self._motion(self._t))
        if self._is_hit("not_finite"):
            values = (math.nan, *values[1:])
        t_us = round((self._t - self._begin_t) * 1e6)
        data = self._damage(encode(self.kind, t_us, values))
        if self.was_started and not self._is_hit("silent"):
            self._put(data)

    def _listen(self) -> None:
        if self._master < 0 or not select.select([self._master], [], [], 0.0)[0]:
            return
        with contextlib.suppress(OSError):
            self.was_started |= b"start\n" in os.read(self._master, 4096)

    def _put(self, data: bytes) -> None:
        if self._master < 0:
            return
        with contextlib.suppress(OSError):  # a full pty loses bytes, as a line does
            os.write(self._master, data)
            self.n_written += 1

    def _is_hit(self, fault: Fault) -> bool:
        share = self._faults.get(fault, 0.0)
        return share > 0.0 and float(self._rng.random()) < share

    def _damage(self, frame: bytes) -> bytes:
        data = bytearray(frame)
        if self._is_hit("flip"):
            data[self._rng.integers(len(data))] ^= 1 << int(self._rng.integers(8))
        if self._is_hit("lose"):
            del data[self._rng.integers(len(data))]
        if self._is_hit("insert"):
            at = int(self._rng.integers(len(data)))
            data[at:at] = self._rng.bytes(int(self._rng.integers(1, 30)))
        self.n_damaged += bytes(data) != frame
        return bytes(data)
