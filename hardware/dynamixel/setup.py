"""Set-up of id, rate and return delay."""

from __future__ import annotations

from dataclasses import dataclass

from paprle.hardware.dynamixel.errors import BusError, ServoError
from paprle.hardware.dynamixel.inspection import NO_SHADOW, ServoSpec, is_duplicated
from paprle.hardware.dynamixel.line.wire import Wire
from paprle.hardware.dynamixel.models import (
    BAUD_CODES,
    BAUD_RATES,
    find_model,
    find_name,
)
from paprle.hardware.serial_bus.alone import find_alone as search_alone

_ANSWERS_ALL = 2  # spec: e-manual, register 68, Status Return Level
_NONE = 255  # spec: e-manual, register 12: no secondary id
_EEPROM = 0.05  # [s] chosen: a servo is busy for some ms after a write to its EEPROM


@dataclass(frozen=True, slots=True)
class Found:
    """Answering servo, at ``baud`` [bit/s]."""

    id: int
    model: str
    baud: int


@dataclass(frozen=True, slots=True)
class Goal:
    """Wanted setup.

    Attributes:
        baud: [bit/s].
        second: Second id.
    """

    spec: ServoSpec
    baud: int
    second: int | None = None


def find_alone(wire: Wire) -> Found:
    """Return the only servo, at any id and rate.

    Raises:
        BusError: None or several answer.
    """
    alone = search_alone(wire, BAUD_RATES, wire.scan)
    return Found(alone.id, find_name(alone.number), alone.baud)


def set_up(wire: Wire, found: Found, goal: Goal) -> None:
    """Write and verify differing settings, limp.

    Raises:
        BusError: Another model, a duplicate, or refusal.
    """
    where = f"servo {found.id} on '{wire.path}'"
    if found.model != goal.spec.model:
        raise BusError(
            f"{where}: expected a {goal.spec.model}, got a {found.model}; connect "
            "another one, or correct the model in the config"
        )
    own = wire.baud
    try:
        wire.set_baud(found.baud)
        if is_duplicated(wire, ServoSpec(found.id, found.model)):
            raise BusError(f"{where}: expected one servo, got answers of two at once")
        _write(wire, found, goal)
        wire.wait(_EEPROM)  # what was sent leaves before the port changes its rate
        wire.set_baud(goal.baud)
        _check(wire, goal)
    finally:
        wire.set_baud(own)


def is_set_up(wire: Wire, found: Found, goal: Goal) -> bool:
    """Return whether a servo with the right id is set up."""
    own = wire.baud
    try:
        wire.set_baud(found.baud)
        return found.baud == goal.baud and not _find_difference(wire, goal)
    finally:
        wire.set_baud(own)


def _write(wire: Wire, found: Found, goal: Goal) -> None:
    registers = find_model(found.model).registers
    wire.write_blindly(found.id, registers["Status Return Level"], _ANSWERS_ALL)
    wire.wait(_EEPROM)  # it may answer that, too, and must not be taken for the next
    wire.write_checked(found.id, registers["Torque Enable"], 0)
    second = _NONE if goal.second is None else goal.second
    for name, value in (
        ("Return Delay Time", 0),
        ("Secondary(Shadow) ID", second),
    ):
        if not _holds(wire, found.id, goal.spec.model, name, value):
            wire.write_checked(found.id, registers[name], value)
    if found.id != goal.spec.id:
        wire.write_blindly(found.id, registers["ID"], goal.spec.id)
        wire.wait(_EEPROM)
    if found.baud != goal.baud:
        code = BAUD_CODES[goal.baud]
        wire.write_blindly(goal.spec.id, registers["Baud Rate"], code)


def _holds(wire: Wire, servo_id: int, model: str, name: str, value: int) -> bool:
    got = wire.read(servo_id, find_model(model).registers[name])
    is_none = name.startswith("Secondary") and value >= NO_SHADOW
    return got == value or (is_none and got >= NO_SHADOW)


def _find_difference(wire: Wire, goal: Goal) -> str:
    second = _NONE if goal.second is None else goal.second
    wanted = {
        "Baud Rate": BAUD_CODES[goal.baud],
        "Return Delay Time": 0,
        "Secondary(Shadow) ID": second,
    }
    for name, value in wanted.items():
        if not _holds(wire, goal.spec.id, goal.spec.model, name, value):
            return name
    return ""


def _check(wire: Wire, goal: Goal) -> None:
    where = f"servo {goal.spec.id} on '{wire.path}'"
    if wire.ping(goal.spec.id) is None:
        raise ServoError(
            f"{where}: expected it to answer with its id at {goal.baud} [bit/s], got "
            "none; does the adapter know that rate? Take its power away and try again"
        )
    name = _find_difference(wire, goal)
    if name:
        raise ServoError(
            f"{where}: expected it to keep its {name}, got another value; take its "
            "power away and try again"
        )
