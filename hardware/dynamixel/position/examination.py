"""Examination without torque, motion or new settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paprle.hardware.dynamixel.errors import BusTimeout
from paprle.hardware.dynamixel.inspection import find_absence, read_table
from paprle.hardware.dynamixel.line.port import find_latency_problem, read_latency_timer
from paprle.hardware.dynamixel.line.search import find_all_elsewhere, find_rates
from paprle.hardware.dynamixel.line.wire import Wire
from paprle.hardware.dynamixel.position.inspection import (
    PositionSpec,
    find_pair_problems,
    find_position_problems,
)
from paprle.hardware.dynamixel.twins import (
    find_shadows,
    find_twin_absence,
    list_near,
)

Finding = tuple[bool, str]


def examine(
    wire: Wire, joints: Sequence[tuple[str, PositionSpec]]
) -> Iterator[Finding]:
    """Yield findings on servos, by joint name.

    Raises:
        BusError: Lost port.
    """
    slow = find_latency_problem(wire.path, read_latency_timer(wire.path))
    if slow is not None:
        yield False, slow
    specs = [spec for _, spec in joints]
    elsewhere = find_all_elsewhere(wire, [spec.id for spec in specs], "env.baud")
    if elsewhere:
        yield from ((False, text) for text in elsewhere)
        return
    silent: list[int] = []
    for name, spec in joints:
        try:
            yield from _examine_servo(wire, name, spec)
        except BusTimeout as err:
            yield False, f"{name}: {err}"
        if wire.ping(spec.id) is None:
            silent.append(spec.id)
    for text in find_shadows(wire, specs, list_near(specs)):
        yield False, text
    for servo_id, baud in find_rates(wire, silent).items():
        yield (
            False,
            f"servo {servo_id} on '{wire.path}': it answers at {baud} [bit/s]; give it "
            f"the rate of the others, {wire.baud}, with DYNAMIXEL Wizard",
        )


def _examine_servo(wire: Wire, name: str, spec: PositionSpec) -> Iterator[Finding]:
    absence = find_absence(wire, spec) or find_twin_absence(wire, spec)
    if absence is not None:
        yield False, f"{name}: {absence.text}"
        return
    where = f"{name}: servo {spec.id} on '{wire.path}'"
    values = read_table(wire, spec)
    found = find_position_problems(spec, values, where)
    found += find_pair_problems(wire, spec, values)
    for problem in found:
        yield False, problem.text
    if not found:
        volts, heat = (
            0.1 * values["Present Input Voltage"],
            values["Present Temperature"],
        )
        pair = "" if spec.twin is None else f" with servo {spec.twin}"
        yield True, f"{where}{pair}: {spec.model}, {volts:.1f} [V], {heat} [°C]"
