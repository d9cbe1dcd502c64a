"""Examination of a rig, without writing."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

import numpy as np

from paprle.hardware.dynamixel.bus import Bus
from paprle.hardware.dynamixel.bus_thread import BusSettings
from paprle.hardware.dynamixel.errors import BusError, BusTimeout
from paprle.hardware.dynamixel.inspection import (
    ServoSpec,
    find_absence,
    find_direction,
    find_problems,
    read_table,
)
from paprle.hardware.dynamixel.line.port import find_latency_problem, read_latency_timer
from paprle.hardware.dynamixel.line.search import find_all_elsewhere, find_rates
from paprle.hardware.dynamixel.line.wire import Wire
from paprle.hardware.dynamixel.models import find_name, is_small
from paprle.hardware.dynamixel.twins import find_shadows, find_twin_problems, list_near
from paprle.hardware.dynamixel.watchdog import KNOWN_BAD
from paprle.leaders.puppeteer.arm import Arm
from paprle.leaders.puppeteer.pose_check import Finding, examine_pose
from paprle.leaders.puppeteer.servo_models import is_feetech

_N_READINGS = 200  # chosen: half a second at 400 Hz
_LEAST_RATE = 200.0  # [Hz] spec: issue, teleoperation from 16 servos
_MOST_SPOILED = 0.02  # chosen: readings asked for twice; a good cable spoils none
_STILL = 0.02  # [rad] chosen: an arm that moves more in 0.5 s is in a hand
_SAG = 1.0  # [V] chosen: what a good chain of cables loses is a tenth of it


def diagnose(arms: tuple[Arm, ...], buses: dict[str, BusSettings]) -> Iterator[Finding]:
    """Yield the findings on a rig."""
    for port, settings in buses.items():
        mine = tuple(arm for arm in arms if arm.settings.port == port)
        if is_feetech(settings.servos[0].model):
            from paprle.leaders.puppeteer.feetech.doctor import (  # noqa: PLC0415
                examine_feetech,
            )

            yield from examine_feetech(settings, mine)
        else:
            yield from _examine_port(settings, mine)


def _examine_port(settings: BusSettings, arms: tuple[Arm, ...]) -> Iterator[Finding]:
    wire = Wire(settings.path, settings.baud, settings.timeout)
    try:
        wire.open()
    except BusError as err:
        yield False, str(err)
        return
    yield True, f"port '{settings.path}': opens at {settings.baud} [bit/s]"
    slow = find_latency_problem(settings.path, read_latency_timer(settings.path))
    if slow is not None:
        yield False, slow
    try:
        yield from _examine_bus(wire, settings, arms)
    except BusError as err:
        yield False, str(err)
    finally:
        wire.close()


def _examine_bus(
    wire: Wire, settings: BusSettings, arms: tuple[Arm, ...]
) -> Iterator[Finding]:
    ids = [servo.id for servo in settings.servos]
    for line in find_all_elsewhere(wire, ids):
        yield False, line
        return
    missing: list[ServoSpec] = []
    tables: dict[int, Mapping[str, int]] = {}
    for servo in settings.servos:
        problem = find_absence(wire, servo)
        if problem is None:
            try:
                tables[servo.id] = yield from _examine_servo(wire, servo)
            except BusTimeout:  # the others can be asked all the same
                yield (
                    False,
                    f"servo {servo.id} on '{wire.path}': expected answers to questions,"
                    " got them to a ping alone; where its Status Return Level (68) is "
                    "0, opening the leader sets it (paprle run); else check its cable",
                )
            continue
        yield False, problem.text
        if wire.ping(servo.id) is None:
            missing.append(servo)
    for text in find_shadows(wire, settings.servos, list_near(settings.servos)):
        yield False, text
    yield from _compare_supply(wire, tables)
    yield from _judge_watchdogs(wire, settings.servos, tables)
    yield from _judge_torques(wire, settings.servos)
    if missing:
        yield from _search(wire, settings, missing)
    else:
        yield from _examine_readings(wire, settings, arms)


def _examine_servo(
    wire: Wire, spec: ServoSpec
) -> Generator[Finding, None, Mapping[str, int]]:
    where = f"servo {spec.id} on '{wire.path}'"
    values = read_table(wire, spec)
    problems = find_problems(spec, values, where)
    problems += find_twin_problems(wire, spec)
    for problem in problems:
        yield False, problem.text
    if not problems:
        volts = 0.1 * values["Present Input Voltage"]
        heat = values["Present Temperature"]
        is_reversed = find_direction(values["Drive Mode"]) < 0
        way = ", reversed by its Drive Mode, which is made up for" * is_reversed
        yield True, f"{where}: {spec.model}, {volts:.1f} [V], {heat} [°C]{way}"
    return values


def _compare_supply(
    wire: Wire, tables: Mapping[int, Mapping[str, int]]
) -> Iterator[Finding]:
    volts = {i: 0.1 * table["Present Input Voltage"] for i, table in tables.items()}
    for servo_id, own in volts.items():
        low, high = (
            0.1 * tables[servo_id][f"{end} Voltage Limit"] for end in ("Min", "Max")
        )
        most = max(v for v in volts.values() if v <= max(high, own))
        if low <= own < most - _SAG:
            yield (
                False,
                f"servo {servo_id} on '{wire.path}': expected {most:.1f} [V] as the "
                f"others have, got {own:.1f} [V]; check its plugs and cable, or feed "
                "the chain at both ends",
            )


def _judge_watchdogs(
    wire: Wire, servos: Sequence[ServoSpec], tables: Mapping[int, Mapping[str, int]]
) -> Iterator[Finding]:
    versions = {
        servo.id: tables[servo.id]["Firmware Version"]
        for servo in servos
        if servo.id in tables and is_small(servo.model)
    }
    bad = [i for i, version in versions.items() if version == KNOWN_BAD]
    if bad:
        yield (
            True,
            f"servos {_list(bad)} on '{wire.path}': firmware {KNOWN_BAD}, whose Bus "
            "Watchdog does not stop the motor: a guardian process releases them if the "
            "session dies, but nothing does if the plug is pulled; DYNAMIXEL Wizard "
            "gives them another firmware, which the start of a session tries",
        )
    others = [i for i in versions if i not in bad]
    if others:
        listed = _list(sorted({versions[i] for i in others}))
        yield (
            True,
            f"servos {_list(others)} on '{wire.path}': firmware {listed}; whether "
            "their Bus Watchdog stops the motor is tried when the leader is opened",
        )


def _judge_torques(wire: Wire, servos: Sequence[ServoSpec]) -> Iterator[Finding]:
    unweighed = [s.id for s in servos if is_small(s.model) and s.torque_map is None]
    if unweighed:
        yield (
            True,
            f"servos {_list(unweighed)} on '{wire.path}': their torque is taken to go "
            "with the root of their supply's current; paprle calibrate weighs joints "
            "that carry their arm, and finds it",
        )


def _list(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _search(
    wire: Wire, settings: BusSettings, missing: list[ServoSpec]
) -> Iterator[Finding]:
    expected = {servo.id for servo in settings.servos}
    for servo_id, number in wire.scan().items():
        if servo_id not in expected:
            yield (
                False,
                f"port '{wire.path}': expected ids {sorted(expected)}, got a "
                f"{find_name(number)} with id {servo_id}; if it is one of those that "
                "are missing, give it its id: paprle setup-servos",
            )
    rates = find_rates(wire, [servo.id for servo in missing])
    for servo_id, baud in rates.items():
        yield (
            False,
            f"servo {servo_id} on '{wire.path}': expected {settings.baud} [bit/s], got "
            f"{baud} [bit/s]; set its Baud Rate (8): paprle setup-servos",
        )


def _examine_readings(
    wire: Wire, settings: BusSettings, arms: tuple[Arm, ...]
) -> Iterator[Finding]:
    bus = Bus(wire, settings.servos, time.monotonic_ns)
    bus.assume_present()
    n_damaged, n_failed = wire.packets.n_damaged, sum(wire.n_failed.values())
    begin = time.monotonic()
    found = [bus.read() for _ in range(_N_READINGS)]
    rate = _N_READINGS / (time.monotonic() - begin)
    where = f"port '{settings.path}'"
    goal = min(settings.rate, _LEAST_RATE)
    if rate < goal:
        yield (
            False,
            f"{where}: expected {goal:g} readings a second, got {rate:.0f}; look at "
            "latency timer, return delay and baud rate above, or split the bus",
        )
    else:
        yield True, f"{where}: {rate:.0f} readings a second are possible"
    yield from _judge_packets(settings, wire, n_damaged, n_failed)
    readings = [reading for reading in found if reading is not None]
    if readings:
        sway = np.ptp([reading.angle for reading in readings], axis=0)
        for arm in arms:
            is_still = bool(sway[arm.place].max() <= _STILL)
            yield from examine_pose(arm, readings[-1], is_still)


def _judge_packets(
    settings: BusSettings, wire: Wire, n_damaged: int, n_failed: int
) -> Iterator[Finding]:
    where = f"port '{settings.path}'"
    damaged = (wire.packets.n_damaged - n_damaged) / _N_READINGS
    late = (sum(wire.n_failed.values()) - n_failed) / _N_READINGS - damaged
    if damaged > _MOST_SPOILED:
        yield (
            False,
            f"{where}: expected no damaged packets, got {100 * damaged:.1f} % of "
            "readings; check plugs, ground and cable length, or lower the baud rate",
        )
    elif late > _MOST_SPOILED:  # questions that were damaged have no answer either
        yield (
            False,
            f"{where}: expected answers within {1e3 * settings.timeout:g} [ms], got "
            f"none in {100 * late:.1f} % of readings, and no damage: look at the "
            "latency timer and the baud rate, or raise leader.timeout",
        )
