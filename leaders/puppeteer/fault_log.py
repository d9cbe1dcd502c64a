"""What an operator is told of a rig: of servos while it runs, of its buses after."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from hardware.dynamixel.owner import BusOwner, Snapshot
from leaders.puppeteer.arm import Arm


class Tidings:
    """Remembers what was told of which servo, so that nothing is told twice."""

    def __init__(self, arms: Sequence[Arm]) -> None:
        self._joints = {
            (arm.settings.port, servo.id): f"{arm.name}/{joint}"
            for arm in arms
            for servo, joint in zip(arm.servos, arm.joint_names, strict=True)
        }
        self._told: dict[tuple[str, int], str] = {}

    def take(self, owners: Mapping[str, BusOwner]) -> list[str]:
        """Return what has changed with the servos since the last call, in words."""
        found = {
            (port, servo_id): text
            for port, owner in owners.items()
            if (snapshot := owner.latest()) is not None
            for servo_id, text in snapshot.errors.items()
        }
        if found == self._told:
            return []
        told, self._told = self._told, found
        news = []
        for (port, servo_id), joint in self._joints.items():
            now = found.get((port, servo_id), "")
            if now != told.get((port, servo_id), ""):
                what = f"{now}; paprle doctor tells the remedy" if now else "well again"
                news.append(f"{joint} (servo {servo_id} on '{port}'): {what}")
        return news


def find_slack(
    arms: Sequence[Arm], snapshots: Mapping[str, Snapshot], lost: Collection[str]
) -> tuple[str, ...]:
    """Name the joints whose servos hold no torque, and all those of lost arms."""
    if not lost and not any(snapshot.slack for snapshot in snapshots.values()):
        return ()
    return tuple(
        f"{arm.name}/{joint}"
        for arm in arms
        for joint, servo in zip(arm.joint_names, arm.servos, strict=True)
        if arm.name in lost or servo.id in snapshots[arm.settings.port].slack
    )


def say_buses(owners: Mapping[str, BusOwner]) -> Iterator[str]:
    """Say what each bus that was read got over, and what is left to be done."""
    for port, owner in owners.items():
        n, failed = owner.counters, owner.n_failed
        if n.n_cycles:
            yield (
                f"port '{port}': {n.n_cycles} readings, {n.n_retried} of them asked "
                f"again; {failed['corrupt']} damaged packets, {failed['timeout']} "
                f"silences, {n.n_lost} servos lost, {n.n_watchdog} watchdogs tripped"
            )
        yield from owner.problems
