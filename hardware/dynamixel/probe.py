"""Measurements at rest and under torque."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from paprle.hardware.dynamixel.bus import Reading
from paprle.hardware.dynamixel.bus_thread import BusSettings, BusThread, Snapshot
from paprle.hardware.dynamixel.errors import BusTimeout
from paprle.hardware.dynamixel.torque import TorqueCommand

Vec = npt.NDArray[np.float64]

_PERIOD = 0.0025  # [s] chosen: that of a bus at 400 Hz
_PATIENCE = 1.0  # [s] chosen: a bus without a reading for so long has failed


@dataclass(frozen=True, slots=True)
class Stand:
    """Angles of the servos at rest.

    Attributes:
        angle: Mean, shape (n,), [rad].
        sway: Largest less smallest, shape (n,), [rad].
    """

    angle: Vec
    sway: Vec


@dataclass(frozen=True, slots=True)
class Swing:
    """Motion under a torque, shape (m,).

    Attributes:
        t: [s].
        angle: [rad].
        velocity: [rad/s].
        torque: Of its motor, [N·m].
    """

    t: Vec
    angle: Vec
    velocity: Vec
    torque: Vec


class ReadBus(Protocol):
    """A bus with readable snapshots."""

    settings: BusSettings

    def latest(self) -> Snapshot | None:
        """Return the newest snapshot without blocking."""


def stand(bus: ReadBus, duration: float) -> Stand:
    """Return the servos' angles over ``duration``, [s].

    Raises:
        BusTimeout: A silent bus.
    """
    end = time.monotonic() + duration
    angles: list[Vec] = []
    while time.monotonic() < end or not angles:
        angles.append(_next_reading(bus).angle)
    found = np.array(angles)
    return Stand(found.mean(axis=0), np.ptp(found, axis=0))


def swing(
    bus: BusThread, i: int, profile: Callable[[float, float], float | None]
) -> Swing:
    """Return the motion under a torque [N·m] by time [s] and angle [rad].

    Raises:
        BusTimeout: A silent bus.
    """
    begin, rows = time.monotonic(), []
    n = len(bus.settings.servos)
    try:
        while True:
            reading = _next_reading(bus)
            t = time.monotonic() - begin
            wanted = profile(t, float(reading.angle[i]))
            if wanted is None:
                break
            tau = np.zeros(n)
            tau[i] = wanted
            bus.post(TorqueCommand(tau, time.monotonic_ns()))
            row = (reading.angle[i], reading.velocity[i], reading.torque[i])
            rows.append((reading.stamp_ns * 1e-9, *row))
    finally:
        bus.post(TorqueCommand(np.zeros(n), 0, is_release=True))
    return Swing(*np.array(rows).reshape(-1, 4).T)


def _next_reading(bus: ReadBus) -> Reading:
    before = bus.latest()
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        time.sleep(_PERIOD)
        now = bus.latest()
        is_new = before is None or (now is not None and now.seq > before.seq)
        if now is not None and is_new and now.is_open:
            return now.reading
    path = bus.settings.path
    raise BusTimeout(f"port '{path}': no readings came; check cable and power")
