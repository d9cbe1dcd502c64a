"""Guided set-up of servos, a generator of questions."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

from paprle.contracts.errors import ConfigError
from paprle.hardware.dynamixel.bus_thread import BusSettings
from paprle.hardware.dynamixel.inspection import ServoSpec
from paprle.hardware.dynamixel.line.search import find_rates
from paprle.hardware.dynamixel.line.wire import Wire
from paprle.hardware.dynamixel.models import BAUD_CODES, find_name
from paprle.hardware.dynamixel.setup import Found, Goal, find_alone, is_set_up, set_up
from paprle.leaders.puppeteer.arm import Arm
from paprle.leaders.puppeteer.servo_models import is_feetech
from paprle.leaders.puppeteer.setup_dialogue import Goals, describe_goal, set_up_each


def set_up_servos(
    arms: Sequence[Arm], buses: Mapping[str, BusSettings], joints: Sequence[str]
) -> Generator[str, str, dict[str, Any]]:
    """Set ids, rate and zero return delay of ``limb/joint``, or of all.

    Yields:
        Questions; expects the answer.

    Returns:
        ``servos``, a line each.

    Raises:
        ConfigError: For an unknown joint or unsupported rate.
    """
    goals = {
        port: dict(_list_goals(arms, settings)) for port, settings in buses.items()
    }
    known = [name for mine in goals.values() for name in mine]
    unknown = [joint for joint in joints if joint not in known]
    if unknown:
        raise ConfigError(
            f"--joint: expected one of {', '.join(known)}, got '{', '.join(unknown)}'"
        )
    done: list[str] = []
    for port, settings in buses.items():
        chosen = {n: g for n, g in goals[port].items() if not joints or n in joints}
        if is_feetech(settings.servos[0].model):
            from paprle.leaders.puppeteer.feetech.setup import (  # noqa: PLC0415
                set_up_feetech,
            )

            done += yield from set_up_feetech(settings, chosen)
            continue
        if settings.baud not in BAUD_CODES:
            listed = ", ".join(map(str, BAUD_CODES))
            raise ConfigError(
                f"leader.baud: expected a rate that servos have ({listed}), got "
                f"{settings.baud}"
            )
        wire = Wire(port, settings.baud, settings.timeout)
        wire.open()
        try:
            done += yield from _set_up_bus(wire, chosen)
        finally:
            wire.close()
    return {"servos": done}


def _list_goals(
    arms: Sequence[Arm], settings: BusSettings
) -> Iterator[tuple[str, Goal]]:
    for arm in arms:
        if arm.settings.port != settings.path:
            continue
        for joint, spec in zip(arm.joint_names, arm.servo_specs, strict=True):
            name = f"{arm.name}/{joint}"
            yield name, Goal(ServoSpec(spec.id, spec.model), settings.baud)
            if spec.twin is not None:
                twin = ServoSpec(spec.twin, spec.model)
                yield f"{name}/twin", Goal(twin, settings.baud, second=spec.id)


def _set_up_bus(wire: Wire, goals: Goals) -> Generator[str, str, list[str]]:
    found = _find_all(wire, goals)
    if len(found) < len(goals):
        return (
            yield from set_up_each(
                goals, lambda goal: set_up(wire, find_alone(wire), goal)
            )
        )
    left = {n: g for n, g in goals.items() if not is_set_up(wire, found[n], g)}
    if left:
        listed = ", ".join(f"{n} at {found[n].baud} [bit/s]" for n in left)
        yield (
            f"port '{wire.path}': all {len(goals)} servos answer with their ids; these "
            f"are not set up: {listed}. They go limp: hold the arm"
        )
        for name, goal in left.items():
            set_up(wire, found[name], goal)
    return [describe_goal(name, goal) for name, goal in goals.items()]


def _find_all(wire: Wire, goals: Goals) -> dict[str, Found]:
    rates = {
        goal.spec.id: wire.baud
        for goal in goals.values()
        if wire.ping(goal.spec.id, tries=2) is not None
    }
    rates |= find_rates(
        wire, [g.spec.id for g in goals.values() if g.spec.id not in rates]
    )
    found = {}
    own = wire.baud
    for name, goal in goals.items():
        baud = rates.get(goal.spec.id)
        if baud is None:
            continue
        wire.set_baud(baud)
        number = wire.ping(goal.spec.id)
        wire.set_baud(own)
        if number is not None and find_name(number) == goal.spec.model:
            found[name] = Found(goal.spec.id, goal.spec.model, baud)
    return found
