"""Faults of a servo, with remedies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from paprle.hardware.dynamixel.line.wire import Wire
from paprle.hardware.dynamixel.models import ERROR_BITS, Model, find_model, find_name
from paprle.hardware.dynamixel.torque_map import Kind, TorqueMap

CURRENT_MODE = 0
"""Value of Operating Mode for torque. spec: e-manual, register 11."""

TORQUE_SHARE = 0.3
"""Share of the stall torque that is ever rendered. spec: safety.md F1."""

_REVERSED, _TORQUE_BY_GOAL = 0x01, 0x08  # spec: e-manual, register 10, Drive Mode
SETUP = "with paprle setup-servos"
_FULL_PWM = 885  # spec: e-manual, register 36, 100 %
_HOT = 10  # [°C] chosen: so near to the limit a servo is about to shut down
_PROTECTS = 0x04 | 0x20  # spec: e-manual, register 63, on overheating and overload
_TICK = 360.0 / 4096  # [°] spec: e-manual, register 20, Homing Offset
NO_SHADOW = 253  # spec: e-manual, register 12: from here on there is none
WIZARD = "with DYNAMIXEL Wizard"
_CURES = {
    0x01: "check the power supply, then power-cycle the servo",
    0x04: "let it cool for 20 minutes, then power-cycle it",
    0x08: "power-cycle it; replace it if the error returns",
    0x10: "check the power supply, then power-cycle the servo",
    0x20: "take the load off the joint, then power-cycle the servo",
}


@dataclass(frozen=True, slots=True)
class ServoSpec:
    """A servo expected on the bus.

    Attributes:
        id: 0 … 252.
        twin: The joint's second servo, which also obeys this id.
        torque_gain: Over its model's.
    """

    id: int
    model: str
    twin: int | None = None
    torque_map: Kind | None = None
    torque_gain: float = 1.0

    @property
    def torques(self) -> TorqueMap:
        """Torque by current."""
        torques = find_model(self.model).torques
        kind = self.torque_map or torques.kind
        return torques._replace(kind=kind, gain=self.torque_gain)


@dataclass(frozen=True, slots=True)
class Problem:
    """``<where>: expected <X>, got <Y>; <what to do>``."""

    text: str
    is_fatal: bool = True


def find_direction(drive_mode: int) -> int:
    """Return -1 for a servo that counts clockwise (as by LeRobot), else 1."""
    return -1 if drive_mode & _REVERSED else 1


def read_table(wire: Wire, spec: ServoSpec) -> Mapping[str, int]:
    """Return unsigned registers up to the temperature, by name.

    Raises:
        BusTimeout: No valid answer.
        BusError: Lost port.
    """
    model = find_model(spec.model)
    values: dict[str, int] = {}
    for first, last in (
        ("Model Number", "Shutdown"),
        ("Torque Enable", "Present Temperature"),
    ):
        span = model.span(first, last)
        block = wire.read_block(spec.id, span)
        for name, register in model.registers.items():
            at = register.address - span.address
            if at >= 0 and at + register.size <= span.size:
                piece = block[at : at + register.size]
                values[name] = int.from_bytes(piece, "little")
    return values


def find_absence(wire: Wire, spec: ServoSpec) -> Problem | None:
    """Return the problem of a missing, wrong or duplicated servo, or None.

    Raises:
        BusError: Lost port.
    """
    where = f"servo {spec.id} on '{wire.path}'"
    number = wire.ping(spec.id)
    if is_duplicated(wire, spec):
        return Problem(
            f"{where}: expected one servo with this id, got answers of two at once; "
            f"connect one of them alone and give it another id {SETUP}"
        )
    if number is None:
        return Problem(
            f"{where}: expected an answer, got none at {wire.baud} [bit/s]; check its "
            "cable, power, id and baud rate (paprle doctor looks for it)"
        )
    if number != find_model(spec.model).number:
        return Problem(
            f"{where}: expected a {spec.model}, got a {find_name(number)}; "
            "correct the model in the config, or the id of the servo"
        )
    return None


def is_duplicated(wire: Wire, spec: ServoSpec) -> bool:
    """Return whether most probes show two servos at this id.

    Raises:
        BusError: Lost port.
    """
    block = find_model(spec.model).span("Realtime Tick", "Present Temperature")
    return wire.is_duplicated(spec.id, block)


def find_problems(
    spec: ServoSpec, values: Mapping[str, int], where: str
) -> list[Problem]:
    """Return the problems in registers; ``where`` names the servo."""
    model = find_model(spec.model)
    return [
        *judge_errors(values, where),
        *_judge_settings(model, spec.torques, values, where),
        *judge_supply(values, where),
    ]


def say_errors(bits: int) -> str:
    """Return Hardware Error Status as text."""
    known = [text for bit, text in ERROR_BITS.items() if bits & bit]
    return ", ".join(known) or f"error bits {bits:#04x}"


def judge_errors(values: Mapping[str, int], where: str) -> Iterator[Problem]:
    """Yield a servo's hardware errors."""
    bits = values["Hardware Error Status"]
    if bits:
        cures = [cure for bit, cure in _CURES.items() if bits & bit]
        cure = "; ".join(dict.fromkeys(cures)) or "power-cycle it"
        yield Problem(f"{where}: expected no error, got '{say_errors(bits)}'; {cure}")


def judge_drive_mode(values: Mapping[str, int], where: str) -> Iterator[Problem]:
    """Yield a drive mode whose goals switch torque on."""
    drive = values["Drive Mode"]
    if drive & _TORQUE_BY_GOAL:
        yield Problem(
            f"{where}: expected drive mode normal, got torque on by goal ({drive}); "
            f"clear this bit of Drive Mode (10) {WIZARD}"
        )


def judge_shutdown(values: Mapping[str, int], where: str) -> Iterator[Problem]:
    """Yield a missing protection."""
    shutdown = values["Shutdown"]
    if shutdown & _PROTECTS != _PROTECTS:
        yield Problem(
            f"{where}: expected it to shut down when overheated or overloaded, got "
            f"{shutdown}; set Shutdown (63) to 52 {WIZARD}",
            is_fatal=False,
        )


def _judge_settings(
    model: Model, torques: TorqueMap, values: Mapping[str, int], where: str
) -> Iterator[Problem]:
    yield from judge_drive_mode(values, where)
    yield from _judge_remains(values, where)
    delay = values["Return Delay Time"]
    if delay:
        yield Problem(
            f"{where}: expected return delay 0, got {2 * delay} [µs]; opening the "
            "leader sets it (paprle run)",
            is_fatal=False,
        )
    if not model.has_torque:
        return
    mode = values["Operating Mode"]
    if mode != CURRENT_MODE:
        yield Problem(
            f"{where}: expected operating mode 0 (current control), got {mode}; "
            "opening the leader sets it (paprle run)",
            is_fatal=False,
        )
    yield from _judge_limits(model, torques, values, where)


def _judge_remains(values: Mapping[str, int], where: str) -> Iterator[Problem]:
    if values["Torque Enable"]:
        yield Problem(
            f"{where}: expected torque off, got on: another program holds it, or left "
            "it so; end that one; opening the leader switches it off (paprle run)",
            is_fatal=False,
        )
    homing = values["Homing Offset"]
    if homing:
        away = _TICK * (homing - (1 << 32) if homing >= 1 << 31 else homing)
        yield Problem(
            f"{where}: expected homing offset 0, got {away:.0f} [°]; set Homing Offset "
            f"(20) to 0 {WIZARD} and run paprle calibrate: offsets belong into the "
            "config",
            is_fatal=False,
        )
    yield from judge_shutdown(values, where)


def _judge_limits(
    model: Model, torques: TorqueMap, values: Mapping[str, int], where: str
) -> Iterator[Problem]:
    needed = torques.find_current(TORQUE_SHARE * model.stall_torque)
    limit = values["Current Limit"] * model.current_unit
    if limit < needed:
        yield Problem(
            f"{where}: expected a current limit of at least {1e3 * needed:.0f} [mA], "
            f"got {1e3 * limit:.0f} [mA]: torque is cut; raise Current Limit (38) "
            f"{WIZARD}",
            is_fatal=False,
        )
    pwm = values["PWM Limit"]
    if pwm < _FULL_PWM:
        yield Problem(
            f"{where}: expected PWM limit {_FULL_PWM} (100 %), got {pwm}: torque is "
            f"cut; raise PWM Limit (36) {WIZARD}",
            is_fatal=False,
        )


def judge_supply(values: Mapping[str, int], where: str) -> Iterator[Problem]:
    """Yield heat, wrong voltage or an unwanted secondary id."""
    heat, limit = values["Present Temperature"], values["Temperature Limit"]
    if heat > limit - _HOT:
        yield Problem(
            f"{where}: expected at most {limit - _HOT} [°C], got {heat} [°C] (limit "
            f"{limit}); let it cool, and look for a joint that is held or rubs",
            is_fatal=False,
        )
    volts = 0.1 * values["Present Input Voltage"]
    low, high = 0.1 * values["Min Voltage Limit"], 0.1 * values["Max Voltage Limit"]
    if not low <= volts <= high:
        yield Problem(
            f"{where}: expected {low:.1f} to {high:.1f} [V], got {volts:.1f} [V]; "
            "check the power supply and its plugs",
            is_fatal=False,
        )
    shadow = values["Secondary(Shadow) ID"]
    if shadow < NO_SHADOW:
        yield Problem(
            f"{where}: expected no secondary id, got {shadow}: it obeys that one too; "
            f"set Secondary ID (12) to 255 {WIZARD}",
            is_fatal=False,
        )
