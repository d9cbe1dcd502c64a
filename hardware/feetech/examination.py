"""Examination of an arm without torque, motion or writing.

``CHECK`` begins findings that may be intended.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from paprle.hardware.feetech.calibration import (
    MotorCalibration,
    choose_motors,
    find_file,
    list_files,
    read_calibration,
)
from paprle.hardware.feetech.calibration_check import (
    Calibrated,
    Joint,
    find_contradictions,
    find_drift,
    find_drifts,
    find_file_doubts,
    find_unusable,
)
from paprle.hardware.feetech.eeprom import find_stored, read_settings
from paprle.hardware.feetech.errors import BusError, BusTimeout
from paprle.hardware.feetech.inspection import (
    SETUP,
    find_absence,
    find_elsewhere,
    find_foreigners,
    find_problems,
)
from paprle.hardware.feetech.models import (
    BAUD_RATES,
    VOLTAGE_UNIT,
    find_name,
    make_span,
    split,
)
from paprle.hardware.feetech.usual import find_odd
from paprle.hardware.feetech.wire import Wire
from paprle.hardware.serial_bus.search import find_rates

Finding = tuple[bool, str]
Table = Mapping[str, int]
"""Registers of a servo by name."""

_Kind = TypeVar("_Kind", bool, str)

_NOW = make_span("Torque_Enable", "Present_Current")
_SAG = 1.0  # [V] chosen: what a good chain of cables loses is a tenth of it
_STRONG_LIMIT = 10.0  # [V] spec: Max_Voltage_Limit: 8 of 7.4 V servos, 14 of 12 V ones
_LEAST_SUPPLY = {False: 4.6, True: 10.5}  # [V] chosen: 5 V, and 12 V, less a cable's
_SAME = 0.02  # [rad] chosen: a file of this arm has the servos' own homing offsets


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmModel:
    """An expected arm.

    Attributes:
        calibration: File or LeRobot's name; empty: as stored.
        is_driven: Else limp.
        setting: Names a file.
        command: Calibrates it.
    """

    joints: tuple[Joint, ...]
    where: str
    calibration: str
    is_driven: bool
    setting: str
    command: str

    @property
    def remedy(self) -> str:
        """Remedy for a wrong calibration."""
        return f"calibrate it with {self.command}"


def examine_servos(
    wire: Wire, joints: Sequence[Joint], *, is_driven: bool
) -> Generator[Finding, None, dict[int, Table]]:
    """Yield findings on an open bus.

    Returns:
        Registers by id.

    Raises:
        BusError: Lost port.
    """
    ids = [joint.spec.id for joint in joints]
    for text in (*find_foreigners(wire), *find_elsewhere(wire, ids)):
        yield False, text
    tables: dict[int, Table] = {}
    for joint in joints:
        try:
            table = yield from _examine_servo(wire, joint, is_driven)
        except BusTimeout as err:
            yield False, f"{joint.name}: {err}"
            continue
        if table is not None:
            tables[joint.spec.id] = table
    for text in _compare(wire.path, joints, tables):
        yield False, text
    missing = [i for i in ids if i not in tables]
    if 0 < len(missing) < len(ids):
        yield from _search(wire, ids, missing)
    return tables


def _examine_servo(
    wire: Wire, joint: Joint, is_driven: bool
) -> Generator[Finding, None, Table | None]:
    where = f"{joint.name}: servo {joint.spec.id} on '{wire.path}'"
    absence = find_absence(wire, joint.spec)
    if absence is not None:
        yield False, f"{joint.name}: {absence.text}"
        return None
    kept = read_settings(wire, joint.spec.id)
    now = split(wire.read_block(joint.spec.id, _NOW), _NOW)
    faults = [problem.text for problem in find_problems(kept, now, where)]
    odd = find_odd(kept, is_gripper_joint=joint.is_gripper, is_driven=is_driven)
    faults += [f"{where}: {text}" for text in odd]
    for text in faults:
        yield False, text
    if not faults:
        volts = VOLTAGE_UNIT * now["Present_Voltage"]
        yield (
            True,
            f"{where}: {joint.spec.model}, {volts:.1f} [V], "
            f"{now['Present_Temperature']} [°C]",
        )
    if now["Lock"] != 1:
        yield (
            True,
            f"CHECK {where}: expected its settings locked, got them open, as LeRobot "
            "leaves limp servos: what is written to it is kept; torque on, or its "
            "power off and on, locks them",
        )
    if is_driven and not now["Torque_Limit"]:
        yield (
            True,
            f"CHECK {where}: expected a Torque_Limit, got 0 until its power goes: "
            "another program set it, and with LeRobot it has no force; paprle writes "
            "its own",
        )
    return {**kept, **now}


def _compare(
    path: str, joints: Sequence[Joint], tables: Mapping[int, Table]
) -> Iterator[str]:
    seen = [
        (f"{joint.name}: servo {joint.spec.id} on '{path}'", tables[joint.spec.id])
        for joint in joints
        if joint.spec.id in tables
    ]
    if not seen:
        return
    strong = [_is_strong(table) for _, table in seen]
    versions = [_find_version(table) for _, table in seen]
    most = max(_find_volts(table) for _, table in seen)
    usual, version = _most_common(strong), _most_common(versions)
    for where, table in seen:
        volts, is_strong = _find_volts(table), _is_strong(table)
        if is_strong != usual:
            kinds = {True: "12 V", False: "7.4 V"}
            yield (
                f"{where}: expected a servo for {kinds[usual]}, as the others, got the "
                f"voltage limits of one for {kinds[is_strong]}; exchange it, or set "
                "its limits as the others have them"
            )
        if _find_version(table) != version:
            yield (
                f"{where}: expected firmware {version}, as the others have, got "
                f"{_find_version(table)}: LeRobot refuses such arms; update all with "
                "Feetech's FD program"
            )
        if table["Min_Voltage_Limit"] <= round(volts / VOLTAGE_UNIT):
            yield from _judge_supply(where, volts, most, is_strong)


def _judge_supply(
    where: str, volts: float, most: float, is_strong: bool
) -> Iterator[str]:
    least = _LEAST_SUPPLY[is_strong]
    if volts < most - _SAG:
        yield (
            f"{where}: expected {most:.1f} [V] as the others have, got {volts:.1f} "
            "[V]; check its plugs and cable"
        )
    elif volts < least:
        kind = "12 V servo" if is_strong else "7.4 V servo"
        yield (
            f"{where}: expected at least {least} [V] at a {kind}, got {volts:.1f} [V]: "
            "it is weak and may restart under load; check the power supply and its "
            "voltage"
        )


def _is_strong(table: Table) -> bool:
    return VOLTAGE_UNIT * table["Max_Voltage_Limit"] > _STRONG_LIMIT


def _find_volts(table: Table) -> float:
    return VOLTAGE_UNIT * table["Present_Voltage"]


def _find_version(table: Table) -> str:
    return f"{table['Firmware_Major_Version']}.{table['Firmware_Minor_Version']}"


def _most_common(found: Sequence[_Kind]) -> _Kind:
    return max(found, key=found.count)


def _search(
    wire: Wire, ids: Sequence[int], missing: Sequence[int]
) -> Iterator[Finding]:
    for servo_id, baud in find_rates(wire, missing, BAUD_RATES).items():
        yield (
            False,
            f"servo {servo_id} on '{wire.path}': expected {wire.baud} [bit/s], got it "
            f"at {baud} [bit/s]; give it its rate {SETUP}",
        )
    try:
        found = wire.scan()
    except BusError as err:
        yield False, str(err)
        return
    for servo_id, number in found.items():
        if servo_id not in ids:
            yield (
                False,
                f"port '{wire.path}': expected ids {', '.join(map(str, ids))}, got a "
                f"{find_name(number)} with id {servo_id}; if it is one of those that "
                f"are missing, give it its id {SETUP}",
            )


def examine_calibration(
    model: ArmModel, tables: Mapping[int, Table]
) -> Generator[Finding, None, bool]:
    """Yield findings on calibration; all servos answer.

    Returns:
        Whether it is usable.
    """
    ids = [joint.spec.id for joint in model.joints]
    stored = [find_stored(tables[i]) for i in ids]
    try:
        motors = choose_motors(
            model.calibration, ids, stored, is_leader=not model.is_driven
        )
        doubts = list(_read_doubts(model))
    except (OSError, ValueError) as err:
        yield False, f"{model.where}: {model.setting}: {err}"
        return False
    if all(motor.is_factory for motor in motors):
        yield (
            False,
            f"{model.where}: expected calibrated servos, got them as they left the "
            f"factory; {model.remedy}, or name LeRobot's file by {model.setting}=…",
        )
        return False
    arm = [
        Calibrated(joint, motor, one, tables[joint.spec.id]["Present_Position"])
        for joint, motor, one in zip(model.joints, motors, stored, strict=True)
    ]
    unusable = list(find_unusable(arm))
    doubts += [] if unusable else [*find_drifts(arm), *find_contradictions(arm)]
    for text in (*unusable, *doubts):
        yield False, f"{model.where}: {text}; {model.remedy}"
    yield from _suggest_file(model, arm)
    return not unusable


def _read_doubts(model: ArmModel) -> Iterator[str]:
    if model.calibration:
        path = find_file(model.calibration, is_leader=not model.is_driven)
        yield from find_file_doubts(read_calibration(path), model.joints)


def _suggest_file(model: ArmModel, arm: Sequence[Calibrated]) -> Iterator[Finding]:
    if not model.calibration or all(abs(one.drift) <= _SAME for one in arm):
        return
    for path in list_files(is_leader=not model.is_driven):
        try:
            by_id = {m.id: m for m in read_calibration(path).values()}
        except (OSError, ValueError):
            continue
        if all(_is_of(one, by_id) for one in arm):
            yield (
                True,
                f"{model.where}: its servos have the homing offsets of {path}; if it "
                f"is theirs write {model.setting}={path.stem}",
            )


def _is_of(one: Calibrated, by_id: Mapping[int, MotorCalibration]) -> bool:
    motor = by_id.get(one.joint.spec.id)
    return motor is not None and abs(find_drift(motor, one.stored)) <= _SAME


def describe_unseen(model: ArmModel) -> str:
    """Describe faults invisible in registers."""
    return (
        f"{model.where}: a horn that was fitted anew, or ids that were exchanged "
        "between joints of equal travel, do not show while each joint stands in its "
        f"range: after work on the arm {model.remedy}, whose postures and sweep find "
        "them"
    )
