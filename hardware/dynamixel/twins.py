"""Second servo at a joint, as in ALOHA's arms, which obeys the first's id.

An unknown pair makes twice the torque.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from paprle.hardware.dynamixel.errors import BusTimeout
from paprle.hardware.dynamixel.inspection import (
    NO_SHADOW,
    SETUP,
    WIZARD,
    Problem,
    ServoSpec,
    find_absence,
    find_problems,
    read_table,
)
from paprle.hardware.dynamixel.line.wire import Wire
from paprle.hardware.dynamixel.models import find_model


def find_twin_absence(wire: Wire, spec: ServoSpec) -> Problem | None:
    """Return the problem of a missing second servo, or None."""
    if spec.twin is None:
        return None
    return find_absence(wire, ServoSpec(spec.twin, spec.model))


def find_twin_problems(wire: Wire, spec: ServoSpec) -> list[Problem]:
    """Return a second servo's problems.

    Raises:
        BusTimeout: It answers pings alone.
        BusError: Lost port.
    """
    if spec.twin is None:
        return []
    absence = find_twin_absence(wire, spec)
    if absence is not None:
        return [absence]
    twin = ServoSpec(spec.twin, spec.model)
    where = f"servo {twin.id} on '{wire.path}'"
    values = dict(read_table(wire, twin))
    second, values["Secondary(Shadow) ID"] = values["Secondary(Shadow) ID"], NO_SHADOW
    problems = find_problems(twin, values, where)
    if second != spec.id:
        problems.append(
            Problem(
                f"{where}: expected secondary id {spec.id}, that of the servo at its "
                f"joint, got {second}; set it {SETUP}"
            )
        )
    return problems


def find_shadows(
    wire: Wire, specs: Sequence[ServoSpec], ids: Iterable[int]
) -> list[str]:
    """Return a line for each unlisted servo with a listed id.

    Raises:
        BusError: Lost port.
    """
    known = {spec.id: spec for spec in specs}
    found = []
    for servo_id in ids:
        if wire.ping(servo_id, tries=1) is None:
            continue
        register = find_model(specs[0].model).registers["Secondary(Shadow) ID"]
        try:
            second = wire.read(servo_id, register)
        except BusTimeout:
            continue
        if second in known and known[second].twin != servo_id:
            found.append(
                f"servo {servo_id} on '{wire.path}': expected no servo that the config "
                f"does not name, got one that obeys id {second} as well: their joint "
                f"would be given twice the torque; add twin: {servo_id} to the servo "
                f"with id {second}, or set the Secondary ID (12) of {servo_id} to 255 "
                f"{WIZARD}"
            )
    return found


def list_near(specs: Sequence[ServoSpec]) -> list[int]:
    """Return unused ids, up to one above the highest."""
    twins = {spec.twin for spec in specs if spec.twin is not None}
    ids = {spec.id for spec in specs} | twins
    return [i for i in range(min(ids), max(ids) + 2) if i not in ids]
