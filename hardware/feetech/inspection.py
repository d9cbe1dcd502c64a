"""Faults of a servo, with remedies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from paprle.hardware.feetech.models import (
    BAUD_RATES,
    DELAY_UNIT,
    MODES,
    POSITION_MODE,
    VOLTAGE_UNIT,
    WHOLE_TURNS,
    ServoSpec,
    describe_errors,
    find_name,
    find_number,
    make_span,
)
from paprle.hardware.feetech.wire import Wire
from paprle.hardware.serial_bus.search import find_common_rate

SETUP = "with paprle setup-servos"
MEASURED = make_span("Present_Position", "Present_Current")
"""Block of all measurements."""

_LISTEN = 0.05  # [s] chosen: a controller that reads ten times a second is heard often
_FOREIGN = 4  # [bytes] chosen: more than a spike on a cable makes
_HOT = 10  # [°C] chosen: so near to the limit a servo is about to shut down
_CURES = {
    0x01: "check the power supply and its plugs",
    0x02: "power-cycle the servo; replace it if the error returns",
    0x04: "let it cool, and look for a joint that is held or rubs",
    0x08: "free the joint, and check the cable of the servo",
    0x20: "take the load off the joint, then power-cycle the servo",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """``<where>: expected <X>, got <Y>; <what to do>``."""

    text: str
    is_fatal: bool = True


def find_foreigners(wire: Wire) -> list[str]:
    """Return the problem of another controller.

    Raises:
        BusError: Lost port.
    """
    n_bytes = wire.listen(_LISTEN)
    if n_bytes < _FOREIGN:
        return []
    return [
        f"port '{wire.path}': expected silence, got {n_bytes} bytes that nothing here "
        "asked for: another controller speaks on this bus; unplug it, or end its "
        "program"
    ]


def find_elsewhere(wire: Wire, ids: Sequence[int]) -> list[str]:
    """Return the problem of a common other rate.

    Raises:
        BusError: Lost port.
    """
    found = find_common_rate(wire, ids, BAUD_RATES)
    if found is None:
        return []
    listed, here = ", ".join(map(str, ids)), wire.baud
    return [
        f"port '{wire.path}': expected servos {listed} at {here} [bit/s], got all of "
        f"them at {found} [bit/s]; set baud={found} in the config, or give them "
        f"{here} [bit/s] {SETUP}"
    ]


def find_absence(wire: Wire, spec: ServoSpec) -> Problem | None:
    """Return the problem of a missing, wrong or duplicated servo.

    Raises:
        BusError: Lost port.
    """
    where = f"servo {spec.id} on '{wire.path}'"
    number = wire.ping(spec.id)
    if wire.is_duplicated(spec.id, MEASURED):
        return Problem(
            f"{where}: expected one servo with this id, got answers of two at once; "
            f"connect one of them alone and give it another id {SETUP}"
        )
    if number is None:
        return Problem(
            f"{where}: expected an answer, got none at {wire.baud} [bit/s]; check its "
            "cable, power, id and baud rate"
        )
    if number != find_number(spec.model):
        return Problem(
            f"{where}: expected a {spec.model}, got a {find_name(number)}; "
            "correct the model in the config, or the id of the servo"
        )
    return None


def find_problems(
    kept: Mapping[str, int], measured: Mapping[str, int], where: str
) -> list[Problem]:
    """Return the problems in settings and measurements."""
    return [*_judge_settings(kept, where), *_judge_state(kept, measured, where)]


def _judge_settings(kept: Mapping[str, int], where: str) -> Iterator[Problem]:
    mode = kept["Operating_Mode"]
    if mode != POSITION_MODE:
        name = MODES[mode] if mode < len(MODES) else "unknown"
        yield Problem(
            f"{where}: expected operating mode 0 (position), got {mode} ({name}); "
            f"set it {SETUP}"
        )
    if kept["Response_Status_Level"] != 1:
        yield Problem(
            f"{where}: expected answers to all requests, got response level "
            f"{kept['Response_Status_Level']}: nothing written is verified; set it "
            f"{SETUP}"
        )
    if kept["Phase"] & WHOLE_TURNS:
        yield Problem(
            f"{where}: expected positions of one turn, got those of several (bit 4 of "
            f"Phase): they are lost with its power; clear it {SETUP}"
        )
    if kept["Angular_Resolution"] != 1:
        yield Problem(
            f"{where}: expected an angular resolution of 1, got "
            f"{kept['Angular_Resolution']}: a count is another angle then; set it "
            f"{SETUP}"
        )
    delay = kept["Return_Delay_Time"]
    if delay:
        yield Problem(
            f"{where}: expected return delay 0, got {1e6 * DELAY_UNIT * delay:.0f} "
            f"[µs]: readings are slow; set it {SETUP}",
            is_fatal=False,
        )


def _judge_state(
    kept: Mapping[str, int], measured: Mapping[str, int], where: str
) -> Iterator[Problem]:
    volts = VOLTAGE_UNIT * measured["Present_Voltage"]
    low = VOLTAGE_UNIT * kept["Min_Voltage_Limit"]
    high = VOLTAGE_UNIT * kept["Max_Voltage_Limit"]
    if not low <= volts <= high:
        yield Problem(
            f"{where}: expected {low:.1f} to {high:.1f} [V], got {volts:.1f} [V]; "
            "check the power supply (7.4 V and 12 V servos look alike) and its plugs"
        )
    heat, limit = measured["Present_Temperature"], kept["Max_Temperature_Limit"]
    if heat > limit - _HOT:
        yield Problem(
            f"{where}: expected at most {limit - _HOT} [°C], got {heat} [°C] (limit "
            f"{limit}); let it cool, and look for a joint that is held or rubs",
            is_fatal=False,
        )
    bits = measured["Status"]
    if bits:
        yield Problem(f"{where}: {describe_faults(bits)}", is_fatal=False)


def describe_faults(bits: int) -> str:
    """Return Status faults with remedies."""
    cures = [cure for bit, cure in _CURES.items() if bits & bit]
    cure = "; ".join(cures) or "power-cycle it"
    return f"expected no error, got '{describe_errors(bits)}'; {cure}"
