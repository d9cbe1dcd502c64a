"""Warnings of servo faults, and bus summaries."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from paprle.hardware.dynamixel.bus_thread import Snapshot
from paprle.leaders.puppeteer.arm import Arm

if TYPE_CHECKING:
    from paprle.leaders.puppeteer.rig import ServoBus


class ServoFaultLog:
    """Reports each servo fault once."""

    def __init__(self, arms: Sequence[Arm]) -> None:
        self._joints = {
            (arm.settings.port, servo.id): f"{arm.name}/{joint}"
            for arm in arms
            for servo, joint in zip(arm.servos, arm.joint_names, strict=True)
        }
        self._told: dict[tuple[str, int], str] = {}

    def update(self, buses: Mapping[str, ServoBus]) -> list[str]:
        """Return a line for each new failure or recovery."""
        found = {
            (port, servo_id): text
            for port, bus in buses.items()
            if (snapshot := bus.latest()) is not None
            for servo_id, text in snapshot.errors.items()
        }
        if found == self._told:
            return []
        told, self._told = self._told, found
        lines = []
        for (port, servo_id), joint in self._joints.items():
            error = found.get((port, servo_id), "")
            if error != told.get((port, servo_id), ""):
                what = "well again"
                if error:
                    what = f"{error}; paprle doctor tells the remedy"
                lines.append(f"{joint} (servo {servo_id} on '{port}'): {what}")
        return lines


def find_limp_joints(
    arms: Sequence[Arm], snapshots: Mapping[str, Snapshot], lost: Collection[str]
) -> tuple[str, ...]:
    """Return joints without torque, with lost arms'."""
    if not lost and not any(snapshot.limp for snapshot in snapshots.values()):
        return ()
    return tuple(
        f"{arm.name}/{joint}"
        for arm in arms
        for joint, servo in zip(arm.joint_names, arm.servos, strict=True)
        if arm.name in lost or servo.id in snapshots[arm.settings.port].limp
    )


def summarise_buses(buses: Mapping[str, ServoBus]) -> Iterator[str]:
    """Yield each bus's counters, and remedies."""
    for port, bus in buses.items():
        n, n_failed = bus.counters, sum(bus.n_failed.values())
        if n.n_cycles:
            yield (
                f"port '{port}': {n.n_cycles} readings, {n.n_retried} of them asked "
                f"again; {bus.n_damaged} damaged packets, "
                f"{n_failed - bus.n_damaged} late or missing, {n.n_lost} servos lost, "
                f"{n.n_watchdog} watchdogs tripped"
            )
        yield from bus.problems
