"""Packets of an inertial sensor on a serial line.

Little-endian, one header byte; the first is ARBot's (cake-lab/AR-CV, final.py)::

    attitude  0xAA | uint32 µs | 4 × float32 w x y z | XOR of all before        22 bytes
    inertial  0xAB | uint32 µs | 3 × float32 gyroscope [rad/s]
                   | 3 × float32 accelerometer [m/s²] | CRC-16 of all before    31 bytes

As XOR lets damage pass, a packet must be plausible and continue the last one.
"""

from __future__ import annotations

import binascii
import math
import struct
from dataclasses import dataclass
from functools import reduce
from operator import xor
from typing import Literal, NamedTuple

from paprle.hardware.imu.cadence import Cadence

PacketKind = Literal["attitude", "inertial"]

MAX_STEP_US = 100_000  # [µs] chosen: what is silent for longer has to be borne out
_WRAP_US = 1 << 32
_MAX_OFF = 0.01  # chosen: a fast inverse root is off by 0.2 %, damage by far more
_LEAST_OFF = 5e-6  # chosen: what float32 leaves of a norm, with room
_USUAL = 20.0  # chosen: farther off than so often the usual is no rounding
_SHARE = 1.0 / 16.0  # chosen: a sensor's own rounding is known after half a second
_MAX_TURN = 40.0  # [rad/s] chosen: twice what a wrist turns
_TURN_NOISE = 0.05  # [rad] chosen: corrections of the sensor's own filter
_MAX_GYR = 36.0  # [rad/s] spec: MPU-9250, ±2000°/s, and its tolerance of 3 %
_MAX_ACC = 162.0  # [m/s²] spec: MPU-9250, ±16 g, and its tolerance of 3 %
_CRC_START = 0xFFFF  # spec: CRC-16/CCITT-FALSE


class Packet(NamedTuple):
    """One measurement.

    Attributes:
        t_us: From the run's start, [µs].
        run: New after a restart or a silence.
        values: w, x, y, z; or gyroscope and accelerometer.
    """

    t_us: int
    run: int
    values: tuple[float, ...]


@dataclass
class Tally:
    """Counts of packets by outcome.

    Attributes:
        n_damaged: Failed checks.
        n_refused: Impossible or unconfirmed.
    """

    n_accepted: int = 0
    n_damaged: int = 0
    n_refused: int = 0


class _Form(NamedTuple):
    header: int
    body: struct.Struct
    check: struct.Struct


_FORMS: dict[PacketKind, _Form] = {
    "attitude": _Form(0xAA, struct.Struct("<I4f"), struct.Struct("<B")),
    "inertial": _Form(0xAB, struct.Struct("<I6f"), struct.Struct("<H")),
}


class PacketDecoder:
    """Decoder of a stream of packets of ``size`` [bytes]."""

    def __init__(self, kind: PacketKind) -> None:
        self.kind: PacketKind = kind
        self.tally = Tally()
        self._form = _FORMS[kind]
        self.size = 1 + self._form.body.size + self._form.check.size
        self._buffer = bytearray()
        self._last: Packet | None = None
        self._candidate: Packet | None = None
        self._run = 0
        self._usually_off = _MAX_OFF
        self._cadence = Cadence()

    def feed(self, data: bytes) -> list[Packet]:
        """Return completed packets, in order."""
        self._buffer += data
        found: list[Packet] = []
        at, end = 0, len(self._buffer)
        while (at := self._buffer.find(self._form.header, at)) >= 0:
            if end - at < self.size:
                break
            values = self._open(bytes(self._buffer[at : at + self.size]))
            if values is None:
                at += 1
                continue
            step = self._place(*values, found)
            if step is None:  # known by the byte that follows it
                if end - at == self.size:
                    break
                follows = self._buffer[at + self.size] == self._form.header
                step = self._set_aside(*values) if follows else 1
            at += step
        del self._buffer[: at if at >= 0 else end]
        return found

    def interrupt(self) -> None:
        """Begin another run after reopening."""
        self._buffer.clear()
        self._last = self._candidate = None

    def _open(self, frame: bytes) -> tuple[int, tuple[float, ...]] | None:
        split = 1 + self._form.body.size
        (check,) = self._form.check.unpack_from(frame, split)
        if check != _compute_check(self.kind, frame[:split]):
            self.tally.n_damaged += 1
            return None
        counter, *values = self._form.body.unpack_from(frame, 1)
        if not self._is_measurable(values):
            self.tally.n_refused += 1
            return None
        return counter, tuple(values)

    def _is_measurable(self, values: list[float]) -> bool:
        if self.kind == "inertial":
            gyr, acc = math.hypot(*values[:3]), math.hypot(*values[3:])
            return gyr <= _MAX_GYR * math.sqrt(3) and acc <= _MAX_ACC * math.sqrt(3)
        off = abs(math.hypot(*values) - 1.0)
        bound = min(_LEAST_OFF + _USUAL * self._usually_off, _MAX_OFF)
        told = min(off, _MAX_OFF) if math.isfinite(off) else _MAX_OFF
        self._usually_off += _SHARE * (told - self._usually_off)  # a refused one's, too
        return off <= bound

    def _place(
        self, counter: int, values: tuple[float, ...], found: list[Packet]
    ) -> int | None:
        for before in (self._last, self._candidate):
            if before is None:
                continue
            packet = _go_on(before, counter, values)
            if packet is None or not self._cadence.accept(packet.t_us - before.t_us):
                continue
            borne_out = [before] if before is self._candidate else []
            self.tally.n_refused += not borne_out and self._candidate is not None
            self._last, self._candidate = packet, None
            found += [*borne_out, packet]
            self.tally.n_accepted += len(borne_out) + 1
            return self.size
        return None

    def _set_aside(self, counter: int, values: tuple[float, ...]) -> int:
        self.tally.n_refused += self._candidate is not None
        late = None if self._last is None else _go_on(self._last, counter, values)
        self._run += late is None
        self._candidate = late or Packet(counter, self._run, values)
        return self.size


def _compute_check(kind: PacketKind, frame: bytes) -> int:
    if kind == "attitude":
        return reduce(xor, frame)
    return binascii.crc_hqx(frame, _CRC_START)


def _go_on(before: Packet, counter: int, values: tuple[float, ...]) -> Packet | None:
    step_us = (counter - before.t_us) % _WRAP_US
    if not 0 < step_us <= MAX_STEP_US:
        return None
    if len(values) == 4 and not _can_turn(before.values, values, step_us * 1e-6):
        return None
    return Packet(before.t_us + step_us, before.run, values)


def _can_turn(a: tuple[float, ...], b: tuple[float, ...], dt: float) -> bool:
    dot = abs(sum(x * y for x, y in zip(a, b, strict=True)))
    turn = 2.0 * math.acos(min(dot / (math.hypot(*a) * math.hypot(*b)), 1.0))
    return turn <= _MAX_TURN * dt + _TURN_NOISE
