"""Trial of Bus Watchdogs by a little current, then silence.

With firmware 51 that of the 330 size fails (forum.robotis.com/t/4814).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from dynamixel_sdk import GroupSyncWrite

from paprle.hardware.dynamixel.errors import BusTimeout, ServoError
from paprle.hardware.dynamixel.line.wire import Wire
from paprle.hardware.dynamixel.measured_servo import TRIPPED
from paprle.hardware.dynamixel.servo import Servo

KNOWN_BAD = 51
"""Firmware of the 330 size that does not. spec: forum.robotis.com/t/4814"""

_PERIODS = 2  # chosen: 40 ms; the reads before the silence come more often
_SILENCE = 0.065  # [s] chosen: those 40 ms, a unit of 20 ms, and some more
_CURRENTS = (0.01, 0.02, 0.03)  # [A] chosen: until it shows; a hand hardly notices
_SETTLE = 0.005  # [s] chosen: several periods of a current loop
_SEEN = 3  # chosen: counts of 885; what a motor gets that gets something
_TRIES = 4  # chosen: a host that pauses in the middle leaves servos untried
_STANDS = 2  # chosen: counts of 0.229 rpm
_MEASURED = struct.Struct("<hhi")  # spec: e-manual, registers 124, 126 and 128
_LOOKS = 3  # chosen: of 1 % lost packets one look in a million fails


class _State(NamedTuple):
    pwm: int
    current: int
    speed: int
    watchdog: int


def try_watchdogs(
    wire: Wire, servos: Sequence[Servo], beat: Callable[[], None]
) -> None:
    """Find torque servos stopped by watchdogs; all end limp.

    The line must be silent; ``beat`` is called every 0.1 s.

    Raises:
        BusError: Lost port.
    """
    for _ in range(_TRIES):
        untried = [s for s in servos if s.is_alive and s.cap > 0.0 and not s.is_tried]
        if not untried:
            return
        try:
            _try(wire, untried, beat)
        except (BusTimeout, ServoError):
            continue
        finally:
            _make_limp(wire, untried)
    for servo in servos:
        servo.stops_alone = servo.stops_alone and (servo.is_tried or servo.cap == 0.0)


def _try(wire: Wire, servos: Sequence[Servo], beat: Callable[[], None]) -> None:
    rest: dict[int, int] = {}
    for servo in servos:
        beat()
        wire.write_checked(servo.spec.id, servo.register("Bus Watchdog"), 0)
        wire.write_checked(servo.spec.id, servo.goal, 0)
        servo.is_enabled = True  # from here on it has to be made limp
        wire.write_checked(servo.spec.id, servo.register("Torque Enable"), 1)
        rest[servo.spec.id] = _read_state(wire, servo, _LOOKS).current
    _write_all(wire, "Bus Watchdog", dict.fromkeys(servos, _PERIODS))
    driven: dict[int, int] = {}
    for current in _CURRENTS:
        waiting = [servo for servo in servos if servo.spec.id not in driven]
        counts = {s: round(current / s.model.current_unit) for s in waiting}
        _write_all(wire, "Goal Current", counts)
        wire.wait(_SETTLE)
        beat()
        found = {servo.spec.id: _find_drive(wire, servo) for servo in waiting}
        driven |= {i: pwm for i, pwm in found.items() if pwm >= _SEEN}
    beat()
    wire.wait(_SILENCE)
    for servo in servos:
        beat()
        seen = _read_state(wire, servo, _LOOKS)
        more = abs(seen.current - rest[servo.spec.id]) * servo.model.current_unit
        servo.is_tried = servo.spec.id in driven and seen.watchdog == TRIPPED
        # a motor that coasts has a PWM against its own voltage, and no current
        least = max(_SEEN, driven.get(servo.spec.id, 0) // 2)
        has_pwm = abs(seen.pwm) >= least and abs(seen.speed) <= _STANDS
        is_off = more < 0.5 * _CURRENTS[0] and not has_pwm
        servo.stops_alone = servo.is_tried and is_off and _is_twin_off(wire, servo)


def _find_drive(wire: Wire, servo: Servo) -> int:
    try:
        return abs(_read_state(wire, servo, tries=1).pwm)
    except BusTimeout:
        return 0


def _is_twin_off(wire: Wire, servo: Servo) -> bool:
    if servo.spec.twin is None:
        return True
    at = servo.register("Present Current")
    block = wire.read_block(servo.spec.twin, at, _LOOKS)
    current = abs(int.from_bytes(block, "little", signed=True))
    return current * servo.model.current_unit < 0.5 * _CURRENTS[0]


def _read_state(wire: Wire, servo: Servo, tries: int) -> _State:
    span = servo.model.span("Bus Watchdog", "Present Velocity")
    block = wire.read_block(servo.spec.id, span, tries)
    pwm, current, speed = _MEASURED.unpack(block[-_MEASURED.size :])
    return _State(pwm, current, speed, block[0])


def _write_all(wire: Wire, name: str, values: Mapping[Servo, int]) -> None:
    groups: dict[tuple[int, int], GroupSyncWrite] = {}
    for servo, value in values.items():
        at = servo.register(name)
        key = at.address, at.size
        if key not in groups:
            groups[key] = GroupSyncWrite(wire.port, wire.packets, *key)
        groups[key].addParam(servo.spec.id, value.to_bytes(at.size, "little"))
    for group in groups.values():
        wire.run(group, "txPacket")


def _make_limp(wire: Wire, servos: Sequence[Servo]) -> None:
    for servo in servos:
        try:
            servo.make_limp(wire)
            wire.write(servo.spec.id, servo.goal, 0)
        except (BusTimeout, ServoError):
            servo.give_up(wire)
