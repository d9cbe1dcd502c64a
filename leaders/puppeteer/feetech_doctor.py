"""Examination of a bus of Feetech servos, without torque or writing."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from paprle.hardware.dynamixel.bus_thread import BusSettings
from paprle.hardware.dynamixel.probe import stand
from paprle.hardware.feetech.errors import BusError
from paprle.leaders.puppeteer.arm import Arm
from paprle.leaders.puppeteer.feetech_bus import FeetechBus
from paprle.leaders.puppeteer.pose_check import Finding, examine_pose

_WATCH = 0.5  # [s] chosen: an arm in a hand moves in it
_STILL = 0.02  # [rad] chosen: an arm that moves more is in a hand


def examine_feetech(settings: BusSettings, arms: Sequence[Arm]) -> Iterator[Finding]:
    """Yield the findings on one port."""
    bus = FeetechBus(settings, arms, time.monotonic_ns)
    try:
        bus.thread.open()
    except BusError as err:
        for problem in err.problems:
            yield False, problem
        return
    try:
        yield from _examine(bus, arms)
    finally:
        bus.thread.close(off=False)


def _examine(bus: FeetechBus, arms: Sequence[Arm]) -> Iterator[Finding]:
    seen, snapshot = bus.thread.snapshot, bus.latest()
    if seen is None or snapshot is None:
        return
    path, reading = bus.settings.path, seen.reading
    for i, servo in enumerate(bus.settings.servos):
        where = f"servo {servo.id} on '{path}'"
        fault = seen.health.get(servo.id)
        if fault:
            yield False, fault
        else:
            yield (
                True,
                f"{where}: {servo.model}, {reading.voltage[i]:.1f} [V], "
                f"{reading.temperature[i]:.0f} [°C]",
            )
    for text in bus.thread.take_warnings():
        yield False, text
    problems = bus.read_calibration()
    refusal = bus.find_uncalibrated()
    for text in (*problems, *([] if problems or not refusal else [refusal])):
        yield False, text
    if problems or refusal:
        return
    try:
        found = stand(bus, _WATCH)
    except BusError as err:
        yield False, str(err)
        return
    last = bus.latest() or snapshot
    for arm in arms:
        is_still = bool(found.sway[arm.place].max() <= _STILL)
        yield from examine_pose(arm, last.reading, is_still)
