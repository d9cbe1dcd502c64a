"""Faults of a position servo, with remedies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from paprle.hardware.dynamixel.errors import BusTimeout
from paprle.hardware.dynamixel.inspection import (
    NO_SHADOW,
    WIZARD,
    Problem,
    ServoSpec,
    find_direction,
    judge_drive_mode,
    judge_errors,
    judge_shutdown,
    judge_supply,
    read_table,
)
from paprle.hardware.dynamixel.line.wire import Wire
from paprle.hardware.dynamixel.models import Model, find_model, is_small

POSITION, CURRENT_BASED = 3, 5
"""Values of Operating Mode for positions. spec: e-manual, register 11."""

ANSWERS_ALL = 2
"""Status Return Level that answers all. spec: e-manual, register 68."""

_APART = 23  # [counts] chosen: 2°; a pair of servos strains its horns beyond that
_SIGN = 1 << 31


@dataclass(frozen=True, slots=True)
class PositionSpec(ServoSpec):
    """A servo that follows positions.

    Attributes:
        torque_limit: Share of its torque, 0 … 1; None: all, stiffly.
    """

    torque_limit: float | None = None

    @property
    def mode(self) -> int:
        """Operating mode; only current control yields."""
        yields = self.torque_limit is not None and find_model(self.model).has_torque
        return CURRENT_BASED if yields else POSITION

    @property
    def has_watchdog(self) -> bool:
        """Whether its watchdog works; the 330 size has a fault."""
        return not is_small(self.model)


def as_signed(value: int) -> int:
    """Return four bytes as a signed number."""
    return value - (1 << 32) if value >= _SIGN else value


def find_position_problems(
    spec: PositionSpec, values: Mapping[str, int], where: str
) -> list[Problem]:
    """Return the problems in registers; ``where`` names the servo."""
    return [
        *judge_errors(values, where),
        *judge_drive_mode(values, where),
        *_judge_mode(spec, values, where),
        *_judge_limits(find_model(spec.model), values, where),
        *judge_shutdown(values, where),
        *judge_supply(values, where),
    ]


def _judge_mode(
    spec: PositionSpec, values: Mapping[str, int], where: str
) -> Iterator[Problem]:
    mode, is_on = values["Operating Mode"], values["Torque Enable"]
    if mode != spec.mode and is_on:
        yield Problem(
            f"{where}: expected operating mode {spec.mode}, got {mode} with torque on: "
            "another program drives it, or left it so; end that one, support the arm, "
            "and power-cycle the servos"
        )
    homing = as_signed(values["Homing Offset"])
    if homing and spec.mode == CURRENT_BASED:
        yield Problem(
            f"{where}: expected homing offset 0, got {homing}: in mode 5 it would turn "
            "on and on once its watchdog stops it (ROBOTIS-GIT/DynamixelSDK#584); set "
            f"Homing Offset (20) to 0 {WIZARD}"
        )


def _judge_limits(
    model: Model, values: Mapping[str, int], where: str
) -> Iterator[Problem]:
    low, high = values["Min Position Limit"], values["Max Position Limit"]
    if low >= high:
        yield Problem(
            f"{where}: expected position limits with a range between them, got {low} "
            f"to {high}; set Min and Max Position Limit (52, 48) {WIZARD}"
        )
    if model.has_torque and not values["Current Limit"]:
        yield Problem(
            f"{where}: expected a current limit above 0, got 0: it would have no "
            f"torque; set Current Limit (38) {WIZARD}"
        )


def find_pair_problems(
    wire: Wire, spec: PositionSpec, first: Mapping[str, int]
) -> list[Problem]:
    """Return a second servo's problems, by both servos' registers.

    Raises:
        BusTimeout: It answers pings alone.
        BusError: Lost port.
    """
    if spec.twin is None:
        return []
    twin = PositionSpec(spec.twin, spec.model, torque_limit=spec.torque_limit)
    where = f"servo {twin.id} on '{wire.path}'"
    values = dict(read_table(wire, twin))
    second, values["Secondary(Shadow) ID"] = values["Secondary(Shadow) ID"], NO_SHADOW
    problems = find_position_problems(twin, values, where)
    if second != spec.id:
        problems.append(
            Problem(
                f"{where}: expected secondary id {spec.id}, that of the servo at its "
                f"joint, got {second}; set Secondary ID (12) {WIZARD}"
            )
        )
    return [*problems, *_compare_pair(spec, first, values, where)]


def _compare_pair(
    spec: PositionSpec, first: Mapping[str, int], second: Mapping[str, int], where: str
) -> Iterator[Problem]:
    ways = [find_direction(one["Drive Mode"]) for one in (first, second)]
    if ways[0] == ways[1]:
        yield Problem(
            f"{where}: expected a drive mode opposite to that of servo {spec.id}, "
            "which it faces, got the same: they would turn against each other; change "
            f"bit 0 of Drive Mode (10) {WIZARD}"
        )
        return
    places = [as_signed(one["Present Position"]) for one in (first, second)]
    away = places[0] - places[1]
    if abs(away) > _APART:
        homing = as_signed(second["Homing Offset"])
        yield Problem(
            f"{where}: expected it at {places[0]} [counts], as servo {spec.id} at the "
            f"same joint, got {places[1]}: they would pull against each other; set its "
            f"Homing Offset (20) to {homing + away} {WIZARD}, or fit its horn again"
        )
    if first["Torque Enable"] != second["Torque Enable"]:
        yield Problem(
            f"{where}: expected torque as at servo {spec.id}, got another one; support "
            "the arm, and power-cycle the servos"
        )


def read_with_answers(wire: Wire, spec: ServoSpec) -> Mapping[str, int]:
    """Return registers by name; enable all answers if needed.

    Raises:
        BusTimeout: No valid answer.
        BusError: Lost port.
    """
    try:
        return read_table(wire, spec)
    except BusTimeout:
        register = find_model(spec.model).registers["Status Return Level"]
        wire.write_blindly(spec.id, register, ANSWERS_ALL)
        return read_table(wire, spec)
