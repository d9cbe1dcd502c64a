"""Set-up of a lone servo."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from paprle.hardware.feetech.eeprom import (
    read_settings,
    write_settings,
)
from paprle.hardware.feetech.errors import BusError, ServoError
from paprle.hardware.feetech.inspection import MEASURED
from paprle.hardware.feetech.models import (
    BAUD_CODES,
    BAUD_RATES,
    POSITION_MODE,
    REGISTERS,
    WHOLE_TURNS,
    ServoSpec,
    find_name,
)
from paprle.hardware.feetech.usual import list_usual
from paprle.hardware.feetech.wire import SCAN, Wire
from paprle.hardware.serial_bus.alone import find_alone as search_alone

_SETTLE = 0.05  # [s] chosen: what was sent leaves before the port changes its rate


@dataclass(frozen=True, slots=True)
class Found:
    """Answering servo, at ``baud`` [bit/s]."""

    id: int
    model: str
    baud: int


def find_alone(wire: Wire, patience: float = SCAN) -> Found:
    """Return the only servo, at any id and rate.

    ``patience`` is the wait per rate, [s].

    Raises:
        BusError: None or several answer.
    """
    alone = search_alone(wire, BAUD_RATES, partial(wire.scan, patience))
    own = wire.baud
    try:
        wire.set_baud(alone.baud)
        _refuse_twins(wire, alone.id)
    finally:
        wire.set_baud(own)
    return Found(alone.id, find_name(alone.number), alone.baud)


def _refuse_twins(wire: Wire, servo_id: int) -> None:
    if wire.is_duplicated(servo_id, MEASURED):
        raise BusError(
            f"servo {servo_id} on '{wire.path}': expected one servo, got answers of "
            "two at once; unplug one of them"
        )


def set_up(wire: Wire, found: Found, goal: ServoSpec, baud: int) -> None:
    """Write and verify differing settings, limp.

    Raises:
        BusError: Another model, a duplicate, refusal, or invalid rate.
    """
    where = f"servo {found.id} on '{wire.path}'"
    if found.model != goal.model:
        raise BusError(
            f"{where}: expected a {goal.model}, got a {found.model}; connect "
            "another one, or correct the model in the config"
        )
    if baud not in BAUD_CODES:
        known = ", ".join(map(str, BAUD_CODES))
        raise BusError(f"{where}: expected a rate of {known} [bit/s], got {baud}")
    own = wire.baud
    try:
        wire.set_baud(found.baud)
        _refuse_twins(wire, found.id)
        wire.write_checked(found.id, REGISTERS["Torque_Enable"], 0)
        write_settings(wire, found.id, _find_settings(wire, found.id))
        _move(wire, found, goal.id, baud)
        wire.set_baud(baud)
        _check(wire, goal.id, baud)
    finally:
        wire.set_baud(own)


def is_set_up(wire: Wire, found: Found, goal: ServoSpec, baud: int) -> bool:
    """Return whether a servo is set up.

    Raises:
        BusError: No answer, or lost port.
    """
    if (found.id, found.model, found.baud) != (goal.id, goal.model, baud):
        return False
    own = wire.baud
    try:
        wire.set_baud(baud)
        kept = read_settings(wire, found.id)
        wanted = _find_settings(wire, found.id)
        return all(kept[name] == value for name, value in wanted.items())
    finally:
        wire.set_baud(own)


def _find_settings(wire: Wire, servo_id: int) -> dict[str, int]:
    usual = list_usual(read_settings(wire, servo_id))
    return usual | {
        "Return_Delay_Time": 0,
        "Response_Status_Level": 1,
        "Angular_Resolution": 1,
        "Operating_Mode": POSITION_MODE,
        "Phase": usual["Phase"] & ~WHOLE_TURNS,
    }


def _move(wire: Wire, found: Found, servo_id: int, baud: int) -> None:
    lock = REGISTERS["Lock"]
    if found.id != servo_id:
        if wire.ping(servo_id, tries=2) is not None:
            raise BusError(
                f"servo {servo_id} on '{wire.path}': expected this id to be free, got "
                "an answer; connect one servo alone"
            )
        wire.write_checked(found.id, lock, 0)
        wire.write_blindly(found.id, REGISTERS["ID"], servo_id)
        wire.wait(_SETTLE)  # it may answer that, and must not be taken for the next
        wire.write_checked(servo_id, lock, 1)
    if found.baud != baud:
        wire.write_checked(servo_id, lock, 0)
        wire.write_blindly(servo_id, REGISTERS["Baud_Rate"], BAUD_CODES[baud])
        wire.wait(_SETTLE)
        wire.set_baud(baud)
        wire.write_checked(servo_id, lock, 1)


def _check(wire: Wire, servo_id: int, baud: int) -> None:
    where = f"servo {servo_id} on '{wire.path}'"
    if wire.ping(servo_id) is None:
        raise ServoError(
            f"{where}: expected it to answer with its id at {baud} [bit/s], got none; "
            "does the adapter know that rate? Take its power away and try again"
        )
    kept = read_settings(wire, servo_id)
    if (kept["ID"], kept["Baud_Rate"]) != (servo_id, BAUD_CODES[baud]):
        raise ServoError(
            f"{where}: expected it to keep its id and rate, got {kept['ID']} and "
            f"{kept['Baud_Rate']}; take its power away and try again"
        )
