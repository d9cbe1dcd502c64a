"""Search for a port's servos, without writing."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from paprle.contracts.errors import DeviceError
from paprle.contracts.searches.servo_search import FoundServo
from paprle.hardware.dynamixel.errors import BusError, BusTimeout
from paprle.hardware.dynamixel.inspection import NO_SHADOW, ServoSpec, is_duplicated
from paprle.hardware.dynamixel.line.wire import Wire
from paprle.hardware.dynamixel.models import (
    BAUD_RATES,
    find_model,
    find_name,
    model_names,
)

_FEETECH_RATE = 1_000_000
"""Rate at which Feetech's servos leave the factory. spec: memory table, Baud Rate."""

_PATIENCE = 0.1  # [s] chosen: a servo answers within 2 ms, an adapter within 16


def find_servos(port: str, at_least: int) -> list[FoundServo]:
    """Return a port's servos by id, ``at_least`` so many, at any rate.

    Raises:
        DeviceError: If the port does not open, none answers, ids are shared, a model
            is unknown, or rates differ.
    """
    found: list[FoundServo] = []
    try:
        for servos in _scan(port):
            found += servos
            if len(found) >= at_least:
                break
    except BusError as err:
        raise DeviceError(str(err)) from err
    _judge(port, found)
    return sorted(found, key=lambda servo: servo.id)


def _scan(port: str) -> Iterator[list[FoundServo]]:
    first, *others = BAUD_RATES
    yield _scan_dynamixel(port, first)
    has_feetech = find_spec("scservo_sdk") is not None
    if has_feetech:
        yield _scan_feetech(port)
    for baud in others:
        yield _scan_dynamixel(port, baud)


def _scan_dynamixel(port: str, baud: int) -> list[FoundServo]:
    wire = Wire(port, baud)
    wire.open()
    try:
        numbers = wire.scan()
        last = max(numbers, default=0)
        missed = [i for i in range(last + 1) if numbers and i not in numbers]
        for i in missed:  # answers of two with one id spoil each other
            number = wire.ping(i, tries=1)
            if number is not None:
                numbers[i] = number
            elif wire.n_failed["corrupt"]:
                _refuse_twins(port, [i])
        return [_examine(wire, i, number) for i, number in sorted(numbers.items())]
    finally:
        wire.close()


def _examine(wire: Wire, servo_id: int, number: int) -> FoundServo:
    model = find_name(number)
    if model not in model_names():
        known = ", ".join(model_names())
        raise BusError(
            f"servo {servo_id} on '{wire.path}': expected one of {known}, got {model}"
        )
    if is_duplicated(wire, ServoSpec(servo_id, model)):
        _refuse_twins(wire.path, [servo_id])
    register = find_model(model).registers["Secondary(Shadow) ID"]
    try:
        second = wire.read(servo_id, register)
    except BusTimeout:
        second = NO_SHADOW
    obeys = second if second < NO_SHADOW and second != servo_id else None
    return FoundServo(id=servo_id, model=model, baud=wire.baud, obeys=obeys)


def _scan_feetech(port: str) -> list[FoundServo]:
    from paprle.hardware.feetech import models, wire  # noqa: PLC0415 - another extra
    from paprle.hardware.feetech.inspection import MEASURED  # noqa: PLC0415

    line = wire.Wire(port, _FEETECH_RATE)
    line.open()
    try:
        numbers = line.scan(_PATIENCE)
        _refuse_twins(port, [i for i in numbers if line.is_duplicated(i, MEASURED)])
        return [
            FoundServo(id=i, model=models.find_name(number), baud=line.baud)
            for i, number in sorted(numbers.items())
        ]
    finally:
        line.close()


def _refuse_twins(port: str, ids: list[int]) -> None:
    if ids:
        raise BusError(
            f"port '{port}': expected one servo for each id, got answers of two at "
            f"once from {', '.join(map(str, ids))}; connect one of them alone and give "
            "it another id, with its maker's tool"
        )


def _judge(port: str, found: list[FoundServo]) -> None:
    if not found:
        more = "" if find_spec("scservo_sdk") else _FEETECH_MISSING
        rates = ", ".join(map(str, BAUD_RATES))
        raise DeviceError(
            f"port '{port}': expected servos, got no answer at {rates} [bit/s]; check "
            f"their power and the cable{more}"
        )
    rates_of: dict[int, list[str]] = {servo.baud: [] for servo in found}
    for servo in found:
        rates_of[servo.baud].append(str(servo.id))
    if len(rates_of) > 1:
        listed = "; ".join(
            f"{', '.join(ids)} at {baud} [bit/s]" for baud, ids in rates_of.items()
        )
        raise DeviceError(
            f"port '{port}': expected servos of one rate, got {listed}; give them one "
            "Baud Rate (8) with their maker's tool"
        )


_FEETECH_MISSING = (
    "; Feetech's were not looked for: their SDK is not there: pip install "
    "'paprle[so101]'"
)
