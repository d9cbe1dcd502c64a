"""Warnings of servo faults while a rig runs, and a summary of its buses afterwards."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from paprle.hardware.dynamixel.bus_thread import BusThread, Snapshot
from paprle.leaders.puppeteer.arm import Arm


class ServoFaultLog:
    """Remembers which fault of which servo was reported, so that each is told once."""

    def __init__(self, arms: Sequence[Arm]) -> None:
        self._joints = {
            (arm.settings.port, servo.id): f"{arm.name}/{joint}"
            for arm in arms
            for servo, joint in zip(arm.servos, arm.joint_names, strict=True)
        }
        self._told: dict[tuple[str, int], str] = {}

    def update(self, buses: Mapping[str, BusThread]) -> list[str]:
        """Accept the newest errors of all servos.

        Args:
            buses: The buses by port.

        Returns:
            A line for each servo that failed or recovered since the last call.
        """
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
    """Return joints whose servos hold no torque, and all joints of lost arms."""
    if not lost and not any(snapshot.limp for snapshot in snapshots.values()):
        return ()
    return tuple(
        f"{arm.name}/{joint}"
        for arm in arms
        for joint, servo in zip(arm.joint_names, arm.servos, strict=True)
        if arm.name in lost or servo.id in snapshots[arm.settings.port].limp
    )


def summarise_buses(buses: Mapping[str, BusThread]) -> Iterator[str]:
    """Yield the counters of each bus that was read, and what is left to be done."""
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
