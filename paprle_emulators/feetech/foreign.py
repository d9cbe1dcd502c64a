"""Another master on the bus."""

from __future__ import annotations

import random
from dataclasses import dataclass

from paprle_emulators.feetech.bus import SYNC_READ, WRITE, Bus, overlay
from paprle_emulators.feetech.packets import BROADCAST, make_instruction
from paprle_emulators.feetech.registers import BY_NAME

SEED = 5  # chosen: the same collisions in every run
SHARE = 0.05  # chosen: of the time that another master at 50 Hz occupies the wire
PLACE = BY_NAME["Present_Position"]


@dataclass(frozen=True, slots=True)
class Write:
    """Bytes written each time."""

    servo: int
    address: int
    data: bytes


class ForeignMaster:
    """Reads all positions; ``period_ns`` 0: absent."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._random = random.Random(SEED)
        self.n_collisions = 0
        self.leave()

    def leave(self) -> None:
        """Leave the bus."""
        self.period_ns = 0
        self._write: Write | None = None
        self._next_ns = 0

    def come(self, period: float, write: Write | None) -> None:
        """Talk, every period [s]."""
        self.period_ns, self._write = round(period * 1e9), write

    def talk(self, now_ns: int) -> bytes:
        """Return traffic received now."""
        if not self.period_ns or now_ns < self._next_ns:
            return b""
        self._next_ns = now_ns + self.period_ns
        numbers = bytes(servo.number for servo in self._bus.connected)
        params = bytes((PLACE.address, PLACE.size)) + numbers
        packets = [make_instruction(BROADCAST, SYNC_READ, params)]
        if (one := self._write) is not None:
            body = bytes((one.address,)) + one.data
            packets.append(make_instruction(one.servo, WRITE, body))
        heard = b""
        for packet in packets:
            answers = self._bus.receive(packet, now_ns, None)
            heard += packet + b"".join(one.data for one in answers)
        return heard

    def garble(self, data: bytes) -> bytes:
        """Return the bytes that reach the servos."""
        if not self.period_ns or not data or self._random.random() >= SHARE:
            return data
        self.n_collisions += 1
        numbers = bytes(servo.number for servo in self._bus.connected)
        params = bytes((PLACE.address, PLACE.size)) + numbers
        return overlay(data, make_instruction(BROADCAST, SYNC_READ, params))
